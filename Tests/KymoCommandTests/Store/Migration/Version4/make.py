#!/usr/bin/env python3
"""Writes the stores of this folder with a program of version 4 of the tables.

  make.py KYMO

KYMO is `kymo` as of the last commit before the tables of version 5. `plain.sqlite.gz` is a store that has needed none of the
tables that version 4 makes when it first needs them; `full.sqlite.gz` one that has all of them: a paused type with one letter
put aside, a source and a device that are listed no more, successes of a server, lines of receipts that wait for their file, a
patient map and a list of rules.
"""
import gzip
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDER = os.path.join(HERE, "..", "..", "..", "..", "Servers", "fhir_recorder.py")
KYMO = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp()


def path(name):
    return os.path.join(FOLDER, name)


def line(device, second, kind="heartRate", unit="/min"):
    return ('{"deviceId":"%s","type":"%s","timestamp":"2026-03-01T08:00:%02dZ","value":%d,"unit":"%s"}\n'
            % (device, kind, second, 60 + second, unit))


def kymo(*arguments, text="", expected=0, **environment):
    done = subprocess.run([KYMO, *arguments], input=text, text=True, capture_output=True, cwd=FOLDER,
                          env=dict(os.environ, **environment))
    assert done.returncode == expected, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def wait(text):
    for _ in range(200):
        done = subprocess.run([KYMO, "status", "--data", "data"], text=True, capture_output=True, cwd=FOLDER)
        if text in done.stdout:
            return
        time.sleep(0.2)
    raise SystemExit("no '%s' in %s" % (text, done.stdout + done.stderr))


def keep(name, data):
    database = path(data + "/kymo.sqlite")
    log = database + "-wal"
    assert not os.path.exists(log) or os.path.getsize(log) == 0
    with open(os.path.join(HERE, name + ".sqlite.gz"), "wb") as file:
        file.write(gzip.compress(open(database, "rb").read(), 9, mtime=0))


def plain():
    kymo("run", "--stdin", "--data", "plain", "--out", "out", "--window", "1m",
         text="".join(line("watch-1", second) for second in range(10)) + "{oops\n")
    keep("plain", "plain")


def full():
    server = subprocess.Popen([sys.executable, "-B", RECORDER, path("requests")], stdout=subprocess.PIPE, text=True)
    port = server.stdout.readline().strip()
    with open(path("patients.csv"), "w") as file:
        file.write("device,patient,encounter,from,to\nwatch-1,p-1,,,\nwatch-2,p-2,,,\n")
    with open(path("rules.yaml"), "w") as file:
        file.write('rules: [{name: bench, devices: ["test-*"], then: drop}]\n')
    with open(path("kymo.yaml"), "w") as file:
        file.write(f"""sinks: [{{server: "http://127.0.0.1:{port}/fhir", name: server, identity: create}}]
patients: patients.csv
rules: rules.yaml
receipts: receipts
window: 1m
data: data
""")
    run = ["run", "--config", "kymo.yaml"]
    instance = subprocess.Popen([KYMO, *run, "--unix", "a.sock"], cwd=FOLDER, stderr=subprocess.DEVNULL)
    wait("used by process")
    kymo("pause", "heartRate", "--data", "data")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path("a.sock"))
        client.sendall((line("watch-1", 30) + line("watch-2", 31, "bodyMass", "kg")).encode())
    wait("received 2")
    instance.terminate()
    instance.wait()
    # Killed before the store knows what the file of receipts has: the lines wait in it.
    kymo(*run, "--stdin", text="".join(line("watch-1", second, "bodyMass", "kg") for second in range(10)),
         expected=-signal.SIGKILL, KYMO_CRASH_POINT="receipts-written")
    kymo("sources", "remove", "--device", "watch-2", "--data", "data")
    kymo("sources", "remove", "stdin", "--data", "data")
    server.terminate()
    keep("full", "data")
    kymo("ledger", "--verify", "--data", "data")


plain()
full()
