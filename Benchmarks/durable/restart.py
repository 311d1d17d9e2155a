"""restart.py KYMO FOLDER MAPPINGS MOST READY: milliseconds from the start to accepting clients, at most MOST, and to readiness,
at most READY, after SIGKILL under load.

A client sends the workload as fast as it is taken; the process is killed half a second later and started again on the
same data directory, five times. It is ready when /readyz says so: lanes and shards have what the journal had. The journal
holds what no closed window has: with windows of a day that is all of it, which tells what a reading of the journal costs
a start. What a start costs in a store that is large tells the last part: the whole workload is in it, time after time."""
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from running import cpu_seconds, free_port

KYMO, FOLDER, MAPPINGS, MOST, READY = sys.argv[1:]
ROUNDS = 5
LATER = 8
out, path, data = f"{FOLDER}/restart", f"{FOLDER}/restart.sock", f"{FOLDER}/restart-data"
with open(f"{FOLDER}/workload.ndjson", "rb") as file:
    workload = file.read(40_000_000)
    workload = workload[:workload.rindex(b"\n") + 1]
port = free_port(socket.SOCK_STREAM)


def start(window):
    """The process, a connection, and the milliseconds until that was there, until the process was ready, and of a processor
    until then."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [KYMO, "run", "--unix", path, "--out", out, "--data", data, "--mapping", MAPPINGS, "--window", window,
         "--admin", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
    connection = awaited("a connection", connected)
    listens = time.perf_counter()
    awaited("readiness", is_ready)
    ready = time.perf_counter()
    return process, connection, ((listens - began) * 1_000, (ready - began) * 1_000, cpu_seconds(process) * 1_000)


def awaited(what, condition):
    end = time.monotonic() + 60
    while not (found := condition()):
        if time.monotonic() > end:
            sys.exit(f"restart: waited 60 s for {what}")
        time.sleep(0.002)
    return found


def connected():
    """A connection to the source; None while there is none."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
        return connection
    except OSError:
        connection.close()
        return None


def asked(address):
    """Status and text of an answer; 0 while there is none."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", address)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except OSError:
        return 0, ""


def is_ready():
    return asked("/readyz")[0] == 200


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
    """Starts and kills; the longest times of a start, and the most readings in the journal before one."""
    for folder in (out, data):
        shutil.rmtree(folder, ignore_errors=True)
    starts, share, readings = [], len(workload) // rounds, 0
    for number in range(rounds + 1):
        process, connection, took = start(window)
        if number:
            starts.append(took)
        readings = max(readings, kill(process, connection, workload[number * share:(number + 1) * share], seconds))
    return [max(times) for times in zip(*starts)], readings


def kill(process, connection, part, seconds):
    """Kills the process while it takes `part`; the readings in its journal."""
    sender = threading.Thread(target=send, args=(connection, part))
    sender.start()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    sender.join()
    connection.close()
    return in_journal()


def measure_large():
    """The same once with a store that has the workload many times, each time eleven days later; and what the store
    has."""
    for folder in (out, data):
        shutil.rmtree(folder, ignore_errors=True)
    process, connection, _ = start("5m")
    for turn in range(LATER):
        send(connection, moved(turn))
    sent = workload.count(b"\n") * LATER
    awaited(f"{sent} readings in windows", lambda: sum(map(float, re.findall(
        r"^kymo_readings_total\{.*\} (\S+)$", asked("/metrics")[1], re.MULTILINE))) == sent)
    readings = kill(process, connection, moved(LATER), 0.5)
    process, connection, took = start("5m")
    windows = int(float(re.search(r"^kymo_store_windows (\S+)$", awaited("a count of the store", stored), re.MULTILINE)[1]))
    process.kill()
    process.wait()
    connection.close()
    return took, readings, windows, os.path.getsize(f"{data}/kymo.sqlite") / 2**20


def stored():
    """The metrics, once the store is counted."""
    text = asked("/metrics")[1]
    return text if "\nkymo_store_windows " in text else None


def moved(turn):
    """The workload, in the last turn as it is, and 1,000,000,000 ms earlier for each turn before."""
    return workload.replace(b'"ts":1767', b'"ts":%d' % (1767 + turn - LATER))


def told(times):
    return (f"listening after {times[0]:.0f} ms (at most {MOST}), ready after {times[1]:.0f} ms (at most {READY}), "
            f"{times[2]:.0f} ms of a processor")


most, readings = measure("5m", ROUNDS, 0.5)
print(f"start after SIGKILL under load, the longest of {ROUNDS}: {told(most)}, "
      f"up to {readings:,} readings in the journal")
longer, readings = measure("24h", 1, 3)
print(f"with windows of a day: {told(longer)}, {readings:,} readings in the journal")
large, readings, windows, mebibytes = measure_large()
print(f"with a store of {windows:,} windows, {mebibytes:,.0f} MiB: {told(large)}, {readings:,} readings in the journal")
late = [times for times in (most, longer, large) if times[0] > float(MOST) or times[1] > float(READY)]
if late:
    print(f"restart: too late: {'; '.join(map(told, late))}")
sys.exit(bool(late))
