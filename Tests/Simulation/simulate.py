#!/usr/bin/env python3
"""simulate.py BINARY [--seeds N] [--seed S] [--jobs J] [--defect NAME] [--trace FILE] [--keep]

Runs kymo in a simulated world, one seed after the other: threads, clock, disk, network, clients and a FHIR server do what the
seed says. Prints each seed that breaks what must be true, with the command that repeats it, and how many seeds an hour there
are. Exits with status 1 if any did. docs/simulation.md says what is simulated."""
import argparse
import base64
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

import process
import world
from model import Line, Model, latest_in
from server import Server

PORT = 8080
START = 1_900_000_000
SECOND = world.SECOND
#: What a test puts in to see that it is found.
DEFECTS = ("losing-server", "lying-disk", "early-acknowledgement")
#: Exit statuses of a life in which the disk had errors.
DISK_STATUSES = (1, 70, 71, 73, 74, 75)
#: The number of this process among those of the pool.
job = 0


class Plan:
    """What a seed chooses for all lives: the settings, what is sent, and how often things break."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        choose, chance = self.random.choice, self.random.random
        self.window = choose((60, 60, 300))
        self.has_server, self.has_files = choose(((True, True), (True, False), (False, True)))
        self.lines = choose((20, 60, 200))
        self.clients = choose((1, 2, 3))
        self.lives = choose((0, 1, 2, 3, 4))
        self.breaks_disk = chance() < 0.3
        self.steps_clock = chance() < 0.3
        self.trouble = choose((0, 0.1, 0.4))

    def settings(self, folder):
        choose = self.random.choice
        output = {"maxAge": choose(("0s", "200ms")),
                  "maxEntries": choose((1, 3, 100)), "rotateIdle": "2s", "rotateBytes": choose(("2KiB", "1MiB")),
                  "to": f"{folder}/out" if self.has_files else "none"}
        settings = {
            "window": f"{self.window}s", "lateness": choose(("0s", "30s")), "idle": choose(("1s", "10s", "0s")),
            "lateHold": choose(("0s", "1s")), "maxFuture": "0s", "data": f"{folder}/data", "output": output,
            "lanes": choose((1, 2)), "shards": choose((1, 2, 3)), "drain": "1h", "ringSlots": choose((512, 8192)),
            "store": {"commitInterval": choose(("1ms", "20ms", "200ms"))},
            "limits": {"archiveBytes": choose(("1KiB", "256MiB"))},
            "sources": [{"unix": f"{folder}/s{number}"} for number in range(self.clients)]
            + [{"unixgram": f"{folder}/d"}],
        }
        # A server takes bundles alone.
        if not self.has_server:
            output["format"] = choose(("ndjson", "bundle"))
        else:
            settings["server"] = {"url": f"http://127.0.0.1:{PORT}/fhir", "identity": "create",
                                  "connections": choose((1, 4))}
        return settings

    def line(self, number, now):
        """One of the lines, of readings at most 20 minutes old."""
        device = f"d{self.random.randrange(4)}"
        if self.random.random() < 0.04:
            payload = self.random.choice((f'{{"no":{number}}}', f"not JSON {number}"))
            return Line(device, 0, 0, payload.encode(), "noTemplate" if payload[0] == "{" else "invalidJSON")
        second = now - 5 * self.random.randrange(240)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
        # The same place always has the same value, so that a line of it is a repetition.
        value = 40 + zlib.crc32(f"{device} {second}".encode()) % 160
        reading = {"deviceId": device, "type": "heartRate", "timestamp": stamp, "value": value, "unit": "/min"}
        return Line(device, second, value, json.dumps(reading).encode())


class Simulation:
    """One seed, from the first life to the comparison."""

    def __init__(self, seed, options, library, folder):
        self.seed, self.options, self.library, self.folder = seed, options, library, Path(folder)
        self.plan = Plan(seed)
        self.random = self.plan.random
        self.model = Model(self.plan.window)
        self.clock = START * SECOND
        self.server = Server(self.random, loses=options.defect == "losing-server")
        self.clients = [world.Client(f"{folder}/s{number}", self.model, self.random,
                                     credulous=options.defect == "early-acknowledgement")
                        for number in range(self.plan.clients)]
        self.clients.append(world.Datagrams(f"{folder}/d", self.model, self.random))
        for number in range(self.plan.lines):
            self.random.choice(self.clients).waiting.append(self.plan.line(number, START))
        self.director = world.Director(self.clients, self.random)
        self.lives = []

    def run(self):
        """What is wrong; empty when all is as it must be."""
        for number in range(self.plan.lives + 1):
            if wrong := self.live(number):
                return wrong
        try:
            return self.compare()
        except (ValueError, LookupError) as error:
            return [f"what it has written cannot be read: {error!r}"]

    def live(self, number):
        is_last = number == self.plan.lives
        for client in self.clients:
            client.begin_life(len(client.waiting) if is_last else self.random.randrange(len(client.waiting) + 1))
        self.director.begin_life(is_last, self.plan.breaks_disk and not is_last, self.plan.steps_clock)
        self.server.trouble = 0 if is_last else self.plan.trouble
        config = self.folder / "kymo.json"
        config.write_text(json.dumps(self.plan.settings(self.folder)))
        around = {f"client{place}": client for place, client in enumerate(self.clients)}
        crash = None if is_last or self.random.random() < 0.3 else int(10 ** self.random.uniform(1.5, 3.5))
        cuts_power = self.random.random() < 0.5
        if self.options.defect == "lying-disk" and not is_last:
            # Else few seeds would notice.
            crash, cuts_power = self.random.randrange(300, 1_500), True
        life = process.run(
            [self.options.binary, "run", "--config", str(config)],
            {**around, "director": self.director, "server": self.server}, self.folder,
            library=self.library, seed=self.random.getrandbits(60), clock=self.clock, crash=crash,
            cuts_power=cuts_power, lies=self.options.defect == "lying-disk",
            trace=f"{self.options.trace}.{number}" if self.options.trace else None,
            clients=len(self.clients), port=PORT if self.plan.has_server else 0)
        self.lives.append(life)
        self.clock = life.clock + self.random.randrange(1, 20 * SECOND)
        allowed = [0] + ([process.ENDED_BY_CRASH] if crash else []) + (
            list(DISK_STATUSES) if self.director.has_broken else [])
        if life.status not in allowed or "this is a bug" in life.errors:
            return [f"life {number} ended with status {life.status} ({life.how}): {life.errors[-2_000:]}"]
        return []

    def compare(self):
        wrong = []
        if self.plan.has_server:
            wrong += self.model.differences("server", self.server.observations)
        if self.plan.has_files:
            names = sorted((self.folder / "out").glob("*json"))
            wrong += self.model.differences("files", latest_in(name.read_text() for name in names))
        verified = self.command("ledger", "--verify")
        if verified.returncode:
            wrong.append(f"ledger --verify: {verified.stdout.decode()}{verified.stderr.decode()}")
        letters = [json.loads(line) for line in self.command("dead", "list", "--format", "ndjson").stdout.splitlines()]
        wrong += self.model.letter_differences((one["reason"], base64.b64decode(one["bytes"])) for one in letters)
        wrong += self.model.ledger_differences(json.loads(self.command("ledger", "--format", "json").stdout))
        return wrong

    def command(self, *arguments):
        return subprocess.run([self.options.binary, *arguments, "--data", f"{self.folder}/data"], capture_output=True)

    @property
    def trace(self):
        return " ".join(f"{life.how}:{life.status}:{life.operations}:{life.trace}" for life in self.lives)


def simulate(task):
    """Runs one seed; its number, what is wrong, how it went, and seconds."""
    seed, options, library, base = task
    begun = time.monotonic()
    folder = Path(base) / f"{job:03}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    simulation = Simulation(seed, options, library, folder)
    wrong = simulation.run()
    return seed, wrong, simulation.trace, time.monotonic() - begun


def prepare(places):
    """Makes a process of the pool one whose programs do the same each time, on a processor of their own: threads that take
    turns have no use for a second one."""
    global job
    job, processor = places.get()
    process.fix_addresses()
    os.sched_setaffinity(0, {processor})


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--defect", choices=DEFECTS)
    parser.add_argument("--trace")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    options.binary = str(Path(options.binary).resolve())
    return options


def results(options):
    """Runs all seeds of `options`."""
    # In memory, and with a name that is always as long: sizes of what is written are the same for a seed.
    base = Path("/tmp" if options.keep else "/dev/shm") / f"kymo-simulation-{os.getpid():08}"
    base.mkdir(mode=0o700, exist_ok=True)
    processors, places = sorted(os.sched_getaffinity(0)), multiprocessing.Queue()
    for number in range(options.jobs):
        places.put((number, processors[number % len(processors)]))
    try:
        library = process.library(base)
        tasks = ((seed, options, library, base) for seed in range(options.seed, options.seed + options.seeds))
        with multiprocessing.Pool(options.jobs, prepare, (places,)) as pool:
            yield from pool.imap_unordered(simulate, tasks)
    finally:
        if not options.keep:
            shutil.rmtree(base, ignore_errors=True)


def main():
    options = parsed(None)
    begun, failed, count = time.monotonic(), 0, 0
    for seed, wrong, trace, taken in results(options):
        count += 1
        if options.verbose:
            print(f"seed {seed}: {taken:.2f} s {trace}", flush=True)
        if wrong:
            failed += 1
            print(f"seed {seed}: {'; '.join(wrong)[:4_000]}\n  repeat it: make simulation SEEDS=1 SEED={seed}", flush=True)
    taken = time.monotonic() - begun
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{count} seeds, {failed} of them failed, {taken:.1f} s: {count * 3_600 / taken:,.0f} seeds an hour with "
          f"{options.jobs} at a time; {(used.ru_utime + used.ru_stime) / count:.2f} s of processor time for each")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
