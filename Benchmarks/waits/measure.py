"""measure.py KYMO MAPPING [--short] [latency] [throughput] [lanes]: called by waits.sh.

All figures are medians of runs in turns: what others do on the machine then strikes all alike."""
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from running import cpu_seconds, free_port, run

KYMO, MAPPING = sys.argv[1:3]
SHORT = "--short" in sys.argv[3:]
ROUNDS = 1 if SHORT else 5
SECONDS = 1 if SHORT else 4
WAITS = ("sleep", "yield", "spin")
RATES = (1_000, 20_000)
START_MS = 1_767_225_600_000
UDP_SEGMENT = 103
SIZE = 200
TOGETHER = 40
SENDERS = 4
OFFERED = (300_000, 600_000)


def medians(runs):
    return [statistics.median(column) for column in zip(*runs)]


def latency_run(wait, rate):
    """p50 and p99 in microseconds, and the part of a processor that the pipeline took."""
    address = f"127.0.0.1:{free_port()}"
    pipeline = subprocess.Popen(
        [KYMO, "run", "--ephemeral", "--udp", address, "--format", "ndjson"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**os.environ, "KYMO_OUTPUT_MAX_AGE": "0s", "KYMO_WAIT": wait})
    try:
        time.sleep(0.3)
        before, begun = cpu_seconds(pipeline), time.monotonic()
        text = subprocess.run(
            [KYMO, "simulate", "--latency", "--udp", address, "--devices", "100", "--rate", str(rate / 100),
             "--duration", f"{SECONDS}s"], stdin=pipeline.stdout, capture_output=True, text=True, check=True,
            timeout=120).stdout
        used = (cpu_seconds(pipeline) - before) / (time.monotonic() - begun) * 100
    finally:
        pipeline.kill()
        pipeline.wait()
    figures = [float(word) for word in re.search(r"^latency (.*)$", text, re.MULTILINE)[1].split()]
    return figures[0], figures[2], used


def latency():
    print(f"{'wait':8} {'readings/s':>10} {'p50 us':>9} {'p99 us':>9} {'CPU %':>7}")
    for rate in RATES:
        runs = {wait: [] for wait in WAITS}
        for _ in range(ROUNDS):
            for wait in WAITS:
                runs[wait].append(latency_run(wait, rate))
        for wait in WAITS:
            middle, tail, used = medians(runs[wait])
            print(f"{wait:8} {rate:10,} {middle:9.0f} {tail:9.0f} {used:7.1f}", flush=True)


def lines(count):
    """Readings of 1,000 devices, a millisecond after each other."""
    return b"".join(b'{"device":"dev-%05d","ts":%d,"type":"heart-rate","value":%d,"unit":"bpm","seq":1,"batt":77}\n'
                    % (number % 1_000, START_MS + number, 60 + number % 90) for number in range(count))


def throughput_run(wait, path, count):
    """CPU and wall seconds."""
    done = run(
        [KYMO, "run", "--stdin", "--ephemeral", "--mapping", MAPPING, "--window", "10s", "--format", "ndjson"], path,
        subprocess.DEVNULL, KYMO_WAIT=wait)
    if f"accepted {count} " not in done.text:
        sys.exit(f"waits: {count} readings were sent, and kymo said:\n{done.text}")
    return done.cpu, done.wall


def throughput():
    count = 100_000 if SHORT else 1_000_000
    path = os.path.join(tempfile.gettempdir(), f"kymo-waits-{os.getpid()}.ndjson")
    try:
        with open(path, "wb") as file:
            file.write(lines(count))
        runs = {wait: [] for wait in WAITS}
        for _ in range(ROUNDS):
            for wait in WAITS:
                runs[wait].append(throughput_run(wait, path, count))
    finally:
        os.remove(path)
    print(f"{'wait':8} {'CPU us a reading':>17} {'wall us a reading':>18}")
    for wait in WAITS:
        used, wall = medians(runs[wait])
        print(f"{wait:8} {used / count * 1e6:17.3f} {wall / count * 1e6:18.3f}", flush=True)


def datagram(number):
    text = (f'{{"device":"dev-{number % 1_000:05d}","ts":{START_MS + number},"type":"heart-rate",'
            f'"value":{60 + number % 90},"unit":"bpm","note":"')
    return (text + "x" * (SIZE - len(text) - 2) + '"}').encode()


def send(port, groups, rate):
    """Sends all groups at `rate` readings a second."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(("127.0.0.1", port))
        out.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SIZE)
        begun = time.monotonic()
        for number, group in enumerate(groups):
            if number % 10 == 0:
                time.sleep(max(0.0, begun + number * TOGETHER / rate - time.monotonic()))
            out.send(group)


def lanes_run(lanes, groups, rate):
    """Readings taken a second, part of what was sent, and CPU microseconds each."""
    port = free_port()
    pipeline = subprocess.Popen(
        [KYMO, "run", "--ephemeral", "--udp", f"127.0.0.1:{port}", "--mapping", MAPPING, "--window", "10s", "--format",
         "ndjson", "--lanes", str(lanes), "--shards", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "KYMO_LIMITS_ARCHIVE_BYTES": "4MiB"})
    time.sleep(0.5)
    before, begun = cpu_seconds(pipeline), time.monotonic()
    # A process each: the kernel gives a sender to one of the lanes.
    senders = []
    for sender in range(SENDERS):
        child = os.fork()
        if child == 0:
            send(port, groups[sender], rate / SENDERS)
            os._exit(0)
        senders.append(child)
    for child in senders:
        os.waitpid(child, 0)
    seconds = time.monotonic() - begun
    time.sleep(0.3)
    used = cpu_seconds(pipeline) - before
    pipeline.terminate()
    summary = pipeline.communicate()[1].decode()
    taken = int(re.search(r"accepted (\d+)", summary)[1])
    sent = sum(len(part) for part in groups) * TOGETHER
    return taken / seconds, taken / sent * 100, used / taken * 1e6


def lanes():
    count = (20_000 if SHORT else 400_000) // TOGETHER * TOGETHER
    groups = []
    for sender in range(SENDERS):
        numbers = range(sender, count * SENDERS, SENDERS)
        payloads = [datagram(number) for number in numbers]
        groups.append([b"".join(payloads[at:at + TOGETHER]) for at in range(0, count, TOGETHER)])
    print(f"{'lanes':8} {'offered/s':>10} {'taken/s':>10} {'of sent %':>10} {'CPU us each':>12}")
    for rate in OFFERED:
        runs = {number: [] for number in (1, 2)}
        for _ in range(ROUNDS):
            for number in runs:
                runs[number].append(lanes_run(number, groups, rate))
        for number, figures in runs.items():
            taken, part, used = medians(figures)
            print(f"{number:<8} {rate:10,} {taken:10,.0f} {part:10.1f} {used:12.2f}", flush=True)


PARTS = {"latency": latency, "throughput": throughput, "lanes": lanes}
wanted = [name for name in sys.argv[3:] if name in PARTS] or list(PARTS)
print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
for name in wanted:
    PARTS[name]()
