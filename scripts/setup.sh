#!/usr/bin/env bash
# Installs the Debian packages Lockstep needs, where any is missing. Touches the network only then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mapfile -t packages < <(grep -v '^ *\(#\|$\)' "$here/debian-packages.txt")

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "setup: these Debian packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "Installing ${missing[*]} ..." >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 && return
  cat "$log" >&2
  echo "setup: '$*' failed; the lines above say why." >&2
  exit 1
}
run apt-get update -q
run apt-get install -q -y --no-install-recommends "${missing[@]}"
