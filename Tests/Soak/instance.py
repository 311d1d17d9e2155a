"""The instance of `kymo run` of a soak: its folder, configuration, metrics, and what is done to it."""
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
START_SECONDS = 60
STOP_SECONDS = 120
#: How long closed windows are kept. The clock steps by less.
ARCHIVE_AGE = "2h"
WINDOW = "2m"


def ports_beside(first, last):
    """Ports to listen on where the system gives those from `first` to `last` to connections."""
    return [port for port in range(10_240, 65_536) if not first <= port <= last]


def free_port(kind=socket.SOCK_STREAM, ports=None):
    """A port that nobody has, of `ports`, by default of those that no connection gets: such a one can be taken while the process
    that listens on it is away, also by the sender that tries to reach it. Where there is none, the system chooses."""
    if ports is None:
        ports = ports_beside(*map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()))
    for port in [*random.sample(ports, min(len(ports), 100)), 0]:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, kind) as probe:
            probe.bind(("127.0.0.1", port))
            return probe.getsockname()[1]


def until(what, condition, seconds):
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.05)
    return found


class Clock:
    """The wall clock of the instance, which steps. Without a compiler it stays as it is, and `is_available` is false."""

    def __init__(self, folder):
        self.file, library = folder / "clock", folder / "clock.so"
        self.file.write_bytes(struct.pack("q", 0))
        self.environment = {}
        self.is_available = bool(shutil.which("cc")) and subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-o", library, HERE / "clock.c", "-ldl"]).returncode == 0
        if self.is_available:
            self.environment = {"LD_PRELOAD": str(library), "KYMO_SOAK_CLOCK": str(self.file)}

    def step(self, seconds):
        """Sets it to `seconds` from the system's."""
        with open(self.file, "r+b") as file:
            file.write(struct.pack("q", seconds * 1_000_000_000))


class Settings:
    """What the configuration says, and a reload changes."""

    def __init__(self):
        self.guest = None
        self.level, self.max_future, self.rotate, self.idle_limit = "info", "5m", "1MiB", "10m"
        self.types = None
        self.window = WINDOW
        self.error = ""


