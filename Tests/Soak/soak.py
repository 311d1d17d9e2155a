#!/usr/bin/env python3
"""soak.py BINARY [--hours H] [--seed N] [--rate R] [--devices N] [--new-devices N] [--folder DIR] [--keep]

Runs kymo for H hours while readings come by all doors, and settings, servers, keys and clocks change; looks at the
ledger, memory, descriptors and latency at marks, at least six of them. Exits with status 1 when a bar is missed.
docs/performance.md says how to read it."""
import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import balance
import doors
import happenings
import judging
import schedule
from instance import Instance, until
from servers import Broker, broker_binary, fhir_server

SAMPLE_SECONDS = 5
SETTLE_SECONDS = 180
STILL_SECONDS = 120


class Machine(threading.Thread):
    """How late the machine wakes a thread that is due, and then makes 4 KiB durable, beside what kymo does."""
    EVERY = 0.25

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.path, self.seconds = folder / "machine", []

    def run(self):
        with open(self.path, "wb", buffering=0) as file:
            while True:
                due = time.monotonic() + Machine.EVERY
                time.sleep(Machine.EVERY)
                os.pwrite(file.fileno(), b"x" * 4_096, 0)
                os.fdatasync(file.fileno())
                self.seconds.append(time.monotonic() - due)

    def taken_seconds(self):
        taken, self.seconds = self.seconds, []
        return taken


