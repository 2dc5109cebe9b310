//! What `nginx -V` tells: who the binary is, and how it was configured.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell;

/// The answer of one binary to `nginx -V`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NginxV {
    /// `nginx/1.22.1` or `openresty/1.27.1.2`: what the source calls NGINX_VER.
    pub name: String,
    /// The arguments given to `configure`, without the shell's quotes.
    pub arguments: Vec<String>,
}

impl NginxV {
    pub fn of(binary: &Path) -> Result<Self> {
        let output = shell::quiet(shell::command(binary).arg("-V"))?;
        Self::parse(&output.stderr)
            .with_context(|| format!("reading the output of {} -V", binary.display()))
    }

    pub fn parse(text: &str) -> Result<Self> {
        let line = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let Some(name) = line("nginx version: ").and_then(|rest| rest.split_whitespace().next())
        else {
            bail!("no line \"nginx version: ...\" in it");
        };
        let arguments = line("configure arguments:").unwrap_or_default();
        let arguments =
            shlex::split(arguments).context("its configure arguments have an open quote")?;
        Ok(Self {
            name: name.to_owned(),
            arguments,
        })
    }

    /// The version of nginx itself: the first three parts, as OpenResty adds one of its own.
    pub fn core_version(&self) -> String {
        let version = self.name.rsplit('/').next().unwrap_or_default();
        version.split('.').take(3).collect::<Vec<_>>().join(".")
    }

    pub fn is_openresty(&self) -> bool {
        self.name.starts_with("openresty/")
    }

    pub fn has_http(&self) -> bool {
        !self
            .arguments
            .iter()
            .any(|argument| argument == "--without-http")
    }

    /// Where the binary looks for `modules/...`.
    pub fn modules_path(&self) -> PathBuf {
        match (self.value("--modules-path="), self.value("--prefix=")) {
            (Some(path), _) => path.into(),
            (None, prefix) => Path::new(prefix.unwrap_or("/usr/local/nginx")).join("modules"),
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.arguments
            .iter()
            .rev()
            .find_map(|argument| argument.strip_prefix(name))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const DEBIAN: &str = r"nginx version: nginx/1.22.1
built with OpenSSL 3.0.15 3 Sep 2024 (running with OpenSSL 3.0.17 1 Jul 2025)
TLS SNI support enabled
configure arguments: --with-cc-opt='-g -O2 -ffile-prefix-map=/build/reproducible-path/nginx-1.22.1=. -fstack-protector-strong -Wformat -Werror=format-security -fPIC -Wdate-time -D_FORTIFY_SOURCE=2' --with-ld-opt='-Wl,-z,relro -Wl,-z,now -fPIC' --prefix=/usr/share/nginx --conf-path=/etc/nginx/nginx.conf --error-log-path=stderr --modules-path=/usr/lib/nginx/modules --with-compat --with-debug --with-pcre-jit --with-http_ssl_module --with-http_v2_module --with-threads --with-http_geoip_module=dynamic --with-http_image_filter_module=dynamic --with-http_perl_module=dynamic --with-http_xslt_module=dynamic --with-mail=dynamic --with-stream=dynamic --with-stream_geoip_module=dynamic
";

    pub const UBUNTU: &str =
        "nginx version: nginx/1.24.0 (Ubuntu)\nconfigure arguments: --with-compat\n";

    pub const OPENRESTY: &str = r"nginx version: openresty/1.27.1.2
built by gcc 12.2.0 (Debian 12.2.0-14)
built with OpenSSL 3.4.1 11 Feb 2025
TLS SNI support enabled
configure arguments: --prefix=/usr/local/openresty/nginx --with-cc-opt='-O2 -DNGX_LUA_ABORT_AT_PANIC -I/usr/local/openresty/zlib/include -I/usr/local/openresty/pcre2/include' --add-module=../ngx_devel_kit-0.3.3 --add-module=../echo-nginx-module-0.63 --add-module=../ngx_lua-0.10.28 --with-ld-opt='-Wl,-rpath,/usr/local/openresty/luajit/lib -L/usr/local/openresty/zlib/lib' --with-pcre-jit --with-stream --with-http_v2_module --with-threads --with-compat --with-http_ssl_module
";

    #[test]
    fn debian() {
        let nginx = NginxV::parse(DEBIAN).unwrap();
        assert_eq!(nginx.name, "nginx/1.22.1");
        assert_eq!(nginx.core_version(), "1.22.1");
        assert!(!nginx.is_openresty());
        assert_eq!(nginx.modules_path(), Path::new("/usr/lib/nginx/modules"));
        assert_eq!(
            nginx.arguments[1],
            "--with-ld-opt=-Wl,-z,relro -Wl,-z,now -fPIC"
        );
    }

    #[test]
    fn ubuntu_adds_its_name() {
        assert_eq!(NginxV::parse(UBUNTU).unwrap().name, "nginx/1.24.0");
    }

    #[test]
    fn openresty_adds_a_part_to_the_version() {
        let nginx = NginxV::parse(OPENRESTY).unwrap();
        assert_eq!(nginx.name, "openresty/1.27.1.2");
        assert_eq!(nginx.core_version(), "1.27.1");
        assert!(nginx.is_openresty());
        assert_eq!(
            nginx.modules_path(),
            Path::new("/usr/local/openresty/nginx/modules")
        );
    }

    #[test]
    fn an_nginx_for_mail_alone() {
        assert!(NginxV::parse(DEBIAN).unwrap().has_http());
        let mail = "nginx version: nginx/1.29.0\nconfigure arguments: --without-http --with-mail\n";
        assert!(!NginxV::parse(mail).unwrap().has_http());
    }

    #[test]
    fn a_build_without_arguments() {
        let nginx =
            NginxV::parse("nginx version: nginx/1.29.0\nbuilt by gcc\nconfigure arguments:\n")
                .unwrap();
        assert!(nginx.arguments.is_empty());
        assert_eq!(nginx.modules_path(), Path::new("/usr/local/nginx/modules"));
    }

    #[test]
    fn what_is_not_nginx() {
        assert!(NginxV::parse("Server version: Apache/2.4.65\n").is_err());
        assert!(
            NginxV::parse("nginx version: nginx/1.29.0\nconfigure arguments: --with-cc-opt='-g\n")
                .is_err()
        );
    }
}