class Instance:
    """The process, in `folder`. `has_broker` is whether a broker listens on its port; `server` is the FHIR server's port."""

    def __init__(self, binary, folder, has_broker, server):
        self.server = server
        self.binary, self.folder, self.has_broker = str(binary), Path(folder), has_broker
        self.process = None
        self.settings = Settings()
        self.clock = Clock(self.folder)
        self.tcp, self.tls, self.http, self.mllp, self.admin, self.broker = (free_port() for _ in range(6))
        self.udp = free_port(socket.SOCK_DGRAM)
        self.keys = 0
        self.key = self.new_key()
        self.make_certificate()
        self.make_token("0" * 32)
        shutil.copytree(HERE.parent.parent / "mappings/reading", self.folder / "ward")
        (self.folder / "peers.yaml").write_text(
            f"peers:\n  - tokenFile: {self.folder}/token\n    name: soak\n    rate: 1000000\n")
        self.log = open(self.folder / "log", "ab")
        self.write()

    # The folder

    def new_key(self):
        self.keys += 1
        path = self.folder / f"key-{self.keys}"
        self.run("keys", "new", path)
        return path

    def make_certificate(self):
        """A certificate of this machine and its key, in the place of former ones."""
        for name in ("key.new", "pem.new"):
            (self.folder / name).unlink(missing_ok=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
             "-subj", "/CN=localhost", "-keyout", self.folder / "key.new", "-out", self.folder / "pem.new"],
            check=True, capture_output=True)
        both = (self.folder / "key.new").read_text() + (self.folder / "pem.new").read_text()
        self.replace("tls.pem", both)

    def make_token(self, token):
        self.replace("token", token + "\n")

    def replace(self, name, text):
        """Writes a file that only its owner may read, in one step."""
        path = self.folder / (name + ".next")
        path.touch(mode=0o600)
        path.write_text(text)
        path.rename(self.folder / name)

    def configuration(self):
        """The whole configuration as the program reads it: YAML that is JSON."""
        at, settings = str(self.folder), self.settings
        tls = {"certificateFile": f"{at}/tls.pem"}
        sources = [
            {"unix": f"{at}/kymo.sock", "name": "unix"},
            {"udp": f"127.0.0.1:{self.udp}", "name": "udp"},
            {"tcp": f"127.0.0.1:{self.tcp}", "name": "tcp", "idleLimit": settings.idle_limit},
            {"tcp": f"127.0.0.1:{self.tls}", "name": "tls", **tls},
            {"http": f"127.0.0.1:{self.http}", "name": "http", "peers": f"{at}/peers.yaml"},
            {"mllp": f"127.0.0.1:{self.mllp}", "name": "mllp", "mappings": ["pcd-01"]},
        ]
        if self.has_broker:
            sources.append({"mqtt": f"mqtt://127.0.0.1:{self.broker}", "topics": ["ward/+"], "name": "mqtt",
                            "clientId": "kymo-soak"})
        if settings.guest:
            sources.append({"unix": f"{at}/guest.sock", "name": settings.guest})
        files = {"to": f"{at}/out", "name": "files"}
        if settings.types:
            files["types"] = settings.types
        return {
            "window": settings.window, "mappings": [f"{at}/ward"], "maxFuture": settings.max_future, "sources": sources,
            "sinks": [files, {"server": f"http://127.0.0.1:{self.server}", "name": "fhir", "identity": "create",
                              "connections": 4}],
            "output": {"rotateBytes": settings.rotate, "rotateIdle": "10s"},
            "data": f"{at}/data", "encryption": {"keyFile": str(self.key)}, "receipts": f"{at}/receipts",
            "store": {"archiveAge": ARCHIVE_AGE}, "limits": {"archiveBytes": "4MiB"},
            "http": {"admin": f"127.0.0.1:{self.admin}"}, "log": {"format": "json", "level": settings.level},
        }

    @property
    def file(self):
        return self.folder / "kymo.yaml"

    def write(self):
        self.replace("kymo.yaml", json.dumps(self.configuration(), indent=1) + self.settings.error)

    # The process

    def run(self, *command, statuses=(0,)):
        """What a command of kymo writes; it must exit with one of `statuses`."""
        done = subprocess.run([self.binary, *map(str, command)], capture_output=True, text=True, timeout=600)
        if done.returncode not in statuses:
            raise RuntimeError(f"kymo {command[0]}: status {done.returncode}: {done.stderr[-2000:]}{done.stdout[-2000:]}")
        return done.stdout

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "run", "--config", self.file], stdout=subprocess.DEVNULL, stderr=self.log,
            env={**os.environ, **self.clock.environment})
        until("readiness", self.is_ready, START_SECONDS)

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"kymo has ended with status {self.process.returncode}; see {self.folder}/log")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        """Ends it with SIGTERM; its status must be 0."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(STOP_SECONDS)
        if status:
            raise RuntimeError(f"kymo has ended with status {status} after SIGTERM; see {self.folder}/log")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def rotate_key(self, is_whole):
        """Changes the key of a store that no process has; with `is_whole` all data keys, too."""
        new = self.new_key()
        self.run("keys", "rotate", "--data", self.folder / "data", "--key-file", self.key, "--new-key-file", new,
                 *(["--all"] if is_whole else []))
        self.key.unlink()
        self.key = new
        self.write()

    def reload(self):
        """Writes the configuration, sends SIGHUP, and waits for its verdict: whether it was taken."""
        before = self.reloads()
        self.write()
        self.process.send_signal(signal.SIGHUP)
        return self.verdict(before)

    def reloads(self):
        found = self.metrics()
        return tuple(found[f'kymo_mapping_reloads_total{{result="{result}"}}'] for result in ("succeeded", "failed"))

    def verdict(self, before):
        """Whether the reload since `before` was taken."""
        after = until("the verdict on a reload", lambda: (now := self.reloads()) != before and now, 30)
        return after[0] > before[0]

    # What it says

    def metrics(self):
        """All metrics, by their names with labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def ledger(self):
        return json.loads(self.run("ledger", "--config", self.file, "--format", "json"))

    def memory(self):
        """Resident memory in bytes, and the part of it that is no file's."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return tuple(int(re.search(rf"{name}:\s+(\d+)", text)[1]) * 1024 for name in ("VmRSS", "RssAnon"))

    def descriptors(self):
        """How many descriptors of each kind are open; empty where this user may not look."""
        kinds = {}
        try:
            for name in os.listdir(f"/proc/{self.process.pid}/fd"):
                try:
                    target = os.readlink(f"/proc/{self.process.pid}/fd/{name}")
                except FileNotFoundError:
                    continue
                kind = re.sub(r":\[?\d+\]?$", "", target).replace(str(self.folder), "")
                kind = re.sub(r"kymo-\d{8}T\d+-\d+", "kymo", kind)
                kinds[kind] = kinds.get(kind, 0) + 1
        except PermissionError:
            pass
        return kinds
