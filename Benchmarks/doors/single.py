"""single.py KYMO FOLDER LEAST: readings per second of `kymo run --http`, a request each, beside those of a service of
aiohttp, orjson and SQLite (rival.py) that has them on disk, too, before it answers.

CLIENTS connections send a request each, and the next one when it is answered, as phones do. Rounds of both follow each
other, so that a busy neighbour hits both; the best of each counts. The client is this process, which takes its part of
the machine: where it is the slowest, what kymo can is more than what is printed, which the CPU time shows."""
import datetime
import os
import re
import selectors
import shutil
import socket
import subprocess
import sys
import time

from drive import cpu_seconds

KYMO, FOLDER, LEAST = sys.argv[1:]
ROUNDS, CLIENTS, READINGS = 5, 128, 24_000
START = datetime.datetime(2026, 3, 1, 8)
END = b'"rejectedCount":0,"rejected":[]}\n'


def request(number):
    """The reading `number`, one a second of each of as many devices as there are clients."""
    moment = (START + datetime.timedelta(seconds=number // CLIENTS)).isoformat()
    body = (f'{{"deviceId":"watch-{number % CLIENTS}","patientId":"patient","type":"heartRate","timestamp":"{moment}Z",'
            f'"value":{60 + number % 40},"unit":"/min"}}').encode()
    return (b"POST /v1/ingest/reading HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


REQUESTS = [request(number) for number in range(READINGS)]


def post(place):
    """Sends all of them; each must be answered with 200."""
    waits, left = selectors.DefaultSelector(), iter(REQUESTS)
    for _ in range(CLIENTS):
        connection = socket.create_connection(place)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waits.register(connection, selectors.EVENT_READ, [b""])
        connection.send(next(left))
    answered = 0
    while answered < READINGS:
        for key, _ in waits.select():
            heard = key.data
            part = key.fileobj.recv(4_096)
            if not part:
                sys.exit("the service has ended a connection")
            heard[0] += part
            if not heard[0].endswith(END):
                continue
            if not heard[0].startswith(b"HTTP/1.1 200 "):
                sys.exit(f"not 200: {heard[0]!r}")
            heard[0], answered = b"", answered + 1
            following = next(left, None)
            if following:
                key.fileobj.send(following)
    for key in list(waits.get_map().values()):
        key.fileobj.close()


def measured(command):
    """Seconds until all are answered by what `command` runs, and its CPU seconds meanwhile."""
    for name in os.listdir(FOLDER):
        if name.startswith("rival.sqlite"):
            os.unlink(f"{FOLDER}/{name}")
    for name in ("data", "out"):
        shutil.rmtree(f"{FOLDER}/{name}", ignore_errors=True)
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(run.stderr.readline, "")
        found = next(re.search(r"listening on \w+ ([^:,\n]+):(\d+)", line) for line in lines if "listening on" in line)
        before, start = cpu_seconds(run), time.perf_counter()
        post((found[1], int(found[2])))
        return time.perf_counter() - start, cpu_seconds(run) - before
    finally:
        run.terminate()
        run.stderr.read()
        run.wait(60)


DOORS = {
    "kymo": [KYMO, "run", "--http", "127.0.0.1:0", "--data", f"{FOLDER}/data", "--out", f"{FOLDER}/out"],
    "aiohttp": [sys.executable, f"{os.path.dirname(os.path.abspath(__file__))}/rival.py", FOLDER],
}
results = {name: [] for name in DOORS}
for _ in range(ROUNDS):
    for name, command in DOORS.items():
        results[name].append(measured(command))
best = {name: [min(column) for column in zip(*rounds)] for name, rounds in results.items()}
for name, (seconds, cpu) in best.items():
    print(f"{name:8} {READINGS / seconds:10,.0f} durable readings/s, a request each, "
          f"{cpu / READINGS * 1e6:.0f} µs of CPU each")
share = best["aiohttp"][0] / best["kymo"][0]
print(f"kymo / aiohttp throughput {share:.1f} (at least {LEAST}), CPU {best['kymo'][1] / best['aiohttp'][1]:.2f}")
sys.exit(share < float(LEAST))
