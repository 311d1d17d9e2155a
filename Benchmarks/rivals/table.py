"""table.py KYMO FOLDER READINGS RIVAL_DIR: called by rivals.sh, with compare/ on the path of modules."""
import os
import statistics
import sys

import measure as compare
import verify

kymo, folder, readings, rival = sys.argv[1:5]
workload = os.path.join(folder, "workload.ndjson")
here = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3


def script(name):
    out = os.path.join(folder, f"{name}.ndjson")
    return [sys.executable, os.path.join(rival, "py_stdin.py"), out], out, {"LIB": name}


def engines():
    ours = compare.engines(os.path.abspath(kymo), rival, folder)["kymo"]
    batch = os.path.join(folder, "duckdb.ndjson")
    return {
        "kymo": ours,
        "DuckDB, one thread, at once": ([sys.executable, os.path.join(here, "duckdb_batch.py"), workload, batch], batch, {}),
        "Python + orjson": script("orjson"),
        "Python + json": script("json"),
    }


def main():
    runs = engines()
    results = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, (command, output, extra) in runs.items():
            compare.clear(output)
            results[name].append(compare.timed(command, workload, extra))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; medians of {ROUNDS} runs in turns")
    print(f"{'engine':30} {'readings/CPU-s':>15} {'CPU s':>7} {'wall s':>7} {'peak MiB':>9}")
    for name, taken in results.items():
        cpu = statistics.median(run.cpu for run in taken)
        wall = statistics.median(run.wall for run in taken)
        print(f"{name:30} {int(readings) / cpu:15,.0f} {cpu:7.2f} {wall:7.2f} {max(run.memory for run in taken):9.1f}")
    agreed = [verify.compare(workload, output, runs["kymo"][1])
              for name, (_, output, _) in runs.items() if name != "kymo"]
    sys.exit(0 if all(agreed) else 1)


main()
