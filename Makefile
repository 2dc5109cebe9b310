# What each target does is in Rust: xtask/src/. `cargo xtask help` tells more.
.DEFAULT_GOAL := help
.PHONY: help build deb run compare results instructions matrix soak scale test

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

build: ## target/module/ngx_http_rust_module.so for the system's nginx, or for NGINX=/path/to/nginx [NGINX_SOURCE_DIR=/path], or NGINX=vendored; CRATE=/path builds a module of your own
	@xtask/start build

deb: ## target/deb/libnginx-mod-http-rust_VERSION_ARCH.deb, the module as a package for Debian's nginx; CRATE=/path packages a module of your own
	@xtask/start deb

run: ## nginx in the foreground on 127.0.0.1:8080 [NGINX=...]
	@xtask/start run

compare: ## the module beside Lua, echo, njs, return and php-fpm: every answer checked, then measured side by side [NGINX=...]
	@xtask/start compare

results: ## the three articles run again, and docs/results.md and docs/results.zh-CN.md of what came out; QUICK=1 takes minutes, not hours [NGINX=...]
	@xtask/start results $(if $(QUICK),--quick)

instructions: ## what a request costs: instructions, allocations, system calls, memory, beside Lua, echo and nginx's own
	@xtask/start instructions

soak: ## everything at once for a while: load, reloads, kills, clients that go; [MINUTES=10] [SEED=...] [NGINX=...]
	@xtask/start soak

matrix: ## the module built for, loaded into and tested in every nginx: the system's, the registry's, static and dynamic [MATRIX="/path/to/source ..."]; writes docs/matrix.md
	@xtask/start matrix

scale: ## what it costs one worker that up to 100,000 requests wait in it, beside Lua and echo, and docs/scale.md of it [NGINX=...]
	@xtask/start scale

test: ## every test of the project; SANITIZE=1 runs them over AddressSanitizer, valgrind and Miri instead [NGINX=...]
	@xtask/start test $(if $(SANITIZE),--sanitize)
