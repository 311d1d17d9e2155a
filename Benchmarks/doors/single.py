"""single.py KYMO FOLDER LEAST: readings per second of `kymo run --http`, a request each, beside those of a service of
aiohttp, orjson and SQLite (rival.py) that has them on disk, too, before it answers.

wrk keeps CLIENTS connections, each of which sends a request, and the next one when it is answered, as phones do: kymo
answers after a commit, which comes every 20 ms (store.commitInterval), and so fewer of them bring less. Rounds of both follow each other, so that a busy neighbour hits both; the best of each counts. wrk takes its part of the machine:
where it is the slowest, what kymo can is more than what is printed, which the CPU time shows."""
import os
import re
import shutil
import subprocess
import sys

from running import cpu_seconds, listening

KYMO, FOLDER, LEAST = sys.argv[1:]
HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS, CLIENTS, SECONDS = 5, 1_000, 4


def posted(address):
    """How many requests were answered with 200, all of them, and in how many seconds."""
    text = subprocess.run(
        ["wrk", "-t", "1", "-c", str(CLIENTS), "-d", f"{SECONDS}s", "-s", f"{HERE}/single.lua", f"http://{address}"],
        capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+) requests in ([\d.]+)s", text)
    if not found or "Non-2xx" in text or "Socket errors" in text:
        sys.exit(text)
    return int(found[1]), float(found[2])


def measured(command):
    """Readings per second that what `command` runs has on disk, and its CPU seconds for each."""
    for name in os.listdir(FOLDER):
        if name.startswith("rival.sqlite"):
            os.unlink(f"{FOLDER}/{name}")
    for name in ("data", "out"):
        shutil.rmtree(f"{FOLDER}/{name}", ignore_errors=True)
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = listening(run) or sys.exit("single: it did not start")
        before = cpu_seconds(run)
        count, seconds = posted(address.rsplit(" ", 1)[1])
        return count / seconds, (cpu_seconds(run) - before) / count
    finally:
        run.terminate()
        run.stderr.read()
        run.wait(60)


# As many connections of one host as there are clients.
with open(f"{FOLDER}/kymo.yaml", "w") as file:
    file.write('sources: [{http: "127.0.0.1:0", connections: 1100, connectionsPerPeer: 1100}]\n')
DOORS = {
    "kymo": [KYMO, "run", "--config", f"{FOLDER}/kymo.yaml", "--data", f"{FOLDER}/data", "--out", f"{FOLDER}/out"],
    "aiohttp": [sys.executable, f"{HERE}/rival.py", FOLDER],
}
results = {name: [] for name in DOORS}
for _ in range(ROUNDS):
    for name, command in DOORS.items():
        results[name].append(measured(command))
rates = {name: max(rate for rate, _ in rounds) for name, rounds in results.items()}
costs = {name: min(cost for _, cost in rounds) for name, rounds in results.items()}
for name in DOORS:
    print(f"{name:8} {rates[name]:10,.0f} durable readings/s, a request each, {costs[name] * 1e6:.0f} µs of CPU each")
share = rates["kymo"] / rates["aiohttp"]
print(f"kymo / aiohttp throughput {share:.1f} (at least {LEAST}), CPU {costs['kymo'] / costs['aiohttp']:.2f}")
sys.exit(share < float(LEAST))
