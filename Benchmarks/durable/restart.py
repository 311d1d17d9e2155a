"""restart.py KYMO FOLDER MAPPINGS MOST: milliseconds from the start to accepting clients, after SIGKILL under load.

A client sends the workload as fast as it is taken; the process is killed half a second later and started again on the
same data directory, five times. The journal holds what no closed window has: with windows of a day that is all of it, which
tells what a reading of the journal costs a start."""
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

KYMO, FOLDER, MAPPINGS, MOST = sys.argv[1:]
ROUNDS = 5
out, path, data = f"{FOLDER}/restart", f"{FOLDER}/restart.sock", f"{FOLDER}/restart-data"
with open(f"{FOLDER}/workload.ndjson", "rb") as file:
    workload = file.read(40_000_000)


def start(window):
    """The process and the milliseconds until a client could connect."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [KYMO, "run", "--unix", path, "--out", out, "--data", data, "--mapping", MAPPINGS, "--window", window],
        stderr=subprocess.DEVNULL)
    while time.perf_counter() - began < 60:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return process, connection, (time.perf_counter() - began) * 1_000
        except OSError:
            connection.close()
            time.sleep(0.002)
    sys.exit("it did not start within 60 s")


def send(connection, part):
    try:
        connection.sendall(part)
    except OSError:
        pass


def in_journal():
    """Readings in the journal of a process that was killed."""
    status = subprocess.run([KYMO, "status", "--data", data], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^journal \d+ blocks? with (\d+) readings?", status, re.MULTILINE)[1])


def measure(window, rounds, seconds):
    """Starts and kills; of the starts the longest in milliseconds, and the most readings in the journal before one."""
    for folder in (out, data):
        shutil.rmtree(folder, ignore_errors=True)
    starts, share, readings = [], len(workload) // rounds, 0
    for number in range(rounds + 1):
        process, connection, took = start(window)
        if number:
            starts.append((took, readings))
        sender = threading.Thread(target=send, args=(connection, workload[number * share:(number + 1) * share]))
        sender.start()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        sender.join()
        connection.close()
        readings = in_journal()
    return max(took for took, _ in starts), max(readings for _, readings in starts)


most, readings = measure("5m", ROUNDS, 0.5)
print(f"start after SIGKILL under load: at most {most:.0f} ms of {ROUNDS} (at most {MOST} ms), "
      f"up to {readings:,} readings in the journal")
longer, readings = measure("24h", 1, 3)
print(f"with windows of a day: {longer:.0f} ms, {readings:,} readings in the journal")
sys.exit(most > float(MOST))
