"""latency.py KYMO FOLDER MOST: milliseconds from sending the reading that closes a window to its bytes in the file.

One device, windows of a second of event time, a closing reading every 20 ms of real time; bundles wait for 1 ms
(output.maxAge) and readings are kept in a store."""
import os
import shutil
import socket
import subprocess
import sys
import time

KYMO, FOLDER, MOST = sys.argv[1:]
WINDOWS = 500
out, path = f"{FOLDER}/latency", f"{FOLDER}/latency.sock"
shutil.rmtree(out, ignore_errors=True)
shutil.rmtree(f"{FOLDER}/latency-data", ignore_errors=True)
process = subprocess.Popen(
    [KYMO, "run", "--unix", path, "--out", out, "--data", f"{FOLDER}/latency-data", "--window", "1s",
     "--lateness", "0s", "--idle", "0s"],
    env={**os.environ, "KYMO_OUTPUT_MAX_AGE": "1ms"}, stderr=subprocess.DEVNULL)


def size():
    """Bytes of all files, those that grow, too."""
    return sum(os.stat(f"{out}/{name}").st_size for name in os.listdir(out))


def reading(second):
    clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + second))
    return f'{{"deviceId":"w","type":"heartRate","timestamp":"{clock}","value":{60 + second % 9},"unit":"/min"}}\n'


try:
    deadline = time.monotonic() + 10
    while not os.path.exists(path) and time.monotonic() < deadline:
        time.sleep(0.01)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendall(reading(0).encode())
    latencies = []
    for second in range(1, WINDOWS + 1):
        time.sleep(0.02)
        before = size()
        start = time.perf_counter()
        connection.sendall(reading(second).encode())
        while size() == before:
            if time.perf_counter() - start > 5:
                sys.exit("a window did not come within 5 s")
        latencies.append((time.perf_counter() - start) * 1_000)
finally:
    process.terminate()
    process.wait()
latencies.sort()
p50, p99 = latencies[WINDOWS // 2], latencies[WINDOWS * 99 // 100]
print(f"closing reading to file, with a store: p50 {p50:.1f} ms, p99 {p99:.1f} ms (at most {MOST} ms)")
sys.exit(p99 > float(MOST))
