"""measure.py FOLDER KYMO LANEPROBE WORKLOAD [--short] [one|batch]: called by datagrams.sh, which has built netprobe and
send into FOLDER.

CPU is that of threads, user and system, as the kernel counts it in nanoseconds (schedstat)."""
import json
import os
import re
import statistics
import subprocess
import sys
import time

import readings
from running import free_port, listening, number

FOLDER, KYMO, LANEPROBE, WORKLOAD = sys.argv[1:5]
SHORT = "--short" in sys.argv[5:]
SECONDS = 1.0 if SHORT else 2.0
TURNS = 1 if SHORT else 3
SIZE = 200
TOGETHER = 40
# Rates that a pipeline on one processor can take, and that are dense enough to keep it busy.
PLAIN_RATES, SEGMENT_RATE, COALESCED_RATE = ((100_000, 400_000), 500_000, 1_000_000)
AT_LEAST = 1_000_000
# Receivers on one processor, the sender on another, as where senders are other machines. Left alone, the scheduler puts a
# receiver that blocks onto its sender's processor, and one that rests onto the other one: there each packet comes out of
# the other processor's caches and is given back to it by an interrupt, which takes twice as long (310 and 770 ns in C).
RECEIVING, SENDING = (min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0)))
failed = []


def on(processor):
    """Binds a process that is started with this as its preexec_fn."""
    return lambda: os.sched_setaffinity(0, {processor})


def check(name, value, limit, unit, most=True):
    """Prints a figure beside its limit."""
    good = value <= limit if most else value >= limit
    print(f"{name:62} {value:11,.2f} {unit}, at {'most' if most else 'least'} {limit:,g}{'' if good else '  EXCEEDED'}",
          flush=True)
    if not good:
        failed.append(name)


def send(path, size, port, rate, together=1, bound=on(SENDING)):
    """Sends the datagrams of `path`; how many, and in how many seconds."""
    text = subprocess.run([f"{FOLDER}/send", path, str(size), str(port), str(int(rate)), str(together)],
                          capture_output=True, text=True, check=True, preexec_fn=bound).stdout
    found = re.search(r"sent (\d+) in ([\d.]+) s", text)
    return int(found[1]), float(found[2])


# MARK: Receivers. Each returns the datagrams that were lost, and nanoseconds of CPU for each that was received.

def bare(path, rate, together, coalesces):
    port = free_port()
    receiver = subprocess.Popen([f"{FOLDER}/netprobe", "recv", "udp", str(port), str(SECONDS + 8), "ovfl"]
                                + (["gro"] if coalesces else []), stdout=subprocess.PIPE, text=True,
                                preexec_fn=on(RECEIVING))
    time.sleep(0.5)
    sent, _ = send(path, SIZE, port, rate, together)
    text = receiver.communicate()[0]
    return sent - number(r"recv pkts (\d+)", text), number(r"\((\d+) ns cpu/pkt", text)


def lane(path, rate, together, coalesces):
    port = free_port()
    receiver = subprocess.Popen([LANEPROBE, str(port)] + (["coalesce"] if coalesces else []), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=on(RECEIVING))
    receiver.stderr.readline()
    sent, _ = send(path, SIZE, port, rate, together)
    text = receiver.communicate()[0]
    return sent - number(r"received (\d+)", text), number(r"(\d+) ns of CPU each", text)


class Pipeline:
    """`kymo run` with one lane, windows on, bundles into files."""

    def __init__(self, mapping, coalesces=False, bound=None):
        self.port = free_port()
        source = {"udp": f"127.0.0.1:{self.port}", "mappings": mapping, "coalesce": coalesces}
        with open(f"{FOLDER}/kymo.json", "w") as file:
            json.dump({"sources": [source], "lanes": 1, "window": "5m", "lateness": "30s"}, file)
        subprocess.run(["rm", "-rf", f"{FOLDER}/out"], check=True)
        self.process = subprocess.Popen(
            [KYMO, "run", "--ephemeral", "--config", f"{FOLDER}/kymo.json", "--out", f"{FOLDER}/out"],
            stderr=subprocess.PIPE, text=True, preexec_fn=bound)
        if not listening(self.process):
            sys.exit("datagrams: kymo did not start")
        time.sleep(0.2)
        self.before = self.used()

    def used(self):
        """Nanoseconds of CPU of each thread."""
        used = {}
        tasks = f"/proc/{self.process.pid}/task"
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/comm") as comm, open(f"{tasks}/{task}/schedstat") as times:
                name = comm.read().strip()
                used[name] = used.get(name, 0) + int(times.read().split()[0])
        return used

    def finish(self):
        """Readings that were accepted, and nanoseconds of CPU by thread since the start."""
        time.sleep(0.3)
        after = self.used()
        self.process.terminate()
        summary = self.process.communicate(timeout=120)[1]
        if self.process.returncode != 0:
            sys.exit(f"datagrams: kymo failed:\n{summary}")
        return number(r"accepted (\d+)", summary), {
            name: used - self.before.get(name, 0) for name, used in after.items()}


