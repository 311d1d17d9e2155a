"""viewers.py KYMO FOLDER MAPPING SECONDS: what 8 viewers cost a durable `kymo run` that takes all it can of the folder's
workload, in readings a second and in CPU time of its process a reading, and an idle one in memory. Called by console.sh; the
exit status is 1 where that is more than is promised.

Viewers ask as the pages do that people look at (PAGES): a stream of counts each, and what a page asks for besides, as often. In
another kind of round all eight look at the page Live. They are sockets of another process, as the browsers of 8 people on other
machines, but on the same processors: what they take for themselves is printed. Rounds of each kind follow each other, in turn
forwards and backwards; the medians count, and how far the rounds of a kind lie apart is printed beside them: what is less than
that cannot be told."""
import calendar
import contextlib
import http.client
import itertools
import json
import multiprocessing
import os
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
from typing import NamedTuple

from console_testing import Instance, numbers_of, reading, wait_until
from promised import failed, report

ROUNDS, CHUNK, WEEK = 5, 1 << 20, 604_800
#: What the viewers look at, and after how many seconds a page asks again: those that are not there ask no more.
PAGES = ["overview", "overview", "live", "live", "timeline", "timeline", "ledger", "letters"]
EVERY = {"live": 1, "timeline": 10, "ledger": 10}
#: Series that the page Live shows.
MOST_SERIES = 1_000
#: What each time of the workload begins with: milliseconds since 1970, of which these are 10^9.
FIRST_TIME = b'"ts":1767'
#: A process that was forked would keep the standard input of kymo open.
SPAWN = multiprocessing.get_context("spawn")
#: What they may cost, in percent, and in MiB.
MOST, MOST_MEMORY = 2, 6


