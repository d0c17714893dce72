#!/usr/bin/env bash
# Fetches the pinned PJRT plugins and headers into FOLDER, once:
#   FOLDER/cpu/pjrt_plugin.so       the CPU plugin
#   FOLDER/cpu-0.81/pjrt_plugin.so  the older CPU plugin, for tests
#   FOLDER/include/xla/...          headers of the PJRT C API and of XLA's FFI
# Usage: fetch_pjrt.sh FOLDER
set -euo pipefail
folder=${1:?usage: fetch_pjrt.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
requirements=$here/pjrt-requirements.txt
stamp=$folder/fetched.txt
if cmp -s "$requirements" "$stamp"; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "Fetching the PJRT plugins and headers into $folder ..." >&2
# The headers come as a source distribution: it is unpacked, never built or run.
python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
  --no-binary pypjrt --dest "$work/files" --requirement "$requirements" >&2
mkdir -p "$work/new/cpu" "$work/new/cpu-0.81" "$work/new/include"
unzip -qo "$work"/files/lammps_jax_pjrt_cpu-*.whl -d "$work/cpu"
unzip -qo "$work"/files/xla_cpu_pjrt-*.whl -d "$work/old"
tar -xzf "$work"/files/pypjrt-*.tar.gz -C "$work"
mv "$work/cpu/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so" "$work/new/cpu/pjrt_plugin.so"
mv "$work/old/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so" "$work/new/cpu-0.81/pjrt_plugin.so"
chmod 755 "$work"/new/cpu*/pjrt_plugin.so
mv "$work"/pypjrt-*/vendor/xla "$work/new/include/xla"
cp "$requirements" "$work/new/fetched.txt"
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv "$work/new" "$folder"
