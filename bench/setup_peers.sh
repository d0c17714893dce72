#!/usr/bin/env bash
# Makes the Python environments of the peers that `make bench` compares with: JAX, PyTorch and Lightning.
# Usage: setup_peers.sh BUILD_FOLDER. The scripts and their pinned requirements are in $LOCKSTEP_PEERS
# (default: ../shared/peers beside the checkout).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scripts=${LOCKSTEP_PEERS:-$here/../../shared/peers}
for peer in jax torch; do
  requirements=$scripts/requirements-$peer.txt
  [[ -r $requirements ]] || {
    echo "setup_peers: $requirements cannot be read; name the peers' folder in LOCKSTEP_PEERS" >&2
    exit 1
  }
  environment=$build/peers/$peer
  cmp -s "$requirements" "$environment/installed.txt" && continue
  echo "Installing $peer into $environment ..." >&2
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install -q -r "$requirements"
  cp "$requirements" "$environment/installed.txt"
done
