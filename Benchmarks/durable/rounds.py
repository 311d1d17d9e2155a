"""Throughput of `kymo run` from standard input to files in several forms."""
import shutil
import sys

from running import run

ROUNDS = 7


def once(kymo, folder, mapping, flags):
    for name in ("out", "data"):
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    done = run(
        [kymo, "run", "--stdin", "--mapping", mapping + "/", "--window", "5m", "--out", f"{folder}/out", *flags],
        f"{folder}/workload.ndjson")
    if done.status != 0:
        sys.exit(f"durable: kymo failed:\n{done.text}")
    return done


def best(kymo, folder, mapping, forms):
    """Prints, and returns by name, the least seconds and the least CPU seconds for the folder's workload; `forms` has
    the flags of each form.

    Rounds of all follow each other, so that a busy neighbour hits all; the best of each counts."""
    rounds = {name: [] for name in forms}
    for _ in range(ROUNDS):
        for name, flags in forms.items():
            rounds[name].append(once(kymo, folder, mapping, flags))
    with open(f"{folder}/workload.ndjson", "rb") as lines:
        readings = sum(1 for _ in lines)
    found = {name: (min(one.wall for one in runs), min(one.cpu for one in runs)) for name, runs in rounds.items()}
    for name, (seconds, cpu) in found.items():
        print(f"{name:10} {readings / seconds:12,.0f} readings/s, {cpu:.2f} s of CPU")
    return found
