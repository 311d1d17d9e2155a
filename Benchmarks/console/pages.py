"""pages.py KYMO FOLDER PATIENTS: how fast the console's pages are in a real Chromium, and how large. Called by console.sh;
the exit status is 1 where something takes more than is promised."""
import contextlib
import json
import multiprocessing
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

from console_testing import Browser, Instance, Wire, reading, wait_until
from days import SECONDS, START, write_days
from promised import failed, report

KYMO, FOLDER, PATIENTS = sys.argv[1:3] + [int(sys.argv[3])] if __name__ == "__main__" else (None, None, 0)
ROUNDS = 5
SPAWN = multiprocessing.get_context("spawn")
PAGES = ["overview", "live", "timeline", "ledger", "letters", "playground", "mappings"]
MOST_BYTES, MOST_PAINT, MOST_LIST, MOST_DAY, MOST_WALL = 120_000, 300, 100, 500, 10
#: Series of the wall, and seconds for which it is measured.
SERIES, WALL = 1_000, 30
#: Devices of a day in which each sends once a minute.
FLEET, MINUTES = 1_000, 1_440
#: Notes when the first chart is painted, in milliseconds since the page was asked for.
NOTE = """const look = () => document.querySelector('.buckets svg')
    ? requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = performance.now(); }))
    : requestAnimationFrame(look);
look();"""
#: Goes to an address, and gives the milliseconds until its charts are painted.
SHOW = """([address, count]) => new Promise((resolve) => {
    const start = performance.now();
    location.hash = address;
    const look = () => document.querySelectorAll('.buckets svg').length >= count
        ? requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)))
        : requestAnimationFrame(look);
    look();
})"""


def opened(instance, page="overview"):
    """A browser without a cache that is logged in, on a page."""
    context = Browser.shared().new_context(viewport={"width": 1440, "height": 900})
    tab = context.new_page()
    tab.goto(instance.login("operate")[0])
    tab.wait_for_selector("nav a[aria-current]")
    tab.evaluate("name => { location.hash = name; }", f"#/{page}")
    tab.wait_for_selector(f'section[data-page="{page}"]')
    return tab


def loaded(tab):
    wait_until(lambda: tab.locator("main > section").get_attribute("data-state") not in ("loading", "initial"))


def sizes_and_paint(instance):
    for name in PAGES:
        tab = opened(instance, name)
        wire = Wire(tab)
        tab.reload()
        tab.wait_for_selector(f'section[data-page="{name}"]')
        tab.wait_for_timeout(2_500)
        report(f"bytes of the page {name}, with its data", wire.count, MOST_BYTES, "bytes")
        tab.context.close()
    paints = []
    for _ in range(ROUNDS):
        tab = opened(instance)
        tab.reload()
        loaded(tab)
        paints.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        tab.context.close()
    report("first paint, the median", statistics.median(paints), MOST_PAINT, "ms")


def list_of_devices(instance):
    """The answer of the list, as the page gets it."""
    fields, times = instance.operator(), []
    for _ in range(20):
        start = time.monotonic()
        status, _, _ = instance.get("/console/api/subjects", fields)
        times.append((time.monotonic() - start) * 1_000)
        if status != 200:
            sys.exit(f"console: status {status}")
    report("list of 1,000 devices, the median", statistics.median(times), MOST_LIST, "ms")


def send(port, ended):
    """A reading of each of the series each second."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while not ended.wait(max(0, 1 - time.time() % 1)):
        for number in range(SERIES):
            sender.sendto(reading(f"bed-{number}", 60 + (number + int(time.time())) % 30).encode(), ("127.0.0.1", port))
            if number % 50 == 0:
                time.sleep(0.005)


def processor_seconds():
    """CPU seconds of this program's children by their names, of those of the browser together: its page is one of several."""
    parents, seconds = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, fields = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            fields = fields.split()
            parents[folder.name] = fields[1]
            seconds[folder.name] = name, sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def is_ours(process):
        return process in parents and (parents[process] == str(os.getpid()) or is_ours(parents[process]))

    total = {"chrom": 0, "kymo": 0}
    for process, (name, used) in seconds.items():
        for kind in total:
            total[kind] += used if name.startswith(kind) and is_ours(process) else 0
    return total


