#!/usr/bin/env python3
"""Prints the table of a run of run.sh: medians over the rounds, and the ratios that are promised.

Usage: report.py GOOGLE_BENCHMARK_JSON RESULTS_JSONL
"""
import json
import statistics
import sys

google = json.load(open(sys.argv[1]))["benchmarks"]
records = [json.loads(line) for line in open(sys.argv[2]) if line.startswith("{")]
rows = []


def benchmark(name):
    """The median over the repetitions, in seconds an item or in bytes a second."""
    for entry in google:
        if entry["name"].split("/iterations")[0].startswith(name) and entry.get("aggregate_name") == "median":
            return entry.get("bytes_per_second") or 1 / entry["items_per_second"]
    return None


def job(name, peer, devices, figure, variant=None):
    """The median of a job's figure over the rounds."""
    values = [r[figure] for r in records if r.get("job") == name and r.get("peer") == peer
              and r.get("devices") == devices and figure in r and variant in (None, r.get("variant"))]
    return statistics.median(values) if values else None


def row(what, ours, theirs, ratio, wanted, unit):
    """A line of the table; `wanted` is the bound of the ratio, as '<= 1.3'."""
    if ours is None or theirs is None:
        rows.append((what, show(ours, unit), show(theirs, unit), "", wanted, "not measured"))
        return
    sense, bound = wanted.split()
    good = ratio <= float(bound) if sense == "<=" else ratio >= float(bound)
    rows.append((what, show(ours, unit), show(theirs, unit), f"{ratio:.2f}", wanted, "yes" if good else "no"))


def show(value, unit):
    return "" if value is None else f"{value:.4g} {unit}"


def ratio(a, b):
    return a / b if a and b else None


for devices in 1, 2:
    bare, trainer = (benchmark(f"tiny_step_{kind}/{devices}") for kind in ("bare_loop", "trainer"))
    micro = [None if t is None else 1e6 * t for t in (trainer, bare)]
    row(f"tiny step, Trainer against a bare loop, {devices} device(s)", *micro, ratio(*micro), "<= 1.3", "us")
memcpy = benchmark("memcpy_64_mib")
for kind, wanted in (("owned_aligned", ">= 20"), ("foreign", ">= 0.8")):
    speeds = [None if v is None else v / 1e9 for v in (benchmark(f"place_batch_{kind}"), memcpy)]
    row(f"place_batch of 64 MiB over 2 devices, {kind.replace('_', ' ')}, against memcpy", *speeds, ratio(*speeds), wanted, "GB/s")
for devices, wanted in ((1, ">= 1.0"), (2, ">= 1.2")):
    ours = job("mlp", "lockstep", devices, "steps_per_s", "extras=off")
    theirs = job("mlp", "jax", devices, "steps_per_s")
    row(f"Fashion-MNIST MLP, against JAX, {devices} device(s)", ours, theirs, ratio(ours, theirs), wanted, "steps/s")
ours = job("mlp", "lockstep", 1, "steps_per_s", "extras=on")
theirs = job("mlp", "lightning", 1, "steps_per_s", "extras=on")
row("Fashion-MNIST MLP with progress and CSV log, against Lightning", ours, theirs, ratio(ours, theirs), ">= 1.5", "steps/s")
for devices in 1, 2:
    ours = job("dispatch", "lockstep", devices, "us_per_step")
    theirs = job("dispatch", "jax", devices, "us_per_step")
    row(f"tiny step with placement, against JAX, {devices} device(s)", ours, theirs, ratio(ours, theirs), "<= 0.333", "us")

print("| what | Lockstep | against | ratio | wanted | met |")
print("| --- | --- | --- | --- | --- | --- |")
for line in rows:
    print("| " + " | ".join(line) + " |")
