"""throughput.py KYMO FOLDER MAPPING LEAST: the throughput of `kymo run` with a store, as a share of that without."""
import sys

from rounds import best

KYMO, FOLDER, MAPPING, LEAST = sys.argv[1:]

found = best(KYMO, FOLDER, MAPPING, {"ephemeral": ["--ephemeral"], "durable": ["--data", f"{FOLDER}/data"]})
share = found["ephemeral"][0] / found["durable"][0]
print(f"durable / ephemeral throughput {share:.2f} (at least {LEAST})")
sys.exit(share < float(LEAST))
