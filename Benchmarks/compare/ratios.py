#!/usr/bin/env python3
"""ratios.py FOLDER: a table of the medians that `swift package benchmark --format jmh` wrote, with ratios to the best of the others.

Benchmarks are named "WHO / WORK": all that do the same work in one target are compared.
"""
import json
import os
import sys
from collections import defaultdict

# Items of work per iteration of each target's benchmarks.
ITEMS = {"Decode": 8_192, "Map": 8_192, "Ring": 1 << 20, "Window": 8_192, "FHIR": 1_024, "EndToEnd": 100_000}


def medians(folder):
    """Nanoseconds per item by stage and work, in order of name."""
    groups = defaultdict(dict)
    for name in sorted(os.listdir(folder)):
        for element in json.load(open(os.path.join(folder, name))):
            _, _, target, benchmark = element["benchmark"].split(".", 3)
            stage = target.removesuffix("Benchmarks")
            who, work = benchmark.replace("_", " ").split(" / ", 1)
            rate = element["primaryMetric"]["scorePercentiles"]["50.0"]
            groups[stage, work][who] = 1e9 / rate / ITEMS[stage]
    return groups


def main():
    groups = medians(sys.argv[1])
    order = list(ITEMS)
    for (stage, work), times in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), item[0][1])):
        best = min((name for name in times if not name.startswith("ours")), key=times.get, default=None)
        print(f"\n{stage}: {work}")
        for who, time in sorted(times.items(), key=lambda item: item[1]):
            ratio = f"{time / times[best]:8.2f} times {best.split(',')[0]}" if who != best and best else ""
            print(f"  {who:40} {time:9.1f} ns{ratio}")


if __name__ == "__main__":
    main()
