# To be sourced: a clean Debian of its own folder, made by debootstrap from the mirror that this machine's apt uses. Root only.
#
#     make_chroot FOLDER [SUITE]   unpacks it there; it is made once and kept in $CHROOT_CACHE (build/chroots)
#     in_chroot FOLDER COMMAND...  runs a command there, with a plain environment
#     remove_chroot FOLDER         takes it away, mounts first
set -euo pipefail
CHROOT_CACHE=${CHROOT_CACHE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/chroots}

need_chroot_tools() {
  [ "$(id -u)" -eq 0 ] || { echo "skipped: a chroot needs root"; exit 77; }
  for tool in debootstrap chroot; do
    command -v $tool >/dev/null || PATH=$PATH:/usr/sbin command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
  done
  PATH=$PATH:/usr/sbin:/sbin
}

apt_mirror() {
  apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | sort | uniq -c | sort -rn | awk 'NR==1 {print $2}'
}

make_chroot() {
  local folder=$1 suite=${2:-bookworm} archive
  archive=$CHROOT_CACHE/$suite.tar
  if [ ! -e "$archive" ]; then
    mkdir -p "$CHROOT_CACHE"
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$CHROOT_CACHE/$suite.new" "$(apt_mirror)" >"$CHROOT_CACHE/$suite.log" 2>&1 \
      || { tail -n 5 "$CHROOT_CACHE/$suite.log" >&2; rm -rf "$CHROOT_CACHE/$suite.new"; return 1; }
    rm -f "$CHROOT_CACHE/$suite.new"/var/cache/apt/archives/*.deb
    tar -C "$CHROOT_CACHE/$suite.new" -cf "$archive.new" . && mv "$archive.new" "$archive"
    rm -rf "$CHROOT_CACHE/$suite.new"
  fi
  mkdir -p "$folder"
  tar -C "$folder" -xf "$archive"
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  mount -t proc proc "$folder/proc"
}

in_chroot() {
  local folder=$1
  shift
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb chroot "$folder" "$@"
}

remove_chroot() {
  umount "$1/proc" 2>/dev/null || true
  if grep -q " $1/" /proc/mounts; then
    echo "something is still mounted below $1" >&2
    return 1
  fi
  rm -rf "$1"
}
