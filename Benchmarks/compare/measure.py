#!/usr/bin/env python3
"""measure.py KYMO WORKLOAD READINGS RIVAL_DIR RATIO [ROUNDS]: this product and the script it replaces, in turns.

Both write one Observation per line. Prints readings per CPU-second and peak memory of each, checks that both found the same windows, and fails when the
ratio is below RATIO or the memory above the limit. The ratio is the median of those of each turn: a machine that is slower for a while is slower for both.
"""
import os
import shutil
import statistics
import sys
import tempfile

import verify
from running import run

MEMORY_MIB = float(os.environ.get("KYMO_MEMORY", "32"))


def timed(command, workload, extra):
    """One run, which must not fail."""
    done = run(command, workload, **extra)
    if done.status != 0:
        sys.exit(f"compare: {command[0]} failed:\n{done.text}")
    return done


def engines(kymo, rival, folder):
    mapping = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "workload")
    python = os.environ.get("KYMO_PYTHON", sys.executable)
    ours = os.path.join(folder, "ours")
    theirs = os.path.join(folder, "rival.ndjson")
    return {
        "kymo": ([kymo, "run", "--stdin", "--ephemeral", "--mapping", mapping, "--window", "5m", "--lateness", "30s", "--format", "ndjson",
                  "--out", ours], ours, {}),
        "python+orjson": ([python, os.path.join(rival, "py_stdin.py"), theirs], theirs,
                          {"LIB": "orjson", "PYTHONDONTWRITEBYTECODE": "1"}),
    }


def clear(output):
    if os.path.isdir(output):
        shutil.rmtree(output)
    os.makedirs(os.path.dirname(output), exist_ok=True)


def main():
    kymo, workload, readings, rival, wanted = sys.argv[1:6]
    rounds = int(sys.argv[6]) if len(sys.argv) > 6 else 3
    with tempfile.TemporaryDirectory() as folder:
        runs = engines(os.path.abspath(kymo), rival, folder)
        results = {name: [] for name in runs}
        for _ in range(rounds):
            for name, (command, output, extra) in runs.items():
                clear(output)
                results[name].append(timed(command, workload, extra))
        print(results["kymo"][-1].text.strip(), file=sys.stderr)
        passed = report(results, int(readings), float(wanted))
        same = verify.compare(workload, runs["python+orjson"][1], runs["kymo"][1])
    sys.exit(0 if passed and same else 1)


def report(results, readings, wanted):
    rates = {}
    print(f"{'engine':15} {'readings/CPU-s':>15} {'CPU s':>7} {'wall s':>7} {'peak MiB':>9}")
    for name, runs in results.items():
        cpu = statistics.median(done.cpu for done in runs)
        wall = statistics.median(done.wall for done in runs)
        memory = max(done.memory for done in runs)
        rates[name] = readings / cpu
        print(f"{name:15} {rates[name]:15,.0f} {cpu:7.2f} {wall:7.2f} {memory:9.1f}")
    turns = [theirs.cpu / ours.cpu for ours, theirs in zip(results["kymo"], results["python+orjson"])]
    ratio = statistics.median(turns)
    memory = max(done.memory for done in results["kymo"])
    print(f"ratio {ratio:.2f}, {min(turns):.2f} to {max(turns):.2f} (must be at least {wanted:g}); memory {memory:.1f} MiB (must be under {MEMORY_MIB})")
    return ratio >= wanted and memory < MEMORY_MIB


if __name__ == "__main__":
    main()
