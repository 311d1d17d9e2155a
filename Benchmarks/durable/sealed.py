"""sealed.py KYMO FOLDER MAPPING LEAST: the throughput of a durable `kymo run` with encryption, as a share of that without.

Rounds of both follow each other, so that a busy neighbour hits both; the best of each counts."""

import resource
import shutil
import subprocess
import sys
import time

KYMO, FOLDER, MAPPING, LEAST = sys.argv[1:]
ROUNDS = 7


def run(flags):
    """Seconds and CPU seconds of one run."""
    for name in ("out", "data"):
        shutil.rmtree(f"{FOLDER}/{name}", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with open(f"{FOLDER}/workload.ndjson", "rb") as lines:
        subprocess.run(
            [KYMO, "run", "--stdin", "--mapping", MAPPING + "/", "--window", "5m", "--out", f"{FOLDER}/out", "--data",
             f"{FOLDER}/data", *flags], stdin=lines, stderr=subprocess.PIPE, check=True)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


forms = {"plain": [], "sealed": ["--key-file", f"{FOLDER}/key"]}
results = {name: [] for name in forms}
for _ in range(ROUNDS):
    for name, flags in forms.items():
        results[name].append(run(flags))
with open(f"{FOLDER}/workload.ndjson", "rb") as lines:
    readings = sum(1 for _ in lines)
best = {name: min(times)[0] for name, times in results.items()}
cpu = {name: min(time[1] for time in times) for name, times in results.items()}
for name in forms:
    print(f"{name:10} {readings / best[name]:12,.0f} readings/s, {cpu[name]:.2f} s of CPU")
share = best["plain"] / best["sealed"]
print(f"sealed / plain throughput {share:.2f} (at least {LEAST}), CPU {cpu['sealed'] / cpu['plain']:.2f}")
sys.exit(share < float(LEAST))
