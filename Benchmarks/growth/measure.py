"""measure.py KYMO FOLDER WORKLOAD [--short]: how cost and memory grow; called by growth.sh.

A cost is CPU time of the whole process, all threads, user and system. Each is the difference of two runs of the same
kind and different length, so that starting, first windows and the end do not count. Where a figure is above what is
promised, the exit status is 1."""
import json
import os
import subprocess
import sys
import time

from running import cpu_seconds, listening, peak_memory

KYMO, FOLDER, WORKLOAD = sys.argv[1:4]
SHORT = "--short" in sys.argv[4:]
START_MS = 1_767_225_600_000
PLACE = b"@@@@@@@@@@@@@"
BLOCK = 1 << 20
# All readings must be kept: what is measured is work, not refusing it.
LIMITS = {"KYMO_LIMITS_DEVICES": "4000000", "KYMO_LIMITS_SERIES": "4000000", "KYMO_LIMITS_WINDOWS": "4000000",
          "KYMO_LIMITS_ARCHIVE_BYTES": "8MiB"}
failed = []


def check(label, value, most, unit):
    """Prints a figure beside the most that it may be."""
    verdict = "" if value <= most else "  EXCEEDED"
    print(f"{label:70} {value:9.2f} {unit}, at most {most:g}{verdict}", flush=True)
    if value > most:
        failed.append(label)


def start(arguments, **extra):
    """A pipeline that reads standard input and writes NDJSON to nowhere."""
    with open("/dev/null", "wb") as nowhere:
        return subprocess.Popen(
            [KYMO, "run", "--stdin", "--ephemeral", "--format", "ndjson", *arguments],
            stdin=subprocess.PIPE, stdout=nowhere, stderr=subprocess.PIPE, env={**os.environ, **LIMITS, **extra})


def finish(process, readings):
    """CPU seconds and peak MiB of a pipeline whose input has ended; every reading must have been accepted.

    The peak is not that of wait4: a process inherits the one of whoever started it, and this one may be larger."""
    process.stdin.close()
    peak = 0
    while (present := peak_memory(process)) is not None:
        peak = max(peak, present)
        time.sleep(0.001)
    summary = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or f"accepted {readings} " not in summary:
        sys.exit(f"growth: {readings} readings were sent, and kymo said:\n{summary}")
    return usage.ru_utime + usage.ru_stime, peak


def lines(series, kind=b"heart-rate"):
    """A reading of each series, with a place for the time."""
    return b"".join(b'{"device":"dev-%07d","ts":%s,"type":"%s","value":%d,"unit":"bpm","seq":1,"batt":77}\n'
                    % (number, PLACE, kind, 100 + number % 60) for number in range(series))


def feed(process, block, rounds, step_ms, begin_ms=START_MS):
    """Writes `rounds` readings of each series, `step_ms` apart."""
    waiting = []
    size = 0
    for turn in range(rounds):
        waiting.append(block.replace(PLACE, b"%013d" % (begin_ms + turn * step_ms)))
        size += len(block)
        if size >= BLOCK:
            process.stdin.write(b"".join(waiting))
            waiting, size = [], 0
    process.stdin.write(b"".join(waiting))


def run(series, rounds, step_ms, arguments, **extra):
    """CPU seconds and peak MiB of one run over all rounds."""
    process = start(arguments, **extra)
    feed(process, lines(series), rounds, step_ms)
    return finish(process, series * rounds)


def cost(series, few, many, step_ms, arguments, **extra):
    """Nanoseconds of CPU that a reading takes: what `many` rounds take more than `few`. The best of three tries: load
    of others can only add."""
    per_reading = []
    for _ in range(1 if SHORT else 3):
        first, _ = run(series, few, step_ms, arguments, **extra)
        second, _ = run(series, many, step_ms, arguments, **extra)
        per_reading.append((second - first) * 1e9 / (series * (many - few)))
    return min(per_reading)


def workload(*more, window="5m"):
    """Arguments with the workload's mapping and its windows as long as `window`: its templates name a period, which
    `--window` leaves as it is."""
    folder = os.path.join(FOLDER, f"workload-{window}")
    os.makedirs(folder, exist_ok=True)
    for name in ("device.json", "fhir.json"):
        with open(os.path.join(WORKLOAD, name)) as file:
            text = file.read()
        assert name == "device.json" or '"period": "5m"' in text
        with open(os.path.join(folder, name), "w") as file:
            file.write(text.replace('"period": "5m"', f'"period": "{window}"'))
    return ["--mapping", folder, *([] if "--idle" in more else ["--idle", "0s"]), *more]