def wall(instance):
    """CPU time of the browser that shows all series, each with a new reading a second, and of the instance."""
    ended = SPAWN.Event()
    sender = SPAWN.Process(target=send, args=(instance.udp, ended), daemon=True)
    sender.start()
    tab = opened(instance, "live")
    wait_until(lambda: tab.locator("main .content p").first.inner_text().startswith(f"{SERIES:,} series"), 60, "all series")
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable")

    def used():
        found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return processor_seconds() | {"tasks": found["TaskDuration"]}

    tab.wait_for_timeout(5_000)
    start, before = time.monotonic(), used()
    tab.wait_for_timeout(WALL * 1_000)
    seconds, after = time.monotonic() - start, used()
    shares = {name: 100 * (after[name] - before[name]) / seconds for name in after}
    print(f"{SERIES:,} series at 1 Hz: tasks of the page's main thread last {shares['tasks']:.1f} % of the time; kymo takes "
          f"{shares['kymo']:.1f} % of a processor with its 1,000 readings a second")
    report(f"a wall of {SERIES:,} series, all processes of the browser", shares["chrom"], MOST_WALL, "% of a processor")
    ended.set()
    sender.join()
    tab.context.close()


def write_fleet(folder):
    """A day of all devices, by the pipeline; it has ended a minute ago."""
    command = [KYMO, "run", "--stdin", "--data", f"{folder}/data", "--out", f"{folder}/out", "--log-format", "json"]
    start = int(time.time()) // 60 * 60 - MINUTES * 60
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for minute in range(MINUTES):
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start + minute * 60))
            process.stdin.write("".join(
                f'{{"deviceId":"watch-{number}","type":"heartRate","timestamp":"{moment}","value":{60 + (number + minute) % 30},'
                '"unit":"/min"}\n' for number in range(FLEET)).encode())
        process.stdin.close()
    if process.returncode != 0:
        sys.exit("console: kymo run failed")


def fleet():
    """The timeline of a device's day, opened by its address in a browser that has nothing of it."""
    folder = f"{FOLDER}/fleet"
    os.mkdir(folder)
    write_fleet(folder)
    instance = Instance(directory=folder)
    paints, charts = [], []
    for round in range(ROUNDS):
        text = json.dumps({"text": f"watch-{round * FLEET // ROUNDS}"}).encode()
        _, _, found = instance.get("/console/api/subjects/find", instance.operator(), "POST", text)
        series = json.loads(found)["subjects"][0]["series"]
        for bucket in ("1h", "1min"):
            tab = opened(instance, "mappings")
            tab.evaluate("address => { history.replaceState(null, '', address); }",
                         f"#/timeline?of={series}&by=device&bucket={bucket}")
            tab.add_init_script(NOTE)
            tab.reload()
            charts.append(wait_until(lambda: tab.evaluate("window.painted ?? null"), 60, "a chart"))
            paints.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            tab.context.close()
    instance.kill()
    print(f"a device's day of {FLEET:,}, by hours and by minutes in turn: charts after "
          f"{', '.join(f'{one:.0f}' for one in charts)} ms; first paint after {', '.join(f'{one:.0f}' for one in paints)} ms")
    report(f"first paint of a device's day of {FLEET:,}, the median", statistics.median(paints), MOST_PAINT, "ms")
    report("the same, until its chart is on the screen", statistics.median(charts), MOST_DAY, "ms")


def day(instance):
    tab = opened(instance)
    loaded(tab)
    _, _, found = instance.get("/console/api/subjects/find", instance.operator(), "POST", b'{"text":"p-0"}')
    series = json.loads(found)["subjects"][0]["series"]
    address = f"#/timeline?of={series}&by=patient&bucket=1h&to={START + SECONDS}"
    times = []
    for _ in range(ROUNDS + 1):
        times.append(tab.evaluate(SHOW, [address, 5]))
        tab.evaluate("location.hash = '#/mappings'")
        tab.wait_for_selector('section[data-page="mappings"]')
    print(f"a week that has the day, on the screen: first {times[0]:.0f} ms, best {min(times[1:]):.0f} ms")
    report("a patient's day on the screen, the first time", times[0], MOST_DAY, "ms")
    report("the same, the best of five behind it", min(times[1:]), MOST_DAY, "ms")


def main():
    instance = Instance()
    instance.send(*[reading(f"watch-{number}", offset=-(number % 600)) for number in range(1_000)], "no json")
    wait_until(lambda: len(instance.dead_letters()) == 1, what="a letter")
    sizes_and_paint(instance)
    list_of_devices(instance)
    wall(instance)
    instance.kill()
    fleet()
    write_days(KYMO, FOLDER, PATIENTS)
    # Where `kymo run` of the tests looks for its store.
    instance = Instance(directory=FOLDER)
    day(instance)
    instance.kill()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
