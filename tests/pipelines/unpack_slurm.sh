#!/usr/bin/env bash
# unpack_slurm.sh FOLDER: Debian's Slurm in FOLDER, nothing installed. For run_slurm.py:
#   tests/pipelines/unpack_slurm.sh FOLDER && SEMICRF_SLURM=FOLDER ctest --preset release -R "pipeline: slurm"
set -euo pipefail
mkdir -p "$1"
cd "$1"
apt-get download slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm38 libmunge2 libhwloc15 liblua5.1-0
for package in ./*.deb; do dpkg -x "$package" .; done
rm ./*.deb
