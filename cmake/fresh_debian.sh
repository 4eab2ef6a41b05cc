#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fresh_debian.sh FOLDER VERB…: makes a bare Debian 12 in FOLDER/root, moves FOLDER/clone into it and runs `./go VERB`
# there, for each verb. A verb that ends in .deb is a package: it is installed instead, and bakes a character. Needs root. Everything is unmounted and removed at the end, whatever happens; downloaded
# packages of the bare system stay in FOLDER/cache.
set -euo pipefail

readonly suite=bookworm
folder=$(realpath "$1")
verbs=("${@:2}")
root=$folder/root
home=$root/home/supple
shared=$(realpath -q "$(dirname "${BASH_SOURCE[0]}")/../../shared" || true)

say() { printf '%s\n' "fresh: $*" >&2; }

still_mounted() { grep -qF " $root/" /proc/self/mounts; }

# Never removes a tree that still has something of the host mounted in it.
remove_root() {
  local place
  for place in home/supple/shared dev proc; do
    if mountpoint -q "$root/$place"; then umount -l "$root/$place" || true; fi
  done
  if still_mounted; then
    say "something is still mounted under $root; unmount it, then remove the folder"
    return 1
  fi
  rm -rf --one-file-system "$root"
}

# The host's own package source, where it is the same Debian; debootstrap knows one otherwise.
host_is_same_debian() { grep -qsx ID=debian /etc/os-release && grep -qsx "VERSION_CODENAME=$suite" /etc/os-release; }

host_mirror() {
  host_is_same_debian || return 0
  # shellcheck disable=SC2016  # apt-get fills these in
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
    awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }'
}

export_proxy() {
  local proxy
  proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy)
  [[ -z $proxy ]] || export http_proxy=$proxy
}

bootstrap() {
  local attempt mirror options=(--variant=minbase --cache-dir="$folder/cache")
  mirror=$(host_mirror)
  [[ $mirror != https* ]] || options+=(--include=ca-certificates)
  mkdir -p "$folder/cache"
  for attempt in 1 2 3 4 5; do
    debootstrap "${options[@]}" "$suite" "$root" ${mirror:+"$mirror"} >"$folder/debootstrap.log" 2>&1 && return
    say "debootstrap failed, trying again in $((attempt * 10)) s"
    sleep $((attempt * 10))
  done
  tail -n 20 "$folder/debootstrap.log" >&2
  return 1
}

# Copies how this machine reaches its packages: sources, their keys, proxy and name service.
copy_package_sources() {
  local item
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  host_is_same_debian || return 0
  rm -f "$root/etc/apt/sources.list"
  for item in sources.list sources.list.d trusted.gpg trusted.gpg.d keyrings auth.conf auth.conf.d; do
    [[ ! -e /etc/apt/$item ]] || cp -rL "/etc/apt/$item" "$root/etc/apt/"
  done
  mkdir -p "$root/usr/share/keyrings"
  cp -rnL /usr/share/keyrings/. "$root/usr/share/keyrings/"
  apt-config dump Acquire | grep -v '""' >"$root/etc/apt/apt.conf.d/90host"
}

mount_host_parts() {
  mount -t proc proc "$root/proc"
  mount --rbind --make-rslave /dev "$root/dev"
  [[ -d $shared ]] || return 0
  mkdir -p "$home/shared"
  mount --bind "$shared" "$home/shared"
  mount -o remount,bind,ro "$home/shared"
}

in_root() {
  chroot "$root" env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    DEBIAN_FRONTEND=noninteractive ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} "$@"
}

run_verb() {
  say "./go $1 on a bare Debian 12"
  in_root bash -c 'cd /home/supple/supple && "$@"' bash ./go "$1"
}

# What somebody does who has never seen the source: install the package, bake a character.
try_package() {
  local attempt
  say "$(basename "$1") on a bare Debian 12"
  cp "$1" "$root/tmp/package.deb"
  for attempt in 1 2 3 4 5; do
    in_root apt-get update -qq && in_root apt-get install -y -qq --no-install-recommends /tmp/package.deb >/dev/null && break
    ((attempt < 5)) || { say "apt-get could not install the package"; return 1; }
    sleep $((attempt * 10))
  done
  in_root supple example mascot -o /tmp/mascot --quiet
  in_root supple bake /tmp/mascot/mascot.glb -o /tmp/mascot_soft.glb --quality draft --tets 1500 --quiet
  in_root supple inspect /tmp/mascot_soft.glb
}

main() {
  trap remove_root EXIT
  trap 'exit 130' INT TERM
  remove_root
  export_proxy
  say "making a bare Debian 12 ($suite)"
  bootstrap
  copy_package_sources
  mkdir -p "$home"
  if [[ -d $folder/clone ]]; then
    mv "$folder/clone" "$home/supple"
    chown -R root:root "$home/supple"
  fi
  mount_host_parts
  for verb in "${verbs[@]}"; do
    if [[ $verb == *.deb ]]; then try_package "$verb"; else run_verb "$verb"; fi
  done
  say "passed: ${verbs[*]}"
}

main
