"""sealed.py KYMO FOLDER MAPPING LEAST: the throughput of a durable `kymo run` with encryption, as a share of that
without."""
import sys

from rounds import best

KYMO, FOLDER, MAPPING, LEAST = sys.argv[1:]
STORE = ["--data", f"{FOLDER}/data"]

found = best(KYMO, FOLDER, MAPPING, {"plain": STORE, "sealed": [*STORE, "--key-file", f"{FOLDER}/key"]})
(plain, plain_cpu), (sealed, sealed_cpu) = found["plain"], found["sealed"]
share = plain / sealed
print(f"sealed / plain throughput {share:.2f} (at least {LEAST}), CPU {sealed_cpu / plain_cpu:.2f}")
sys.exit(share < float(LEAST))
