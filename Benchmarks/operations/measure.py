"""measure.py KYMO FOLDER MOST_MS [--short] [hung] [scrape]: called by operations.sh.

Of a process that does little, CPU time is measured against the time that has passed. Where a figure is above what is
promised, the exit status is 1."""
import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from running import cpu_seconds, free_port

KYMO, FOLDER, MOST_MS = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
SHORT = "--short" in sys.argv[4:]
RECORDER = Path(__file__).resolve().parents[2] / "Tests/Servers/fhir_recorder.py"
START = 1_772_352_000
DEVICES = 100
RATE = 1_000
SECONDS = 5 if SHORT else 20
MOST_SHARE, MOST_SERIES, MOST_BYTES = 5, 5_000, 1 << 20
SCRAPES = 51
failed = []


def check(label, value, most, unit):
    """Prints a figure beside the most that it may be."""
    verdict = "" if value <= most else "  EXCEEDED"
    print(f"{label:72} {value:11,.2f} {unit}, at most {most:,}{verdict}", flush=True)
    if value > most:
        failed.append(label)


def until(what, condition):
    """Waits for what must come: it fails with what it waited for, and never passes without it."""
    end = time.monotonic() + 60
    while not (found := condition()):
        if time.monotonic() > end:
            sys.exit(f"operations: after 60 s there is still not: {what}")
        time.sleep(0.05)
    return found


class Instance:
    """A process with the configuration `settings`, whose data, log and sockets have names of their own."""

    def __init__(self, name, settings):
        self.name, self.port = name, free_port(socket.SOCK_STREAM)
        self.log = FOLDER / f"{name}.log"
        file = FOLDER / f"{name}.yaml"
        file.write_text(json.dumps(settings | {"http": {"admin": f"127.0.0.1:{self.port}"}, "window": "10s", "idle": "1s"}))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([KYMO, "run", "--config", file], stdout=subprocess.DEVNULL, stderr=log)
        until(f"readiness of {name}", lambda: self.get("/readyz")[0] == 200)

    def get(self, path):
        """Status and text of an answer; 0 for none."""
        if self.process.poll() is not None:
            sys.exit(f"operations: {self.name} has ended:\n{self.log.read_text()}")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""

    def metric(self, name):
        """The sum of a metric over its labels; 0 where there is none."""
        found = series(self.get("/metrics")[1])
        return sum(value for key, value in found.items() if key.split("{")[0] == name)

    def end(self):
        self.process.kill()
        self.process.wait()


