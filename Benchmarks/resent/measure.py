"""measure.py KYMO FOLDER WORKLOAD: CPU of a re-sent reading beside that of a fresh one; called by resent.sh.

CPU time is that of the whole process, all threads, user and system; of each row the best of some rounds counts. What
starting costs is measured with an empty input, and taken off. The exit status is 1 where a ratio is above what is promised."""
import json
import os
import shutil
import sys

import running

KYMO, FOLDER, WORKLOAD = sys.argv[1:]
ROUNDS = 5
START_MS = 1_767_225_600_000
READINGS = 200_000
# What a closed window in memory spares is not what is measured.
LITTLE = {"KYMO_LIMITS_ARCHIVE_BYTES": "64KiB"}


def line(device, milliseconds, value):
    return f'{{"device":"dev-{device:05}","ts":{milliseconds},"type":"heart-rate","value":{value},"seq":1}}\n'


def sparse(new=0):
    """1,000 devices, a reading a minute; with `new`, one in so many has another behind it."""
    for minute in range(READINGS // 1_000):
        for device in range(1_000):
            at = START_MS + minute * 60_000 + device * 7
            yield line(device, at, 60 + (minute * 7 + device) % 90)
            if new and (minute * 1_000 + device) % new == 0:
                yield line(device, at + 20_000, 60)


def dense():
    """10 devices, a reading a second."""
    for second in range(READINGS // 10):
        for device in range(10):
            yield line(device, START_MS + second * 1_000, 60 + (second * 7 + device) % 90)


def write(name, *parts):
    with open(f"{FOLDER}/{name}", "w") as file:
        for part in parts:
            file.writelines(part)


def mappings(period):
    """The workload's mappings with windows of `period`."""
    folder = f"{FOLDER}/mappings-{period}"
    os.mkdir(folder)
    for name in os.listdir(WORKLOAD):
        with open(f"{WORKLOAD}/{name}") as source, open(f"{folder}/{name}", "w") as target:
            target.write(source.read().replace('"period": "5m"', f'"period": {json.dumps(period)}'))
    return folder


def clear():
    for name in ("data", "out"):
        shutil.rmtree(f"{FOLDER}/{name}", ignore_errors=True)


def run(name, folder, received, accepted, **extra):
    """CPU seconds and peak MiB of a run, which must account for every reading."""
    command = [KYMO, "run", "--stdin", "--mapping", folder, "--data", f"{FOLDER}/data", "--out", f"{FOLDER}/out"]
    done = running.run(command, f"{FOLDER}/{name}", **extra)
    wanted = f"received {received} = accepted {accepted} + duplicate {received - accepted} + conflict 0 + rejected 0"
    if done.status != 0 or wanted not in done.text:
        sys.exit(f"resent: expected '{wanted}', and kymo said:\n{done.text}")
    return done.cpu, done.memory


def best(measure):
    return tuple(min(column) for column in zip(*(measure() for _ in range(ROUNDS))))


def restarted(name, again, folder, new):
    """Fresh and again, in two runs: CPU and MiB of each."""
    clear()
    fresh = run(name, folder, READINGS, READINGS)
    return fresh + run(again, folder, READINGS + new, new)


def at_once(name, twice, folder):
    """Fresh alone, and in another run fresh and again: CPU and MiB of each."""
    clear()
    fresh = run(name, folder, READINGS, READINGS, **LITTLE)
    clear()
    return fresh + run(twice, folder, 2 * READINGS, READINGS, **LITTLE)


def report(label, most, start, figures, is_one_run):
    """Prints a row: of one run, the second part alone is what came again. Whether that costs `most` times at most."""
    fresh, memory, again, peak = figures
    cost = (fresh - start) / READINGS * 1e6
    more = (again - (fresh if is_one_run else start)) / READINGS * 1e6
    ratio = more / cost
    verdict = "" if ratio <= most else "  EXCEEDED"
    print(f"{label:58} {cost:6.2f} {more:8.2f} us {ratio:6.2f} times, at most {most}{verdict}"
          f"   {memory:4.0f} {peak:4.0f} MiB", flush=True)
    return ratio <= most


def starting(folder):
    clear()
    return run("nothing", folder, 0, 0)


def main():
    short, day = mappings("5m"), mappings("24h")
    write("nothing")
    write("sparse", sparse())
    write("partly", sparse(100))
    write("sparse-twice", sparse(), sparse())
    write("dense", dense())
    write("dense-twice", dense(), dense())
    start = best(lambda: starting(short))[0]
    print(f"{'CPU of a reading, and peak memory':58}  fresh  re-sent", flush=True)
    new = READINGS // 100
    rows = [
        ("5 readings a window, after a restart", 2, lambda: restarted("sparse", "sparse", short, 0), False),
        ("the same, 1 in 100 new", 2, lambda: restarted("sparse", "partly", short, new), False),
        ("the same, in one run", 2, lambda: at_once("sparse", "sparse-twice", short), True),
        ("windows of a day, after a restart", 2, lambda: restarted("dense", "dense", day, 0), False),
        ("the same, still open", 2, lambda: at_once("dense", "dense-twice", day), True),
    ]
    good = [report(label, most, start, best(measure), is_one_run) for label, most, measure, is_one_run in rows]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