def pipeline(path, rate, together, coalesces):
    run = Pipeline(WORKLOAD + "/", coalesces, on(RECEIVING))
    sent, _ = send(path, SIZE, run.port, rate, together)
    accepted, used = run.finish()
    return sent - accepted, sum(used.values()) / max(accepted, 1)


# MARK: One reading in a datagram

def compare(title, rate, together=1, coalesces=False):
    """Nanoseconds of a bare receiver, a lane, and the whole pipeline, in turns; the medians."""
    path = f"{FOLDER}/single"
    readings.write(path, "ndjson", int(rate * SECONDS), 1, SIZE, SIZE)
    taken = {bare: [], lane: [], pipeline: []}
    lost = {bare: 0, lane: 0, pipeline: 0}
    for _ in range(TURNS):
        for receiver in taken:
            missing, each = receiver(path, rate, together, coalesces)
            taken[receiver].append(each)
            lost[receiver] += missing
    base, ours, whole = (statistics.median(taken[receiver]) for receiver in (bare, lane, pipeline))
    print(f"{title}, {rate:,}/s: bare {base:,.0f} ns, lane {ours:,.0f} ns, pipeline {whole:,.0f} ns; "
          f"lost {lost[bare]}, {lost[lane]}, {lost[pipeline]}", flush=True)
    return base, ours, whole


def one():
    for rate in PLAIN_RATES:
        base, ours, whole = compare("plain senders", rate)
        check(f"a lane, plain senders of {rate:,}/s, against C", ours / base, 1.35, "times")
        check(f"the pipeline, plain senders of {rate:,}/s, against C", whole / base, 1.35, "times")
    base, ours, whole = compare("40 sent together", SEGMENT_RATE, TOGETHER)
    check("a lane, 40 sent together, against C", ours / base, 1.35, "times")
    check("the pipeline, 40 sent together, against C", whole / base, 1.35, "times")
    base, ours, whole = compare("40 sent and received together", COALESCED_RATE, TOGETHER, coalesces=True)
    print(f"  a lane takes {ours / base:.2f} times the time of C: it counts and hands on each datagram", flush=True)
    check("the pipeline, 40 received together", whole, 350, "ns")


# MARK: Several readings in a datagram

FORMS = (("NDJSON, 13 in 1,400 B", "ndjson", 13, 105, 1_400), ("an array, 13 in 1,400 B", "array", 13, 105, 1_400),
         ("NDJSON, 40 in 8 KiB", "ndjson", 40, 200, 8_192), ("binary frames, 48 in 1,400 B", "frames", 48, 0, 1_400))


def attempt(path, form, each, size, rate):
    """Sends `path` at `rate` readings a second: those sent a second, those lost, CPU of the lane and of all per reading."""
    run = Pipeline("heart-rate-strap" if form == "frames" else WORKLOAD + "/")
    sent, seconds = send(path, size, run.port, rate / each, bound=None)
    accepted, used = run.finish()
    lanes = sum(time for name, time in used.items() if name.startswith("kymo-lane"))
    return (sent * each / seconds, sent * each - accepted, lanes / max(accepted, 1),
            sum(used.values()) / max(accepted, 1))


def batch():
    for title, form, each, reading, size in FORMS:
        path = f"{FOLDER}/batch"
        best = None
        for rate in [AT_LEAST * 1.02 * 1.2 ** step for step in range(1 if SHORT else 6)]:
            readings.write(path, form, int(rate * SECONDS), each, reading, size)
            # Time slices that other processes get are not what is measured: one of three tries must lose nothing.
            for _ in range(3):
                result = attempt(path, form, each, size, rate)
                if result[1] == 0 or best is None:
                    best = result
                if result[1] == 0:
                    break
            if result[1] > 0:
                break
        real, lost, of_lane, of_all = best
        print(f"{title}: {real:,.0f} readings/s, {lost:,} lost; {of_lane:.0f} ns of CPU in the lane, {of_all:.0f} ns in all, "
              f"{1e9 / of_all:,.0f} per CPU-second", flush=True)
        check(f"{title}, readings/s without loss", real if lost == 0 else 0, AT_LEAST, "", most=False)


PARTS = {"one": one, "batch": batch}
print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
for name in [word for word in sys.argv[5:] if word in PARTS] or PARTS:
    PARTS[name]()
sys.exit(1 if failed else 0)
