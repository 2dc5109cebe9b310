# The rule with which nginx's Makefile has cargo make the archive that `config` names.

cbr_deps=`find "$cbr_crate/src" "$cbr_crate/Cargo.toml" "$ngx_addon_dir/src" "$ngx_addon_dir/build.rs" \
               "$ngx_addon_dir/Cargo.toml" -type f`

cat << END                                                    >> $NGX_MAKEFILE

$cbr_linked:	$cbr_made.a

# Without MAKEFLAGS: make does not let cargo have its jobs.
$cbr_made.a:	$NGX_MAKEFILE `echo $cbr_deps`
	cd $cbr_crate && MAKEFLAGS= NGINX_SOURCE_DIR=$PWD NGINX_BUILD_DIR=$cbr_objs \\
	CARGO_TARGET_DIR="\$\${CARGO_TARGET_DIR:-$cbr_objs/rust}" \\
	`command -v cargo` rustc --release --lib --crate-type staticlib $cbr_features \\
	--message-format json-render-diagnostics \\
	-- --print native-static-libs=$cbr_made.libs > $cbr_made.json
	cp "\`sed -n 's/.*"filenames":\["\([^"]*\.a\)".*/\1/p' $cbr_made.json | tail -n 1\`" \$@
END
