"""What stands around the instance: a FHIR server that fails on request, and a broker."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from instance import HERE, free_port, until

STRICT = Path(os.environ.get("KYMO_SHARED", HERE.parent.parent.parent / "shared")) / "fhir/fhir_server_stub.py"


class StrictServer:
    """The strict FHIR server, which keeps what it has in a file over restarts."""
    #: What it can be made to do: shares of the requests that fail.
    FAULTS = [{"503": 1}, {"500": 1}, {"401": 1}, {"429": 1}, {"slow": 1}, {"reset": 1}, {"lost": 0.3, "500": 0.3}, "down"]

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "-B", STRICT, "--port", str(self.port), "--db", self.folder / "fhir.sqlite"],
            stdout=subprocess.DEVNULL, stderr=open(self.folder / "fhir.log", "ab"))
        until("the FHIR server", lambda: self.asked("/_stats") is not None, 60)

    def asked(self, path, body=None):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", body, timeout=30) as answer:
                return json.loads(answer.read())
        except OSError:
            return None

    def fail(self, fault):
        if fault == "down":
            self.close()
        elif self.asked("/_fault", json.dumps(fault).encode()) is None:
            raise RuntimeError("the FHIR server does not answer")

    def mend(self):
        if self.process.poll() is not None:
            self.start()
        self.fail({})

    def complaints(self):
        """What is there twice. The more there is, the longer looking takes: hours of it, more than one request may."""
        stats = until("what the FHIR server has", lambda: self.asked("/_stats"), 300)
        return [f"the FHIR server has {stats[name]} {name}"
                for name in ("identifier_dups", "observation_key_dups") if stats[name]]

    def close(self):
        self.process.terminate()
        self.process.wait(30)


class RecordingServer:
    """In its place where $KYMO_SHARED has no strict one: takes everything, and can only stand still."""
    FAULTS = ["still"]

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-B", HERE.parent / "Servers/fhir_recorder.py", os.devnull], stdout=subprocess.PIPE, text=True,
            stderr=open(folder / "fhir.log", "ab"))
        self.port = int(self.process.stdout.readline())

    def fail(self, fault):
        self.process.send_signal(signal.SIGSTOP)

    def mend(self):
        self.process.send_signal(signal.SIGCONT)

    def complaints(self):
        return []

    def close(self):
        self.mend()
        self.process.terminate()
        self.process.wait(30)


def fhir_server(folder):
    return (StrictServer if STRICT.exists() else RecordingServer)(folder)


def broker_binary():
    return shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


class Broker:
    """mosquitto, which keeps all that waits."""

    def __init__(self, folder, port):
        path = folder / "mosquitto.conf"
        path.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"
                        "max_inflight_messages 0\nuser root\n")
        self.process = subprocess.Popen([broker_binary(), "-c", path], stderr=subprocess.DEVNULL)
        time.sleep(1)
        if self.process.poll() is not None:
            raise RuntimeError("mosquitto did not start")

    def close(self):
        self.process.terminate()
        self.process.wait(30)
