"""restart.py KYMO FOLDER MAPPINGS MOST: milliseconds from the start to accepting clients, after SIGKILL under load.

A client sends the workload as fast as it is taken; the process is killed half a second later and started again on the
same data directory, five times. The journal holds what no closed window has."""
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
for folder in (out, data):
    shutil.rmtree(folder, ignore_errors=True)
with open(f"{FOLDER}/workload.ndjson", "rb") as file:
    workload = file.read(40_000_000)


def start():
    """The process and the milliseconds until a client could connect."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [KYMO, "run", "--unix", path, "--out", out, "--data", data, "--mapping", MAPPINGS],
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


times = []
share = len(workload) // ROUNDS
for number in range(ROUNDS + 1):
    process, connection, took = start()
    if number:
        times.append(took)
    sender = threading.Thread(target=send, args=(connection, workload[number * share:(number + 1) * share]))
    sender.start()
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    sender.join()
    connection.close()
print(f"start after SIGKILL under load: at most {max(times):.0f} ms of {ROUNDS} (at most {MOST} ms)")
sys.exit(max(times) > float(MOST))
