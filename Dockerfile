# Every test of the project on Debian 12: docker build -t content-by-rust . && docker run --rm content-by-rust
FROM debian:12

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates curl gcc libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
RUN curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy

WORKDIR /content_by_rust
COPY . .

# Installs the rest: nginx, its source, libclang.
CMD ["make", "test"]
