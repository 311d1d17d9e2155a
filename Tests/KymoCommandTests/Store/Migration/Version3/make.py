#!/usr/bin/env python3
"""Writes the stores of this folder with a program of version 3 of the tables, and that of Version1 with one of version 1, and
what that program makes of them.

  make.py KYMO NAME...

KYMO is `kymo` as of the last commit before the tables of version 4 (built from the parent of "Let entries leave the core,
and each sink put its own together"), and for `first` as of a462d9c. Each NAME becomes NAME.sqlite.gz, NAME.files.gz (all that a folder of files gets),
NAME.requests.gz (what a server takes, one request a line) and NAME.letters.gz (the bytes of the dead letters) beside this
file. The runs must be those of FormerStore.swift. Only what is in STORES can be written again: transaction, batch and panel
were written by hand.
"""
import gzip
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDER = os.path.join(HERE, "..", "..", "..", "..", "Servers", "fhir_recorder.py")
MAPPINGS = ["device-registration", "reading", "insulin-pump", "device-alarms"]
LONG = "w" * 141


def lines(mapped):
    """Readings of three devices, one of which has an identifier that is too long, and of two patients."""
    for minute in range(10, 16):
        for device, patient in (("watch-1", None), ("watch-2", 'p|7, "x"'), (LONG, "p-3")):
            person = "" if patient is None else ',"patientId":"%s"' % patient.replace('"', '\\"')
            yield ('{"deviceId":"%s","type":"heartRate","timestamp":"2026-03-01T08:%d:00Z","value":%d,"unit":"/min"%s}'
                   % (device, minute, 60 + minute, person))
        if not mapped:
            continue
        for device in ("device-0", "device-1"):
            start = "2026-03-01T08:%d:" % minute
            if minute == 10:
                yield ('{"deviceId":"%s","timestamp":"%s00Z","registration":{"serialNumber":"S","manufacturer":"M"}}'
                       % (device, start))
            yield ('{"pumpId":"%s","patientId":"of-%s","insulin":"lispro","start":"%s00Z","end":"%s30Z",'
                   '"bolus":{"delivered":4.5,"state":"complete"}}' % (device, device, start, start))
            if minute == 12:
                yield ('{"device":"%s","patient":"of-%s","time":"%s10Z","message":{"text":"Battery low","priority":"low"}}'
                       % (device, device, start))


# Environment; kind of sinks; how a server identifies; its version of FHIR; whether other mappings take part.
STORES = {
    "collection": ({"KYMO_OUTPUT_MAX_ENTRIES": "15", "KYMO_OUTPUT_BUNDLE": "collection"}, "folders", None, None, True),
    "ndjson": ({"KYMO_OUTPUT_MAX_ENTRIES": "15", "KYMO_OUTPUT_FORMAT": "ndjson"}, "folders", None, None, True),
    "stu3": ({"KYMO_OUTPUT_MAX_ENTRIES": "15", "KYMO_OUTPUT_FHIR_VERSION": "STU3"}, "servers", "create", "3.0.2", False),
    "lookup": ({"KYMO_OUTPUT_MAX_ENTRIES": "15"}, "servers", "lookup", "4.0.1", False),
    "first": ({"KYMO_OUTPUT_MAX_ENTRIES": "15"}, "servers", "create", "4.0.1", True),
}
# Of another version.
FOLDERS = {"first": "Version1"}


