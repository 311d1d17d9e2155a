#!/usr/bin/env python3
"""simulate.py BINARY [--seeds N] [--seed S] [--jobs J] [--parts NAME,NAME] [--defect NAME] [--trace FILE] [--keep]

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
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path

import attendant
import keys
import parts
import process
import world
from model import Line, Model, latest_in
from server import Server

PORT = 8080
START = 1_900_000_000
SECOND = world.SECOND
#: What a test puts in to see that it is found, and the parts that it is about; None for what the seed says.
DEFECTS = {
    "losing-server": None, "lying-disk": None, "early-acknowledgement": None,
    "early-tcp": ("tcp",), "early-http": ("http",),
    "unsent-retractions": ("retractions",), "deaf-pauses": ("pauses",), "deaf-reloads": ("reloads", "rules", "mappings"),
    "deaf-sources": ("tcp", "reloads"),
    "unruled": ("rules",), "unmapped": ("mappings",), "in-clear": ("encryption",), "right-key": ("encryption",),
}
#: Exit statuses of a life in which the disk had errors.
DISK_STATUSES = (1, 70, 71, 73, 74, 75)
#: The number of this process among those of the pool.
job = 0


class Plan:
    """What a seed chooses for all lives: the settings, what is sent, and how often things break."""

    def __init__(self, seed, names=None):
        self.random = random.Random(seed)
        self.parts = parts.Parts(seed, names)
        choose, chance = self.random.choice, self.random.random
        self.window = choose((60, 60, 300))
        self.has_server, self.has_files = choose(((True, True), (True, False), (False, True)))
        self.lines = choose((20, 60, 200))
        self.clients = choose((1, 2, 3))
        self.lives = choose((0, 1, 2, 3, 4))
        self.breaks_disk = chance() < 0.3
        self.steps_clock = chance() < 0.3
        self.trouble = choose((0, 0.1, 0.4))

    def settings(self, folder, sources):
        choose = self.random.choice
        output = {"maxAge": choose(("0s", "200ms")),
                  "maxEntries": choose((1, 3, 100)), "rotateIdle": "2s", "rotateBytes": choose(("2KiB", "1MiB")),
                  "to": f"{folder}/out" if self.has_files else "none"}
        settings = {
            "window": f"{self.window}s", "lateness": choose(("0s", "30s")), "idle": choose(("1s", "10s", "0s")),
            "lateHold": choose(("0s", "1s")), "maxFuture": "1m", "data": f"{folder}/data", "output": output,
            "lanes": choose((1, 2)), "shards": choose((1, 2, 3)), "drain": "1h", "ringSlots": choose((512, 8192)),
            "store": {"commitInterval": choose(("1ms", "20ms", "200ms"))},
            "limits": {"archiveBytes": choose(("1KiB", "256MiB"))}, "sources": sources,
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
        if line := self.parts.line(now):
            return line
        device = f"{self.parts.prefix}{self.random.randrange(4)}"
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
        self.plan = Plan(seed, DEFECTS.get(options.defect) if options.parts is None else options.parts)
        self.random, self.parts = self.plan.random, self.plan.parts
        self.model = Model(self.plan.window)
        self.clock = START * SECOND
        self.server = Server(self.random, loses=options.defect == "losing-server")
        self.clients = [world.Client(f"{folder}/s{number}", self.model, self.random,
                                     credulous=options.defect == "early-acknowledgement")
                        for number in range(self.plan.clients)]
        self.clients.append(world.Datagrams(f"{folder}/d", self.model, self.random))
        self.clients += self.parts.clients(self.model, self.random, options.defect)
        for client in self.clients:
            client.defect, client.pace = options.defect, self.parts.pace
        for number in range(self.plan.lines):
            self.random.choice(self.clients).waiting.append(self.plan.line(number, START))
        self.attendant = attendant.Attendant(
            self.parts, self.folder, self.clients, self.model, deaf=(options.defect or "").removeprefix("deaf-").replace("sources", "reloads"))
        self.around = self.clients + ([self.attendant] if self.attendant.is_needed else [])
        self.director = world.Director(self.around, self.random)
        self.keys = keys.Keys(self, options.defect) if self.parts.has("encryption") else None
        self.lives = []

    def run(self):
        """What is wrong; empty when all is as it must be."""
        for number in range(self.plan.lives + 1):
            wrong = self.live(number) + self.model.wrong + self.traces()
            if self.keys and not wrong:
                wrong = self.keys.change(is_last=number == self.plan.lives)
            if wrong:
                return wrong
        try:
            return self.replay() or self.compare()
        except (ValueError, LookupError) as error:
            return [f"what it has written cannot be read: {error!r}"]

    def live(self, number):
        is_last = number == self.plan.lives
        for client in self.clients:
            client.begin_life(len(client.waiting) if is_last else self.random.randrange(len(client.waiting) + 1))
        self.director.begin_life(is_last, self.plan.breaks_disk and not is_last, self.plan.steps_clock)
        self.server.trouble = 0 if is_last else self.plan.trouble
        settings = self.plan.settings(self.folder, [client.source for client in self.clients])
        self.parts.begin_life()
        self.parts.add_to(settings, self.folder, self.keys and self.keys.path, self.options.defect)
        self.attendant.begin_life(settings, is_last, self.director)
        self.settings, config = settings, self.folder / "kymo.json"
        config.write_text(json.dumps(settings))
        crash = None if is_last or self.random.random() < 0.3 else int(10 ** self.random.uniform(1.5, 3.5))
        cuts_power = self.random.random() < 0.5
        if self.options.defect == "lying-disk" and not is_last:
            # Else few seeds would notice.
            crash, cuts_power = self.random.randrange(300, 1_500), True
        life = self.process(
            ["run", "--config", str(config)], self.director, self.around, crash=crash, cuts_power=cuts_power)
        allowed = [0] + ([process.ENDED_BY_CRASH] if crash else []) + (
            list(DISK_STATUSES) if self.director.has_broken else [])
        # Before it takes signals, it has opened no source.
        is_early = life.status == -signal.SIGTERM and not any(client.was_taken for client in self.clients)
        if (life.status not in allowed and not is_early) or "this is a bug" in life.errors:
            return [f"life {number} ended with status {life.status} ({life.how}): {life.errors[-2_000:]}"]
        return self.live(number) if is_early else []

    def process(self, arguments, director, around=(), crash=None, cuts_power=False):
        """Runs the program once in the world."""
        trace = f"{self.options.trace}.{len(self.lives)}" if self.options.trace else None
        life = process.run(
            [self.options.binary, *arguments],
            {**{f"client{place}": client for place, client in enumerate(around)}, "director": director,
             "server": self.server}, self.folder,
            library=self.library, seed=self.random.getrandbits(60), clock=self.clock, crash=crash,
            cuts_power=cuts_power, lies=self.options.defect == "lying-disk", trace=trace,
            clients=len(around), port=PORT if self.plan.has_server else 0,
            whole_writes=12 if self.parts.has("writes") else None)
        self.lives.append(life)
        self.clock = life.clock + self.random.randrange(1, 20 * SECOND)
        return life

    def replay(self):
        """Takes what pauses have put aside, perhaps again after a crash."""
        put_aside = left = self.put_aside()
        (self.folder / "kymo.json").write_text(json.dumps(self.settings))
        for attempt in range(3):
            if not left:
                break
            crash = self.parts.random.randrange(200, 2_000) if attempt < 2 and self.parts.random.random() < 0.4 else None
            life = self.process(["dead", "replay", *left, "--config", f"{self.folder}/kymo.json"], keys.Idle(), crash=crash)
            # 65 says that some were rejected again.
            if life.status not in (0, 65, process.ENDED_BY_CRASH):
                return [f"dead replay ended with status {life.status} ({life.how}): {life.errors[-2_000:]}"]
            left = self.put_aside()
            if life.status != process.ENDED_BY_CRASH:
                break
        self.model.replayed(put_aside[number] for number in put_aside.keys() - left.keys())
        return self.model.replay_differences(left.values())

    def put_aside(self):
        letters = self.letters() if self.parts.has("pauses") else []
        return {str(one["number"]): one["payload"] for one in letters if one["reason"] in ("typePaused", "sourcePaused")}

    def traces(self):
        """Files that hold in clear what must not be."""
        if not self.keys:
            return []
        places = [self.folder / name for name in ("data", "out", "other", "errors")]
        found = [path for place in places for path in ([place] if place.is_file() else place.rglob("*"))
                 if path.is_file() and self.parts.prefix.encode() in path.read_bytes()]
        return [f"{path} names devices in clear" for path in found]

    def compare(self):
        observations = {}
        if self.plan.has_server:
            observations["server"] = self.server.observations
        if self.plan.has_files:
            observations["files"] = latest_in(self.files("out"))
        wrong = [one for place, found in observations.items() for one in self.model.differences(place, found)]
        wrong += self.model.strangers("the other sink", latest_in(self.files("other")).values())
        ledger = self.command("ledger", "--verify", "--format", "json")
        if ledger.returncode:
            wrong.append(f"ledger --verify: {ledger.stdout.decode()}{ledger.stderr.decode()}")
        wrong += self.model.letter_differences(self.letters(), [one for found in observations.values() for one in found.values()])
        wrong += self.model.ledger_differences(json.loads(ledger.stdout))
        return wrong

    def files(self, folder):
        """What the output files in a folder hold, in the order of their names."""
        if not self.keys:
            return [path.read_text() for path in sorted((self.folder / folder).glob("*json"))]
        names = sorted((self.folder / folder).glob("*.sealed"))
        found = self.command("decrypt", *map(str, names)) if names else None
        if found and found.returncode:
            raise ValueError(f"decrypt: {found.stderr.decode()}")
        return [found.stdout.decode()] if found else []

    def letters(self):
        listed = self.command("dead", "list", "--format", "ndjson").stdout.splitlines()
        letters = [json.loads(line) for line in listed]
        return [letter | {"payload": base64.b64decode(letter["bytes"])} for letter in letters]

    def command(self, *arguments):
        key = ["--key-file", self.keys.path] if self.keys else []
        return subprocess.run([self.options.binary, *arguments, "--data", f"{self.folder}/data", *key], capture_output=True)

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
    parser.add_argument("--parts", type=lambda text: [one for one in text.split(",") if one], help="in place of those that the seed says")
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