def series(text):
    """The values of an answer by their names with labels."""
    return {name: float(value) for name, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


class Silence(threading.Thread):
    """What accepts every connection, reads nothing, and never answers; `accepted` counts."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1_024)
        self.port, self.accepted, self.held = self.listener.getsockname()[1], 0, []
        self.start()

    def run(self):
        while True:
            self.held.append(self.listener.accept()[0])
            self.accepted += 1


def lines(first, count):
    """Readings `first` and on: a second of event time has one of each device."""
    return b"".join(
        b'{"deviceId":"bed-%d","type":"heartRate","timestamp":"%s","value":%d,"unit":"/min"}\n'
        % (number % DEVICES, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START + number // DEVICES)).encode(),
           60 + number % 40)
        for number in range(first, first + count))


def to_sink(name, sink):
    """An instance with one sink, and readings of 200 s that have been sent to it."""
    at = FOLDER / name
    instance = Instance(name, {
        "sources": [{"unix": f"{at}.sock"}], "sinks": [{"name": "sink", "timeout": "1s"} | sink], "data": f"{at}-data"})
    instance.client = socket.socket(socket.AF_UNIX)
    instance.client.connect(f"{at}.sock")
    instance.sent = 200 * DEVICES
    instance.client.sendall(lines(0, instance.sent))
    until("all readings in windows that are closed", lambda: instance.metric("kymo_windows_closed_total") >= 20 * DEVICES)
    return instance


def send_at_rate(instances, seconds):
    """Sends each of `instances` the same, RATE readings a second."""
    begun = time.monotonic()
    for turn in range(int(seconds * 20)):
        for instance in instances:
            instance.client.sendall(lines(instance.sent, RATE // 20))
            instance.sent += RATE // 20
        time.sleep(max(0.0, begun + (turn + 1) / 20 - time.monotonic()))


def hung():
    """CPU time beside sinks that never answer."""
    with contextlib.ExitStack() as stack:
        silences = {name: Silence() for name in ("server", "postgres", "kafka")}
        places = {
            "server": {"server": "http://127.0.0.1:{}/fhir", "identity": "create"},
            "postgres": {"postgres": "postgres://kymo@127.0.0.1:{}/readings"},
            "kafka": {"kafka": "kafka://127.0.0.1:{}/observations"},
        }
        instances = {}
        for name, place in places.items():
            port = silences[name].port
            sink = {key: value.format(port) for key, value in place.items()}
            instances[name] = to_sink(f"hung-{name}", sink)
            stack.callback(instances[name].end)
        for name, instance in instances.items():
            until(f"a connection to the {name}", lambda: silences[name].accepted)
            until(f"entries that wait for the {name}", lambda: instance.metric("kymo_outbox_entries"))
        idle(instances, silences)
        recorder = subprocess.Popen(
            [sys.executable, "-B", RECORDER, os.devnull], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        stack.callback(recorder.wait)
        stack.callback(recorder.terminate)
        port = int(recorder.stdout.readline())
        answered = to_sink("answered", {"server": f"http://127.0.0.1:{port}", "identity": "create"})
        stack.callback(answered.end)
        until("entries that were delivered", lambda: answered.metric("kymo_outbox_entries") == 0)
        busy(instances["server"], answered)


def idle(instances, silences):
    """While nothing comes: all at the same time, each by its own CPU time."""
    before = {name: cpu_seconds(instance.process) for name, instance in instances.items()}
    accepted = {name: silence.accepted for name, silence in silences.items()}
    begun = time.monotonic()
    time.sleep(SECONDS)
    passed = time.monotonic() - begun
    for name, instance in instances.items():
        share = (cpu_seconds(instance.process) - before[name]) / passed * 100
        waiting = int(instance.metric("kymo_outbox_entries"))
        if not waiting:
            sys.exit(f"operations: nothing waits for the {name} any more")
        print(f"  {name}: {waiting:,} entries wait; {silences[name].accepted - accepted[name]} connections in {passed:.0f} s")
        check(f"nothing comes, the {name} hangs, part of a processor", share, MOST_SHARE, "%")


def busy(hanging, answered):
    """While readings come: as many to both, at the same time."""
    both = (hanging, answered)
    before = [cpu_seconds(instance.process) for instance in both]
    begun = time.monotonic()
    send_at_rate(both, SECONDS)
    shares = [(cpu_seconds(instance.process) - used) / (time.monotonic() - begun) * 100
              for instance, used in zip(both, before)]
    for instance in both:
        until(f"{instance.sent} readings in {instance.name}",
              lambda: instance.metric("kymo_readings_received_total") == instance.sent)
    if answered.metric("kymo_sink_entries_total") <= 0 or hanging.metric("kymo_outbox_entries") <= 0:
        sys.exit("operations: the server that answers got nothing, or the one that hangs did")
    print(f"  {RATE:,} readings/s: {shares[0]:.2f} % of a processor beside a server that hangs, "
          f"{shares[1]:.2f} % beside one that answers")
    check("readings come, the server hangs, more than beside one that answers", shares[0] - shares[1], MOST_SHARE, "%")


def with_sources(count):
    """An instance with so many sources."""
    folder = FOLDER / f"sources-{count}"
    folder.mkdir()
    return Instance(f"sources-{count}", {
        "sources": [{"unix": f"{folder}/{number}.sock", "name": f"ward-{number:04d}"} for number in range(count)],
        "sinks": [{"to": f"{folder}/out"}], "data": f"{folder}/data"})


def scrape():
    """Series, bytes and time of a scrape."""
    few, some = (counted(with_sources(count)) for count in (1, 11))
    each = (some - few) // 10
    if each < 5:
        sys.exit(f"operations: a source has {each} series")
    fitting = (MOST_SERIES - few) // each
    for count, label in ((fitting, "almost as many series as there may be"), (2 * fitting, "twice as many")):
        scraped(with_sources(count), label, few + (count - 1) * each)


def await_all(instance):
    """The first look at the store and the disks must be over."""
    names = ("kymo_store_bytes", "kymo_store_limit_bytes", "kymo_disk_free_bytes")
    until("all metrics", lambda: all(instance.metric(name) > 0 for name in names))


def counted(instance):
    """The series of an instance, which is ended then."""
    await_all(instance)
    found = len(series(instance.get("/metrics")[1]))
    instance.end()
    return found


def scraped(instance, label, wanted):
    """Scrapes an instance, which would have `wanted` series if it might."""
    await_all(instance)
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=60)
    times, used = [], cpu_seconds(instance.process)
    for _ in range(SCRAPES):
        begun = time.perf_counter()
        connection.request("GET", "/metrics")
        text = connection.getresponse().read()
        times.append((time.perf_counter() - begun) * 1_000)
    used = (cpu_seconds(instance.process) - used) / SCRAPES * 1_000
    instance.end()
    found = series(text.decode())
    dropped = int(found["kymo_metrics_dropped_series"])
    print(f"  {label}: {len(found):,} series in {len(text):,} bytes, {dropped:,} left out")
    print(f"  the longest scrape took {max(times):.1f} ms; one uses {used:.1f} ms of a processor")
    if len(found) + dropped != wanted:
        sys.exit(f"operations: there should be {wanted:,} series, shown or left out, and there are {len(found) + dropped:,}")
    check(f"series, {label}", len(found), MOST_SERIES, "series")
    check(f"bytes of an answer, {label}", len(text), MOST_BYTES, "bytes")
    check(f"a scrape, {label}, the median", sorted(times)[SCRAPES // 2], MOST_MS, "ms")


PARTS = {"hung": hung, "scrape": scrape}
wanted = [name for name in sys.argv[4:] if name in PARTS] or list(PARTS)
print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
for name in wanted:
    PARTS[name]()
sys.exit(1 if failed else 0)
