"""Measures a sink of PostgreSQL: measure.py KYMO FOLDER READINGS."""
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = "/usr/lib/postgresql/15/bin"
DEVICES = 100


def as_server(*command):
    """The command by which the server's user runs another one: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]


def psql(folder, *arguments, **more):
    command = [f"{PROGRAMS}/psql", "-h", str(folder), "-U", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
    done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True, **more)
    return done.stdout


def started(folder):
    """A server with a database `readings`, and where its socket is."""
    folder.parent.chmod(0o711)
    folder.mkdir()
    if os.geteuid() == 0:
        subprocess.run(["chown", "postgres:postgres", str(folder)], check=True)
    subprocess.run(
        as_server(f"{PROGRAMS}/initdb", "-D", f"{folder}/data", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust"),
        check=True, stdout=subprocess.DEVNULL, cwd="/")
    server = subprocess.Popen(
        as_server(f"{PROGRAMS}/postgres", "-D", f"{folder}/data", "-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"),
        stderr=subprocess.DEVNULL, cwd="/")
    for _ in range(200):
        try:
            psql(folder, "-d", "postgres", "-c", "CREATE DATABASE readings")
            return server
        except subprocess.CalledProcessError:
            time.sleep(0.05)
    raise SystemExit("postgres.sh: the server does not start")


def lines(count):
    for number in range(count):
        second, device = divmod(number, DEVICES)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_772_352_000 + second))
        reading = {"deviceId": f"w-{device}", "type": "heartRate", "timestamp": moment, "value": 50 + number % 90, "unit": "/min"}
        yield json.dumps(reading) + "\n"


def sink(kymo, folder, server, count):
    """Seconds from the start of kymo to its end, and those in which it does the same without a database."""
    content = "".join(lines(count))
    seconds = []
    for name, out in (("files", f"{folder}/out"), ("database", f"postgres://postgres@/readings?host={server}")):
        began = time.monotonic()
        done = subprocess.run(
            [kymo, "run", "--stdin", "--data", f"{folder}/{name}", "--window", "1m", "--out", out],
            input=content, text=True, capture_output=True)
        seconds.append(time.monotonic() - began)
        if done.returncode:
            raise SystemExit(done.stderr)
    return seconds


def inserts(server, rows, folder, commits):
    """Seconds that psql takes to insert `rows` one by one."""
    psql(server, "-d", "readings", "-c", "DROP TABLE IF EXISTS single", "-c", "CREATE TABLE single (LIKE kymo.reading INCLUDING ALL)")
    file = folder / "single.sql"
    text = "".join(f"INSERT INTO single (observation, time, ordinal, kind, value, unit) VALUES ({row});\n" for row in rows)
    file.write_text(text if commits else f"BEGIN;\n{text}COMMIT;\n")
    began = time.monotonic()
    psql(server, "-d", "readings", "-f", str(file))
    return time.monotonic() - began


def main():
    kymo, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    place = folder / "server"
    server = started(place)
    try:
        files, database = sink(kymo, folder, place, count)
        stored = int(psql(place, "-d", "readings", "-c", "SELECT count(*) FROM kymo.readings"))
        if stored != count:
            raise SystemExit(f"postgres.sh: {stored} rows of {count} readings")
        print(f"kymo, from standard input to its end: {count / database:,.0f} rows/s; to files {count / files:,.0f} readings/s")
        query = "SELECT format('%s, %L, %s, %L, %s, %L', observation, time, ordinal, kind, value, unit) FROM kymo.reading LIMIT "
        for commits, most in ((False, count), (True, min(count, 5_000))):
            rows = psql(place, "-d", "readings", "-c", f"{query}{most}").splitlines()
            seconds = inserts(place, rows, folder, commits)
            name = "each committed" if commits else "in one transaction"
            print(f"psql, an INSERT for each row, {name}: {most / seconds:,.0f} rows/s")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


main()