def over_series():
    """Windows of 16 readings each, whatever the number of series."""
    step_ms = 300_000 // 16
    sizes = [10, 1_000, 30_000] if SHORT else [10, 1_000, 100_000, 1_000_000]
    costs = []
    for series in sizes:
        rounds = max(16, 2_000_000 // series // 16 * 16) if not SHORT else max(16, 400_000 // series // 16 * 16)
        costs.append(cost(series, rounds, 2 * rounds, step_ms, workload("--window", "5m", "--lateness", "0s")))
        print(f"  {series:9,} series: {costs[-1]:7.0f} ns a reading", flush=True)
    check(f"a reading among {sizes[-1]:,} series, against {sizes[0]}", costs[-1] / costs[0], 1.3, "times")


def over_lengths():
    """1 Hz of 100 devices for a day."""
    hours = 2 if SHORT else 24
    spans = [("1m", "1 minute"), ("5m", "5 minutes"), ("1h", "1 hour")] + ([] if SHORT else [("24h", "24 hours")])
    costs = []
    for window, name in spans:
        costs.append(cost(50, hours * 3_600, 2 * hours * 3_600, 1_000, workload("--lateness", "0s", window=window),
                          KYMO_LIMITS_READINGS_PER_WINDOW="100000"))
        print(f"  windows of {name:9}: {costs[-1]:7.0f} ns a reading", flush=True)
    check(f"a reading in windows of {spans[-1][1]}, against 1 minute", costs[-1] / costs[0], 1.3, "times")


def memory():
    """Peak memory while windows of all series are open, and of half of them: of less, the start is the peak."""
    series = 100_000 if SHORT else 1_000_000
    _, half = run(series // 2, 1, 1_000, workload())
    _, one = run(series, 1, 1_000, workload())
    _, more = run(series, 16, 1_000, workload())
    check(f"{series:,} open windows with a reading each", one, 100 if SHORT else 600, "MiB")
    print(f"  a window with one reading: {(one - half) * 2**20 / (series - series // 2):.0f} B; "
          f"each of 15 more: {(more - one) * 2**20 / series / 15:.0f} B", flush=True)


def long_windows():
    """Peak memory of windows of a day with many readings, beside fewer: with few, the start would be the peak."""
    series, few, many = 1_000, 4_000, 8_000
    peaks = [run(series, rounds, 1_000, workload(window="24h"), KYMO_LIMITS_READINGS_PER_WINDOW="100000")[1]
             for rounds in (few, many)]
    print(f"  windows of {few:,} and {many:,} readings: {peaks[0]:.1f} and {peaks[1]:.1f} MiB", flush=True)
    check(f"a reading of {many - few:,} more in each of {series:,} windows of a day",
          (peaks[1] - peaks[0]) * 2**20 / series / (many - few), 6, "B")


def quiet():
    """Series that get a reading now and then: their windows close because they are quiet, one after the other."""
    rate = 5_000 if SHORT else 20_000
    costs = []
    for series in ([20_000, 100_000] if SHORT else [100_000, 1_000_000]):
        costs.append(trickle(series, rate))
        print(f"  {series:9,} series, {rate:,} readings/s: {costs[-1]:7.0f} ns a reading", flush=True)
    check("a reading of a quiet series, of 10 times as many, against one", costs[1] / costs[0], 1.3, "times")


def trickle(series, rate):
    """Nanoseconds of CPU for each of `rate` readings a second, each of another one of `series` that are known."""
    process = start(workload("--window", "5m", "--idle", "2s"))
    block = lines(series)
    feed(process, block, 1, 1_000)
    process.stdin.flush()
    wait_until_idle(process)
    size = len(block) // series
    begun, before = time.monotonic(), cpu_seconds(process)
    seconds = 3 if SHORT else 5
    for turn in range(seconds * 100):
        first = turn * rate // 100 % (series - rate)
        part = block[first * size:(first + rate // 100) * size]
        process.stdin.write(part.replace(PLACE, b"%013d" % (START_MS + 3_600_000 + turn)))
        process.stdin.flush()
        time.sleep(max(0.0, begun + (turn + 1) / 100 - time.monotonic()))
    used = cpu_seconds(process) - before
    sent = seconds * rate
    finish(process, series + sent)
    return used * 1e9 / sent


def wait_until_idle(process):
    """Until the process does nothing any more."""
    before, quiet_for = cpu_seconds(process), 0
    while quiet_for < 2:
        time.sleep(1.5)
        now = cpu_seconds(process)
        quiet_for = quiet_for + 1 if now - before < 0.05 else 0
        before = now


def start_up():
    """From the start of the process until it listens, with a source for every mapping of the catalogue: the median."""
    names = catalogue()
    file = os.path.join(FOLDER, "catalogue.json")
    with open(file, "w") as text:
        json.dump({"sources": [{"udp": "127.0.0.1:0", "mappings": [name]} for name in names]}, text)
    taken = []
    for _ in range(7 if SHORT else 21):
        begun = time.perf_counter()
        process = subprocess.Popen([KYMO, "run", "--ephemeral", "--config", file],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if listening(process):
            taken.append((time.perf_counter() - begun) * 1_000)
        process.terminate()
        process.communicate()
    if len(taken) == 0:
        sys.exit("growth: kymo did not start")
    check(f"start with {len(names)} mappings until it listens", sorted(taken)[len(taken) // 2], 50, "ms")


def catalogue():
    """Names of the mappings that are in the program."""
    table = subprocess.run([KYMO, "mappings"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in table.splitlines() if line.strip()]


def templates():
    """The same readings, of a mapping of 1 template and of 200."""
    costs = []
    for count in (1, 200):
        folder = os.path.join(FOLDER, f"templates-{count}")
        os.makedirs(folder, exist_ok=True)
        write_mapping(folder, count)
        costs.append(cost(100, 1_000, 5_000 if SHORT else 21_000, 1_000, ["--mapping", folder + "/", "--window", "5m",
                                                               "--idle", "0s"]))
        print(f"  {count:3} templates: {costs[-1]:7.0f} ns a reading", flush=True)
    check("a reading of 200 templates, against 1", costs[1] / costs[0], 2, "times")


def write_mapping(folder, count):
    """`count` templates that tell their readings by type; the last one is the workload's heart rate."""
    with open(os.path.join(WORKLOAD, "device.json")) as file:
        device = json.load(file)
    with open(os.path.join(WORKLOAD, "fhir.json")) as file:
        fhir = json.load(file)
    rate = device["template"][0]
    assert rate["template"]["typeName"] == "heartRate" and fhir["template"][0]["template"]["typeName"] == "heartRate"
    others = []
    for number in range(count - 1):
        other = json.loads(json.dumps(rate))
        other["template"]["typeName"] = f"type{number}"
        other["template"]["typeMatchExpression"] = f"$..[?(@type == 'type-{number}')]"
        others.append(other)
    device["template"] = others + [rate]
    kinds = []
    for number in range(count - 1):
        kind = json.loads(json.dumps(fhir["template"][0]))
        kind["template"]["typeName"] = f"type{number}"
        kinds.append(kind)
    fhir["template"] = kinds + [fhir["template"][0]]
    for name, content in (("device", device), ("fhir", fhir)):
        with open(os.path.join(folder, f"{name}.json"), "w") as file:
            json.dump(content, file)


def idle():
    """A pipeline with a store that nothing comes to."""
    process = subprocess.Popen(
        [KYMO, "run", "--udp", "127.0.0.1:0", "--unix", os.path.join(FOLDER, "idle.sock"),
         "--data", os.path.join(FOLDER, "idle"), "--out", os.path.join(FOLDER, "idle-out")], stderr=subprocess.DEVNULL)
    time.sleep(3)
    before, seconds = cpu_seconds(process), 5 if SHORT else 20
    time.sleep(seconds)
    used = (cpu_seconds(process) - before) / seconds * 100
    process.terminate()
    process.wait()
    check("doing nothing, part of a processor", used, 0.5, "%")


PARTS = {"series": over_series, "lengths": over_lengths, "memory": memory, "long": long_windows, "quiet": quiet, "start": start_up,
         "templates": templates, "idle": idle}
wanted = [name for name in sys.argv[4:] if name in PARTS] or list(PARTS)
print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
for name in wanted:
    PARTS[name]()
sys.exit(1 if failed else 0)