class Soak:
    """A run: the instance, what stands around it, its senders, and what was found."""

    def __init__(self, options):
        self.options = options
        self.folder = Path(options.folder)
        self.faults, self.samples, self.marks = [], [], []
        self.server = fhir_server(self.folder)
        self.instance = Instance(Path(options.binary).resolve(), self.folder, bool(broker_binary()), self.server.port)
        self.broker = Broker(self.folder, self.instance.broker) if self.instance.has_broker else None
        self.machine = Machine(self.folder)
        self.doors = self.made_doors()
        self.before = balance.nothing(self.doors)
        self.replacements = 0

    def made_doors(self):
        at, local = self.instance, "127.0.0.1"
        kinds = {
            "unix": (doors.UnixSender, f"{self.folder}/kymo.sock"), "udp": (doors.DatagramSender, (local, at.udp)),
            "tcp": (doors.LineSender, (local, at.tcp)), "tls": (doors.TLSSender, (local, at.tls)),
            "http": (doors.PostSender, (local, at.http)), "mllp": (doors.MessageSender, (local, at.mllp)),
            "mqtt": (doors.BrokerSender, (local, at.broker)), "guest": (doors.UnixSender, f"{self.folder}/guest.sock"),
        }
        if not self.broker:
            del kinds["mqtt"]
        rate, beds = self.options.rate / (len(kinds) - 1), max(4, self.options.devices // (len(kinds) - 1))
        # Each result by MLLP is an Observation of its own, so that there are fewer.
        rates = {"mllp": rate / 60}
        made = {door: kind(door, place, rates.get(door, rate), beds, self.options.seed)
                for door, (kind, place) in kinds.items()}
        made["http"].token = (self.folder / "token").read_text().strip()
        return made

    def surroundings(self):
        """What this machine has of what a soak uses."""
        server = type(self.server).__name__
        broker = "mosquitto" if self.broker else "no broker: no MQTT"
        clock = "a clock that steps" if self.instance.clock.is_available else "no compiler: no steps of the clock"
        return f"{server}, {broker}, {clock}, {os.cpu_count()} processors"

    # What happens

    def say(self, text):
        minutes, seconds = divmod(int(self.now()), 60)
        line = f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}  {text}"
        print(line, flush=True)

    def now(self):
        return time.monotonic() - self.begun

    def fault(self, text):
        self.faults.append(text)
        self.say(f"FAULT: {text}")

    def must_take(self, is_right):
        """Reloads, and notes when the verdict is not `is_right`."""
        if self.instance.reload() != is_right:
            self.fault(f"a reload was {'refused' if is_right else 'taken'}: {self.instance.settings.__dict__}")

    def begin_life(self):
        """Starts the instance. Before it has a session at the broker, what is published would be lost."""
        self.instance.start()
        if self.broker:
            until("a session at the broker", lambda: self.metric('kymo_source_connections{source="mqtt"}'), 60)

    @contextlib.contextmanager
    def datagrams_held(self):
        """Datagrams are held, and those on their way have arrived."""
        udp = self.doors["udp"]
        udp.held.set()
        udp.idle.wait(STILL_SECONDS)
        time.sleep(1)
        yield
        if "mqtt" in self.doors:
            self.doors["mqtt"].kymo_ended()
        udp.held.clear()

    @contextlib.contextmanager
    def datagrams_unsure(self):
        """Datagrams go on, and may be lost."""
        unsure = self.doors["udp"].is_unsure
        unsure.set()
        time.sleep(2)
        if "mqtt" in self.doors:
            self.doors["mqtt"].kymo_ended()
        yield
        time.sleep(0.5)
        unsure.clear()

    def sample(self):
        """Memory every few seconds, and devices that come and go."""
        while True:
            time.sleep(SAMPLE_SECONDS)
            with contextlib.suppress(OSError, TypeError, AttributeError):
                self.samples.append((self.now(), self.instance.memory()[0], self.instance.process.pid))
            wanted = int(self.now() / 3_600 * self.options.new_devices)
            chosen = list(self.doors.values())
            while self.replacements < wanted:
                chosen[self.replacements % len(chosen)].beds.replace()
                self.replacements += 1

    # Marks

    def settle(self):
        """Holds all senders, and waits until all that they have sent has arrived everywhere."""
        self.behind = self.metric("kymo_outbox_oldest_age_seconds")
        until("sinks that keep up", lambda: self.metric("kymo_outbox_oldest_age_seconds") < 15, SETTLE_SECONDS)
        # The guest sends only while its source is there: what it has begun waits for the next time.
        others = [door for name, door in self.doors.items() if name != "guest"]
        for door in others:
            door.held.set()
        for door in others:
            if not door.idle.wait(STILL_SECONDS):
                self.fault(f"{door.door} hears nothing")
        received = -1
        while (now := self.metric("kymo_readings_received_total") + self.metric("kymo_source_kernel_dropped_total")) != received:
            received = now
            time.sleep(1.5)
        self.instance.run("flush", "--data", self.folder / "data", "--wait", "2m")
        # What waits is counted every second, and the less often the longer that takes. What stays is found by `unfit`.
        with contextlib.suppress(TimeoutError):
            until("an empty outbox", lambda: not self.metric("kymo_outbox_entries"), STILL_SECONDS)

    def metric(self, name):
        """A metric, or the sum of one over its labels."""
        return sum(value for key, value in self.instance.metrics().items() if name in (key, key.split("{")[0]))

    def mark(self):
        """Looks at everything while all is still."""
        self.settle()
        self.verify()
        ledger = self.instance.ledger()
        tallies = {name: door.tally.seen() for name, door in self.doors.items()}
        if self.options.lie:
            tallies["tcp"]["good"] += 1
        after = balance.seen(ledger, tallies)
        found, tolerance = balance.differences(self.before, after)
        found += balance.series_differences(ledger, self.devices(), {"udp"}) + self.unfit() + self.server.complaints()
        self.before = after
        for door in self.doors.values():
            self.faults += door.faults
            door.faults = []
        self.marks.append(self.measured(ledger, found, tolerance))
        for door in self.doors.values():
            door.held.clear()
        self.remove_files()

    def verify(self):
        try:
            self.instance.run("ledger", "--config", self.instance.file, "--verify")
        except RuntimeError as error:
            self.fault(str(error))

    def devices(self):
        found = {}
        for door in self.doors.values():
            with door.tally.lock:
                found.update(door.tally.devices)
        return found

    def unfit(self):
        """Numbers that are 0 in a healthy instance."""
        metrics = self.instance.metrics()
        names = ("kymo_ledger_imbalance", "kymo_readings_lost", "kymo_quarantined", "kymo_metrics_dropped_series",
                 "kymo_sink_lacking", "kymo_output_undelivered_total", "kymo_dead_letters{kind=\"entry\"}",
                 "kymo_windows_withheld_total", "kymo_outbox_entries")
        return [f"{name} is {value:g}" for name, value in metrics.items()
                if value and (name in names or name.split("{")[0] in names)]

    def measured(self, ledger, found, tolerance):
        """The numbers of a mark, which are also written and said."""
        metrics, (memory, anonymous) = self.instance.metrics(), self.instance.memory()
        posts, machine = self.doors["http"].taken_seconds(), self.machine.taken_seconds()
        numbers = {
            "mark": len(self.marks) + 1, "hours": round(self.now() / 3_600, 4),
            "received": ledger["balance"]["received"], "rejected": sum(ledger["balance"]["rejected"].values()),
            "duplicate": ledger["balance"]["duplicate"],
            "rss_mib": round(memory / judging.MIB, 2), "anonymous_mib": round(anonymous / judging.MIB, 2),
            "descriptors": int(metrics["process_open_fds"]), "threads": int(metrics["process_threads"]),
            "kinds": self.instance.descriptors(), "process": self.instance.process.pid,
            "devices": int(self.metric("kymo_devices")), "series": int(self.metric("kymo_series")),
            "data_mib": round(size(self.folder / "data") / judging.MIB, 1),
            "post_p50_ms": milliseconds(posts, 0.5), "post_p99_ms": milliseconds(posts, 0.99),
            "machine_p99_ms": milliseconds(machine, 0.99), "load": os.getloadavg()[0],
            "kernel_dropped": ledger["balance"]["kernelDropped"],
            "outbox": int(self.metric("kymo_outbox_entries")), "outbox_age_s": round(self.behind),
            "windows_open": int(metrics['kymo_windows_open{shard="0"}']), "stored_windows": int(metrics["kymo_store_windows"]),
            "reconnects": sum(door.reconnects for door in self.doors.values()),
            "tolerance": tolerance, "differences": found,
        }
        with open(self.folder / "marks.ndjson", "a") as file:
            file.write(json.dumps(numbers) + "\n")
        self.say("mark {mark}: received {received:,}, ledger {exact}, RSS {rss_mib:.1f} MiB, {descriptors} descriptors, "
                 "{threads} threads, {devices} devices, data {data_mib:.0f} MiB, p99 {post_p99_ms} ms, machine {machine_p99_ms} ms, "
                 "load {load:.1f}".format(**numbers, exact=found or (f"within {tolerance}" if tolerance else "exact")))
        return numbers

    def remove_files(self):
        """Removes whole files, as a reader of the output does: the disk goes round."""
        for name in ("out", "receipts"):
            for path in (self.folder / name).glob("*"):
                if ".open" not in path.name:
                    path.unlink()

    # The run

    def run(self):
        self.begun = time.monotonic()
        self.begin_life()
        for thread in (self.machine, threading.Thread(target=self.sample, daemon=True), *self.doors.values()):
            thread.start()
        hours, seed = self.options.hours, self.options.seed
        steps = [(event.moment, event) for event in schedule.events(hours, seed)]
        steps += [(moment, None) for moment in schedule.marks(hours)]
        for moment, event in sorted(steps, key=lambda step: step[0]):
            time.sleep(max(0, moment - self.now()))
            if event is None:
                self.mark()
            else:
                self.say(happenings.ALL[event.kind](self, event))
        self.instance.stop()

    def close(self):
        for door in self.doors.values():
            door.ended.set()
        if self.instance.process and self.instance.process.poll() is None:
            self.instance.kill()
        if self.broker:
            self.broker.close()
        with contextlib.suppress(OSError):
            self.server.close()
        with open(self.folder / "samples.ndjson", "w") as file:
            file.writelines(json.dumps(sample) + "\n" for sample in self.samples)

    def verdicts(self):
        """The verdicts. Memory and descriptors are judged where one process runs, but for the start of the run."""
        total = self.options.hours * 3_600
        steady = [mark for mark in self.marks
                  if 0.25 * total <= mark["hours"] * 3_600 and mark["process"] == self.steady_process()]
        return [
            judging.judge_ledger(self.marks),
            judging.judge_memory(self.samples, 0.25 * total, schedule.ENDS_AFTER * total),
            judging.judge_level("descriptors", steady, "descriptors", judging.SPARE_DESCRIPTORS),
            judging.judge_level("threads", steady, "threads", judging.SPARE_THREADS),
            judging.judge_latency(self.marks),
            judging.judge_faults(self.faults),
        ]

    def steady_process(self):
        return statistics.mode(mark["process"] for mark in self.marks) if self.marks else None


