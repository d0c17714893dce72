#!/usr/bin/env bash
# Measures Lockstep beside the bare C API and, where they are installed (`make peers`), beside JAX and
# Lightning, and prints the table of docs/performance.md. Usage: run.sh BUILD_FOLDER [ROUNDS]
# Programs of a comparison take turns, so that a slow moment of the machine falls on all of them.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
rounds=${2:-${BENCH_ROUNDS:-3}}
scripts=${LOCKSTEP_PEERS:-$here/../../shared/peers}
peers=${LOCKSTEP_PEER_ENVIRONMENTS:-$build/peers}
export PEERS_DATA=${PEERS_DATA:-/usr/share/datasets/fashion-mnist}
results=$build/bench/results.jsonl
: >"$results"

echo "Google Benchmark: the Trainer, placement ..." >&2
"$build/bench/lockstep_bench" --benchmark_repetitions="$((2 * rounds + 1))" \
  --benchmark_enable_random_interleaving=true --benchmark_out="$build/bench/google.json" \
  --benchmark_out_format=json >/dev/null

# run COMMAND...: one JSON line into the results. A peer may hang in its rendezvous of CPU devices.
run() {
  echo "  ${*##*/}" >&2
  timeout "${BENCH_TIMEOUT:-60}" "$@" 2>>"$build/bench/messages.log" | tail -n 1 >>"$results" || echo "  failed: $*" >&2
}
# peer ENVIRONMENT SCRIPT FLAGS...: the same for a peer, if it is there.
peer() {
  local python=$peers/$1/bin/python
  [[ -x $python && -r $scripts/$2 ]] || return 0
  run "$python" "$scripts/$2" "${@:3}" --json
}
[[ -x $peers/jax/bin/python ]] || echo "No peers in $peers; 'make peers' installs them." >&2

for ((round = 1; round <= rounds; ++round)); do
  echo "Round $round of $rounds" >&2
  for devices in 1 2; do
    run "$build/bench/bench_mlp_job" --devices "$devices" --steps 501
    peer jax mlp_jax.py --steps 501 --devices "$devices"
    run "$build/bench/bench_dispatch_job" --devices "$devices" --steps 10001
    peer jax dispatch_jax.py --steps 10001 --devices "$devices"
  done
  run "$build/bench/bench_mlp_job" --devices 1 --steps 501 --extras on
  peer torch mlp_lightning.py --steps 501 --extras on
done
"$here/report.py" "$build/bench/google.json" "$results"