class Maker:
    def __init__(self, kymo, name):
        self.kymo, self.name = kymo, name
        self.environment, self.sinks, self.identity, self.version, self.mapped = STORES[name]
        self.folder = tempfile.mkdtemp()

    def path(self, name):
        return os.path.join(self.folder, name)

    def serve(self, record, *arguments):
        options = ["--fhir-version", self.version] + (["--knows-all"] if self.identity == "lookup" else [])
        process = subprocess.Popen(
            [sys.executable, "-B", RECORDER, record, *arguments, *options], stdout=subprocess.PIPE, text=True)
        return process, process.stdout.readline().strip()

    def configure(self, output, port, refusing):
        if self.sinks == "folders":
            text = f"sinks:\n  - {{to: {output}, name: files}}\n  - {{to: {output}-more, name: more}}\n"
        else:
            text = f"""sinks:
  - {{to: {output}, name: files}}
  - {{server: "http://127.0.0.1:{port}/fhir", name: server, identity: {self.identity}, connections: 1}}
  - {{server: "http://127.0.0.1:{refusing}/fhir", name: refusing, identity: create}}
"""
        with open(self.path("kymo.yaml"), "w") as file:
            file.write(text)

    def run(self, data, text=b"", crash=None):
        environment = dict(os.environ, **self.environment)
        arguments = ["run", "--stdin", "--data", data, "--config", self.path("kymo.yaml"), "--window", "1m"]
        if text and self.mapped:
            arguments += [part for name in MAPPINGS for part in ("--mapping", name)]
        if crash:
            environment["KYMO_CRASH_POINT"] = crash
        done = subprocess.run([self.kymo, *arguments], input=text, env=environment, capture_output=True)
        expected = -signal.SIGKILL if crash else 0
        assert done.returncode == expected, (self.name, done.returncode, done.stderr.decode())
        return done.stderr.decode()

    def make(self):
        data = self.path("data")
        text = "".join(line + "\n" for line in lines(self.mapped)).encode()
        servers = []
        if self.sinks == "folders":
            # Both folders would take all at once: the process is killed before it is noted that they did.
            self.configure(self.path("first"), None, None)
            self.run(data, text + b"{oops\n", crash="before-receipt")
            self.run(data, crash="before-receipt")
            # Whoever changes a letter leaves nothing in the log.
            subprocess.run([self.kymo, "dead", "discard", "--all", "--data", data], check=True)
        else:
            refuser, refusing = self.serve(self.path("unused"), "Battery low")
            # Nobody listens where the other one is to be.
            self.configure(self.path("first"), 9, refusing)
            self.run(data, text)
            servers.append(refuser)
        database = os.path.join(data, "kymo.sqlite")
        assert not os.path.exists(database + "-wal") or os.path.getsize(database + "-wal") == 0
        with sqlite3.connect(f"file:{database}?immutable=1", uri=True) as connection:
            print(connection.execute("SELECT number, size, sinks FROM outbox").fetchall(),
                  connection.execute("SELECT * FROM sink").fetchall(),
                  connection.execute("SELECT (SELECT count(*) FROM journal), (SELECT count(*) FROM dead)").fetchall())
        self.keep("sqlite", open(database, "rb").read())
        record = self.path("requests")
        if self.sinks == "servers":
            server, port = self.serve(record)
            servers.append(server)
            self.configure(self.path("out"), port, port)
        else:
            open(record, "w").close()
            self.configure(self.path("out"), None, None)
        print(self.run(self.copy("a")))
        self.keep("requests", open(record, "rb").read())
        # What the first run gave to the folder, if it came to its end.
        out = self.path("out" if self.sinks == "folders" else "first")
        self.keep("files", b"".join(open(os.path.join(out, name), "rb").read() for name in sorted(os.listdir(out))))
        self.keep("letters", self.letters(data))
        for server in servers:
            server.terminate()
        shutil.rmtree(self.folder)

    def copy(self, name):
        os.mkdir(self.path(name))
        shutil.copy(self.path("data/kymo.sqlite"), self.path(name))
        return self.path(name)

    def letters(self, data):
        listed = subprocess.run([self.kymo, "dead", "list", "--data", data], capture_output=True, text=True, check=True)
        numbers = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
        return b"".join(
            subprocess.run([self.kymo, "dead", "show", number, "--bytes", "--data", data], capture_output=True,
                           check=True).stdout for number in numbers)

    def keep(self, ending, content):
        with open(os.path.join(HERE, "..", FOLDERS.get(self.name, "Version3"), f"{self.name}.{ending}.gz"), "wb") as file:
            file.write(gzip.compress(content, 9, mtime=0))


for name in sys.argv[2:]:
    Maker(sys.argv[1], name).make()
