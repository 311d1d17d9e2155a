"""pages.py KYMO FOLDER PATIENTS: how fast the console's pages are in a real Chromium, and how large. Called by console.sh;
the exit status is 1 where something takes more than is promised."""
import json
import statistics
import sys
import time

from console_testing import Browser, Instance, reading, wait_until
from days import SECONDS, START, copy_day, write_day
from promised import failed, report

KYMO, FOLDER, PATIENTS = sys.argv[1], sys.argv[2], int(sys.argv[3])
ROUNDS = 5
PAGES = ["overview", "timeline", "ledger", "letters", "playground", "mappings"]
MOST_BYTES, MOST_PAINT, MOST_LIST, MOST_DAY = 120_000, 300, 100, 500
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
        sizes = []
        tab.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", 0))))
        tab.reload()
        tab.wait_for_selector(f'section[data-page="{name}"]')
        tab.wait_for_timeout(1_000)
        report(f"bytes of the page {name}, with its data", sum(sizes), MOST_BYTES, "bytes")
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
    instance.kill()
    write_day(KYMO, FOLDER)
    copy_day(FOLDER, PATIENTS)
    # Where `kymo run` of the tests looks for its store.
    instance = Instance(directory=FOLDER)
    day(instance)
    instance.kill()
    sys.exit(1 if failed else 0)


main()