def milliseconds(seconds, share):
    found = judging.percentile(seconds, share)
    return None if found is None else round(found * 1_000, 2)


def size(folder):
    """Bytes of all files in a folder, some of which go meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total


def wanted_bytes(hours):
    """Bytes that a run may need: what grows all the time is the FHIR server's, dead letters and the log; what is removed at
    marks, or kept for two hours, is within the first part."""
    return int((4 + hours / 2) * (1 << 30))


def refuse_full_disk(options):
    """A disk that is full after hours would end the run, and say nothing of kymo."""
    free, wanted = shutil.disk_usage(options.folder).free, wanted_bytes(options.hours)
    if free < wanted:
        sys.exit(f"soak: {options.hours:g} h may need {wanted / 2**30:.1f} GiB in {options.folder}, and {free / 2**30:.1f} are free: "
                 "make room, or name another folder with --folder or TMPDIR")


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2_000, help="readings a second by all doors")
    parser.add_argument("--devices", type=int, default=420, help="devices at a time")
    parser.add_argument("--new-devices", type=float, default=60, help="devices an hour that take the place of others")
    parser.add_argument("--folder", help="where everything is kept")
    parser.add_argument("--keep", action="store_true", help="keep the data, too")
    parser.add_argument("--lie", action="store_true", help="a sender pretends to have sent one reading more")
    options = parser.parse_args()
    options.folder = options.folder or tempfile.mkdtemp(prefix="kymo-soak-")
    Path(options.folder).mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = parsed()
    refuse_full_disk(options)
    # Then everything that was started is ended, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"{options.hours:g} h, seed {options.seed}, {options.rate:g} readings/s, {options.devices} devices, "
          f"{options.new_devices:g} new ones an hour, in {options.folder}", flush=True)
    soak = Soak(options)
    print(soak.surroundings(), flush=True)
    try:
        soak.run()
    except Exception as error:
        soak.fault(f"{type(error).__name__}: {error}")
    finally:
        soak.close()
    verdicts = soak.verdicts()
    print("\n".join(map(str, verdicts)))
    if any(verdict.passed is False for verdict in verdicts):
        print(f"soak: failed; everything is in {options.folder}")
        sys.exit(1)
    if not options.keep:
        for name in ("data", "out", "receipts"):
            shutil.rmtree(soak.folder / name, ignore_errors=True)
        (soak.folder / "fhir.sqlite").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
