# docker build -t semicrf .
# docker run --rm -v "$PWD:/data" semicrf decode -p params.json -o segments.bed signal.bw

FROM debian:bookworm-slim AS build
ENV DEBIAN_FRONTEND=noninteractive
WORKDIR /source
COPY apt-packages.txt ./
COPY cmake/install_packages.sh cmake/
RUN cmake/install_packages.sh
COPY . .
RUN cmake --preset release -DSEMICRF_TESTS=OFF \
 && cmake --build --preset release --target semicrf \
 && strip build/release/bin/semicrf \
 && build/release/bin/semicrf --version

FROM debian:bookworm-slim
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends libdeflate0 libfmt9 libhts3 libhwy1 liblbfgs0 libspdlog1.10 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 semicrf
COPY --from=build /source/build/release/bin/semicrf /usr/local/bin/semicrf
COPY LICENSE /usr/share/doc/semicrf/LICENSE
RUN ["semicrf", "--version"]
USER semicrf
WORKDIR /data
ENTRYPOINT ["semicrf"]
CMD ["--help"]