def login(kymo, data, address):
    """The cookie of a new session."""
    done = subprocess.run([kymo, "console", "login", "--data", data, "--format", "json"], capture_output=True, check=True)
    connection = http.client.HTTPConnection(address)
    connection.request("POST", "/console/api/login", json.dumps({"code": json.loads(done.stdout)["code"]}),
                       {"Origin": f"http://{address}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    return answer.headers["Set-Cookie"].split(";")[0]


def is_ready(address):
    with contextlib.suppress(OSError):
        connection = http.client.HTTPConnection(address)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    return False


class Viewer:
    """A browser with one page: its stream of counts, and a connection on which it asks for the rest."""

    def __init__(self, page, address, cookie):
        self.page, self.address = page, address
        self.fields = {"Host": address, "Cookie": cookie}
        host, port = address.split(":")
        self.stream = socket.create_connection((host, int(port)))
        self.stream.sendall(f"GET /console/api/live HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n".encode())
        if b" 200 " not in self.stream.recv(1 << 16):
            sys.exit("console: no stream could be opened")
        self.connection = http.client.HTTPConnection(address, timeout=60)
        self.after, self.named, self.subject, self.answers = None, set(), None, 0
        self.opened()

    def get(self, path, **values):
        asked = urllib.parse.urlencode({name: value for name, value in values.items() if value is not None})
        self.connection.request("GET", f"/console/api/{path}?{asked}", headers=self.fields)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            # Of an instance that stops; that there are answers otherwise their number shows.
            raise http.client.HTTPException(f"{path}: status {answer.status}: {text[:300]}")
        self.answers += 1
        return json.loads(text)

    def opened(self):
        """What the page asks for when it is opened."""
        if self.page == "letters":
            self.get("letters/reasons")
            self.get("letters")
        elif self.page in ("timeline", "ledger"):
            self.get("subjects")

    def live(self):
        """What the page Live asks for each second."""
        slices, more = [], True
        while more:
            answer = self.get("wall", after=self.after)
            slices += answer["slices"]
            self.after = slices[-1]["id"] if slices else self.after
            more = answer.get("isMore", False)
        unknown = {number for part in slices for number in numbers_of(part["series"])} - self.named
        # A page shows so many.
        unknown = sorted(unknown)[:max(0, MOST_SERIES - len(self.named))]
        if unknown:
            self.get("wall/names", of=",".join(map(str, unknown)))
            self.named.update(unknown)

    def newest(self):
        """What the pages Timeline and Ledger ask for each ten seconds while readings come."""
        if self.subject is None:
            subjects = self.get("subjects")["subjects"]
            if not subjects:
                return
            self.subject = subjects[0]["series"]
        subject = self.get("subjects/chosen", of=self.subject)["subjects"][0]
        last = calendar.timegm(time.strptime(subject["latest"][:19], "%Y-%m-%dT%H:%M:%S")) if "latest" in subject else time.time()
        if self.page == "timeline":
            end = int(last) // 3_600 * 3_600 + 3_600
            self.get("timeline", of=subject["series"], by="device", bucket="1h", zone="UTC", **{"from": end - WEEK, "to": end})
        else:
            end = int(last) // 86_400 * 86_400 + 86_400
            self.get("hours", of=subject["series"], by="device", **{"from": end - WEEK, "to": end})


def listen(pages, address, cookie, ready, told):
    """Opens the pages, says so, and does what they do until this process is ended; tells its own CPU seconds and how much was
    answered."""
    viewers = [Viewer(page, address, cookie) for page in pages]
    waits = selectors.DefaultSelector()
    for viewer in viewers:
        waits.register(viewer.stream, selectors.EVENT_READ)
    # Not all at one time, as people do not open pages at one time.
    due = [(time.monotonic() + (number + 1) / len(pages), viewer) for number, viewer in enumerate(viewers)
           if viewer.page in EVERY]
    ready.set()
    while True:
        for key, _ in waits.select(timeout=0.02):
            if not key.fileobj.recv(1 << 16):
                waits.unregister(key.fileobj)
        for place, (moment, viewer) in enumerate(due):
            if time.monotonic() < moment:
                continue
            with contextlib.suppress(OSError, http.client.HTTPException):
                viewer.live() if viewer.page == "live" else viewer.newest()
            due[place] = max(time.monotonic(), moment + EVERY[viewer.page]), viewer
        told[:] = time.process_time(), sum(viewer.answers for viewer in viewers)


@contextlib.contextmanager
def viewers(kymo, data, address, pages):
    """What is given are the CPU seconds of their own process so far, and the answers that they got."""
    ready, told = SPAWN.Event(), SPAWN.Array("d", 2)
    process = SPAWN.Process(target=listen, args=(pages, address, login(kymo, data, address), ready, told), daemon=True)
    process.start()
    if not ready.wait(20):
        sys.exit("console: no page could be opened")
    yield told
    process.terminate()
    process.join()


#: Threads that count and render for the pages, and those that send it to them.
SERVING = ("kymo-live", "kymo-admin", "kymo-gaps", "kymo-console")


def thread_seconds(pid, known):
    """Notes the CPU seconds of the threads that serve the console in `known`, by their numbers."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{pid}/task/{thread}/comm") as file:
                    name = file.read().strip()
                with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                    nanoseconds = int(file.read().split()[0])
                if name in SERVING:
                    known[thread] = nanoseconds / 1e9


class Workload:
    """The readings of a file, again and again, each time 10^9 ms later: in their times only one digit differs."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.chunks = list(iter(lambda: file.read(CHUNK) + file.readline(), b""))
        self.counts = [chunk.count(b"\n") for chunk in self.chunks]
        if any(chunk.count(FIRST_TIME) != count for chunk, count in zip(self.chunks, self.counts)):
            sys.exit("console: the workload has other times than it should")

    def write(self, descriptor, seconds, each):
        """Writes readings for so many seconds, and calls `each` now and then; how many they were."""
        written, end, due = 0, time.monotonic() + seconds, 0
        for later in itertools.count():
            moment = int(FIRST_TIME.split(b":")[1]) + later
            if moment * 10**9 > time.time() * 1_000:
                sys.exit("console: the workload's times are in the future: fewer seconds, or more readings, are needed")
            for chunk, count in zip(self.chunks, self.counts):
                part = memoryview(chunk.replace(FIRST_TIME, b'"ts":%d' % moment))
                while part:
                    part = part[os.write(descriptor, part):]
                written += count
                if time.monotonic() >= due:
                    each()
                    due = time.monotonic() + 0.5
                if time.monotonic() >= end:
                    return written


class Round(NamedTuple):
    """Readings a second, CPU nanoseconds of the process a reading, those of the threads that serve the console, what viewers
    take of a processor for themselves, in percent, and how many answers a second they got besides the streams."""
    rate: float
    cpu: float
    serving: float
    own: float
    answers: float


def once(kymo, folder, mapping, workload, seconds, pages):
    for name in ("out", "data"):
        shutil.rmtree(f"{folder}/{name}", ignore_errors=True)
    process = subprocess.Popen(
        [kymo, "run", "--stdin", "--mapping", mapping + "/", "--window", "5m", "--out", f"{folder}/out", "--data",
         f"{folder}/data", "--admin", "127.0.0.1:0", "--console"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    address = None
    while address is None:
        line = process.stderr.readline().decode()
        address = re.search(r"console on http://([^/]+)/", line)
        if not line:
            sys.exit("console: kymo failed")
    # What it says is read, so that it never waits for that.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    wait_until(lambda: is_ready(address[1]), what="readiness")
    threads = {}
    with contextlib.ExitStack() as stack:
        told = stack.enter_context(viewers(kymo, f"{folder}/data", address[1], pages)) if pages else None
        start = time.monotonic()
        written = workload.write(process.stdin.fileno(), seconds, lambda: thread_seconds(process.pid, threads))
        own, answers = (one / (time.monotonic() - start) for one in (told or (0, 0)))
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        taken = time.monotonic() - start
    if process.returncode != 0:
        sys.exit(f"console: kymo ended with {process.returncode}")
    return Round(written / taken, (usage.ru_utime + usage.ru_stime) / written * 1e9, sum(threads.values()) / written * 1e9,
                 100 * own, answers)


class Memory(NamedTuple):
    """Resident MiB of a process, and of those what it has written itself, and what it has read in of its program and libraries."""
    all: float
    own: float
    files: float

    @classmethod
    def of(cls, pid):
        with open(f"/proc/{pid}/status") as file:
            sizes = dict(re.findall(r"(\w+):\s+(\d+) kB", file.read()))
        return cls(*(int(sizes[name]) / 1024 for name in ("VmRSS", "RssAnon", "RssFile")))

    def since(self, before):
        return Memory(*(one - other for one, other in zip(self, before)))


def idle_memory(pages):
    """What a quarter of a minute with the viewers of `pages` has added."""
    instance = Instance()
    instance.send(*[reading(f"watch-{number}", offset=-number) for number in range(100)])
    time.sleep(5)
    before = Memory.of(instance.process.pid)
    with contextlib.ExitStack() as stack:
        if pages:
            stack.enter_context(viewers(sys.argv[1], f"{instance.directory}/data", instance.address.removeprefix("http://"), pages))
        time.sleep(15)
        after = Memory.of(instance.process.pid)
    instance.kill()
    return after.since(before)


def medians(name, found):
    """The median of each number; prints them, and how far the rates lie apart."""
    middle = Round(*map(statistics.median, zip(*found)))
    rates = [one.rate for one in found]
    apart = 100 * (max(rates) - min(rates)) / middle.rate
    print(f"{name}: {middle.rate:,.0f} readings/s, the median of {len(found)} rounds, {min(rates):,.0f} to {max(rates):,.0f} "
          f"({apart:.1f} % apart); CPU {middle.cpu:.0f} ns a reading, {middle.serving:.1f} ns of it in threads that serve the "
          f"console; viewers take {middle.own:.1f} % of a processor for themselves, and get {middle.answers:.1f} answers/s "
          "besides their streams", flush=True)
    return middle, apart


def main():
    kymo, folder, mapping, seconds = sys.argv[1:4] + [float(sys.argv[4])]
    workload = Workload(f"{folder}/workload.ndjson")
    # The first is slower than all others.
    once(kymo, folder, mapping, workload, seconds / 4, [])
    kinds = {"without viewers": [], f"{len(PAGES)} viewers": PAGES, f"{len(PAGES)} viewers of Live": ["live"] * len(PAGES)}
    rounds = {name: [] for name in kinds}
    for number in range(ROUNDS):
        for name in list(kinds)[::-1 if number % 2 else 1]:
            rounds[name].append(once(kymo, folder, mapping, workload, seconds, kinds[name]))
    found = {name: medians(name, rounds[name]) for name in kinds}
    (plain, apart), *others = found.values()
    for name, (watched, _) in zip(list(kinds)[1:], others):
        report(f"throughput that {name} cost", 100 * (1 - watched.rate / plain.rate), MOST, "%")
        pairs = [100 * (1 - one.rate / other.rate) for one, other in zip(rounds[name], rounds["without viewers"])]
        print(f"  round by round: {', '.join(f'{pair:.1f}' for pair in pairs)} %")
        report(f"CPU of the process that {name} cost", 100 * (watched.cpu / plain.cpu - 1), MOST, "%")
        report("CPU of the threads that serve them, of that of the process", 100 * (watched.serving - plain.serving) / plain.cpu,
               MOST, "%")
    if apart > MOST:
        print(f"rounds without viewers lie {apart:.1f} % apart: the machine was not quiet enough to tell {MOST} %")
    added, without = idle_memory(PAGES), idle_memory([])
    report("memory of them", max(0, added.all), MOST_MEMORY, "MiB")
    print(f"  of it {added.own:.1f} MiB the process has written, and {added.files:.1f} MiB are of its program and libraries, read in when "
          f"first used; without viewers {without.all:.1f} MiB come in that time ({without.own:.1f} and {without.files:.1f}): windows close")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
