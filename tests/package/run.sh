#!/usr/bin/env bash
# Installs Lockstep into a fresh prefix, builds a ten-line program against it and runs that.
# Usage: run.sh BUILD_FOLDER SOURCE_FOLDER CXX
set -euo pipefail
build=$1 source=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
cmake -S "$source/tests/package" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build"
# The installed plugin is found beside the installed tool, and through the variable from elsewhere.
output=$(LOCKSTEP_PJRT_PLUGIN_PATH=$(echo "$work"/prefix/lib*/lockstep/pjrt "$work"/prefix/lib/*/lockstep/pjrt | tr ' ' '\n' | while read -r d; do [[ -d $d ]] && echo "$d" && break; done) "$work/build/ten_lines")
[[ $output == "14 on cpu:0" ]] || { echo "the program printed '$output', expected '14 on cpu:0'"; exit 1; }
"$work"/prefix/bin/lockstep devices --json >/dev/null
