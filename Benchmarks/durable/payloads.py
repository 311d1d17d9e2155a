"""payloads.py KYMO FOLDER MAPPING READINGS: the throughput of a durable `kymo run` that keeps payloads as they came, as
a share of that of one that does not, and what the data directory grows by for each reading."""
import os
import sys

from rounds import best, once

KYMO, FOLDER, MAPPING, READINGS = sys.argv[1:]
PLAIN = ["--data", f"{FOLDER}/data"]
KEPT = [*PLAIN, "--config", f"{FOLDER}/kept.yaml"]


def size(flags):
    """Bytes of the data directory of a run."""
    once(KYMO, FOLDER, MAPPING, flags)
    return sum(os.path.getsize(f"{FOLDER}/data/{name}") for name in os.listdir(f"{FOLDER}/data"))


more = (size(KEPT) - size(PLAIN)) / int(READINGS)
found = best(KYMO, FOLDER, MAPPING, {"plain": PLAIN, "kept": KEPT})
(plain, plain_cpu), (kept, kept_cpu) = found["plain"], found["kept"]
print(f"kept / plain throughput {plain / kept:.2f}, CPU {kept_cpu / plain_cpu:.2f}; {more:.1f} bytes more a reading")
