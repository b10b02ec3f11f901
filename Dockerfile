# docker build -t semicrf .
# docker run --rm -v "$PWD:/data" semicrf decode -p params.json -o segments.bed signal.bw
#
# With the CUDA engine, for the GPU architectures that cmake/cuda.cmake lists, or for those of CUDAARCHS:
# docker build --build-arg CUDA=ON -t semicrf:cuda .
# docker run --rm --gpus all -v "$PWD:/data" semicrf:cuda decode -x cuda -p params.json -o segments.bed signal.bw
#
# The Debian package is built in one stage and installed in another. tests/package/docker_steps.py runs the steps without docker.
ARG CUDA=OFF

FROM debian:bookworm-slim AS build-OFF
FROM debian:bookworm-slim AS run-OFF
# NVIDIA has images for Ubuntu; the CUDA runtime is linked statically, and the driver comes from the host.
FROM nvidia/cuda:12.6.3-devel-ubuntu24.04 AS build-ON
FROM ubuntu:24.04 AS run-ON
ENV NVIDIA_VISIBLE_DEVICES=all
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility

FROM build-${CUDA} AS build
ARG CUDA=OFF
ARG CUDAARCHS
ENV DEBIAN_FRONTEND=noninteractive
WORKDIR /source
COPY apt-packages.txt ./
COPY cmake/install_packages.sh cmake/
RUN cmake/install_packages.sh
COPY . .
RUN cmake --preset release -DSEMICRF_TESTS=OFF -DSEMICRF_WERROR=OFF -DSEMICRF_CUDA=${CUDA} \
 && cmake --build --preset release \
 && build/release/bin/semicrf --version
RUN cd build/release \
 && cpack \
 && mv semicrf_*.deb /semicrf.deb

FROM run-${CUDA}
ENV DEBIAN_FRONTEND=noninteractive
COPY --from=build /semicrf.deb /tmp/
RUN apt-get update \
 && apt-get install -y --no-install-recommends /tmp/semicrf.deb \
 && rm -rf /var/lib/apt/lists/* /tmp/semicrf.deb \
 && useradd --create-home --uid 10001 semicrf
RUN ["semicrf", "--version"]
USER semicrf
WORKDIR /data
ENTRYPOINT ["semicrf"]
CMD ["--help"]
