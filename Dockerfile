# nginx with Lua, the module and rerun, on port 8080 and not as root:
#     docker build -t content-by-rust . && docker run --rm -p 8080:8080 content-by-rust
# On OpenResty, whose source must be that of its binary:
#     docker build --build-arg BASE=openresty/openresty:1.27.1.2-bookworm \
#         --build-arg NGINX=/usr/local/openresty/nginx/sbin/nginx \
#         --build-arg NGINX_SOURCE=https://openresty.org/download/openresty-1.27.1.2.tar.gz .
# Every test of the project on Debian 12:
#     docker build --target test -t content-by-rust-test . && docker run --rm content-by-rust-test
ARG BASE=debian:12

FROM ${BASE} AS source
USER root
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates curl gcc libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
# Unless it is mounted there.
RUN test -x ~/.cargo/bin/cargo \
    || curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy
WORKDIR /content_by_rust
COPY . .

FROM source AS test
# Installs the rest: nginx, its source, libclang.
CMD ["make", "test"]

FROM source AS build
ARG NGINX
ARG NGINX_SOURCE
ARG SOURCE_DATE_EPOCH
RUN mkdir /nginx /artifacts \
    && if [ -z "$NGINX_SOURCE" ]; then \
        make deb && cp target/deb/*.deb /artifacts; \
    else \
        curl -sSfL "$NGINX_SOURCE" | tar -xz --strip-components 1 -C /nginx \
        && make build NGINX="$NGINX" NGINX_SOURCE_DIR=/nginx \
        && cp target/module/ngx_http_rust_module.so /artifacts; \
    fi

FROM source AS rerun
RUN ~/.cargo/bin/cargo build --release --package rerun && cp target/release/rerun /

FROM ${BASE}
USER root
RUN --mount=type=bind,from=build,source=/artifacts,target=/artifacts \
    export DEBIAN_FRONTEND=noninteractive \
    && apt-get update && apt-get install -y --no-install-recommends curl \
    && if [ -f /artifacts/ngx_http_rust_module.so ]; then \
        install -D -m 644 -t /usr/lib/nginx/modules /artifacts/ngx_http_rust_module.so \
        && install -d /etc/nginx/modules-enabled \
        && echo "load_module /usr/lib/nginx/modules/ngx_http_rust_module.so;" > /etc/nginx/modules-enabled/50-mod-http-rust.conf; \
    else \
        apt-get install -y --no-install-recommends nginx libnginx-mod-http-lua libnginx-mod-http-echo /artifacts/*.deb; \
    fi \
    && rm -rf /var/lib/apt/lists/*
COPY image/nginx.conf /etc/nginx/nginx.conf
COPY image/default.conf /etc/nginx/conf.d/default.conf

# What rerun finds in a checkout elsewhere.
COPY --from=rerun /rerun /usr/local/bin/
COPY rerun/contenders /usr/share/rerun/contenders
ENV RERUN_CONTENDERS=/usr/share/rerun/contenders RERUN_MODULES=/usr/share/rerun/modules RERUN_BUILD_DIR=/tmp/rerun
RUN mkdir $RERUN_MODULES && cd $RERUN_MODULES \
    && ln -s /usr/lib/nginx/modules/ngx_http_rust_module.so . \
    && sed 's, modules/, /usr/lib/nginx/modules/,' /etc/nginx/modules-enabled/*.conf > modules.conf \
    && echo "TEST_NGINX_BINARY=$(command -v nginx)" > test.env

USER www-data
WORKDIR /tmp
EXPOSE 8080
STOPSIGNAL SIGQUIT
HEALTHCHECK CMD curl -sSf -o /dev/null http://127.0.0.1:8080/hello
CMD ["nginx", "-c", "/etc/nginx/nginx.conf", "-e", "stderr"]
