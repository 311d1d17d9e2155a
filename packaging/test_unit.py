#!/usr/bin/env python3
"""Runs the commands of the unit kymo.service that is installed in a root folder, as systemd would: `test_unit.py ROOT`.

In a chroot, as the unit's user, with its environment and directories, and with a socket in place of systemd's. Sends a
reading over UDP and waits for the Observation. Compares system calls with the unit's filter, which only systemd can apply.
"""

import json
import os
import re
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(sys.argv[1])
CONFIGURATION = ROOT / "etc/kymograph/kymo.yaml"


class Unit:
    """A unit's section Service: all values of a key, in their order."""

    def __init__(self, path):
        self.values = {}
        section = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                section = line
            elif section == "[Service]" and re.match(r"\w+=", line):
                key, value = line.split("=", 1)
                self.values.setdefault(key, []).append(value)

    def one(self, key):
        return self.values[key][-1]


class Manager:
    """The socket that the service tells how it goes."""

    def __init__(self):
        self.path = ROOT / "run/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.path))
        self.path.chmod(0o666)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.heard = []
        self.process = None

    def listen(self, seconds):
        """Hears one message; false when none comes."""
        self.socket.settimeout(max(seconds, 0.001))
        try:
            message, extra, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(12))
        except TimeoutError:
            return False
        # Of the main process, which alone may tell (NotifyAccess=main).
        self.process = struct.unpack("iii", extra[0][2])[0]
        self.heard += message.decode().split("\n")
        return True

    def wait(self, assignment, seconds=60):
        deadline = time.monotonic() + seconds
        while assignment not in self.heard:
            if not self.listen(deadline - time.monotonic()):
                fail(f"no {assignment} in {seconds} s, only {self.heard}")
        self.heard = self.heard[self.heard.index(assignment) + 1:]


def fail(text):
    sys.exit(f"test_unit.py: {text}")


def check(condition, text):
    if not condition:
        fail(text)


def directories(unit):
    """Makes the directories that the unit names; the variables that tell of them."""
    user = unit.one("User")
    entry = next(line.split(":") for line in (ROOT / "etc/passwd").read_text().splitlines() if line.startswith(user + ":"))
    variables = {}
    for key, base in (("State", "var/lib"), ("Runtime", "run"), ("Configuration", "etc")):
        name = unit.one(f"{key}Directory")
        path = ROOT / base / name
        path.mkdir(exist_ok=True)
        path.chmod(int(unit.one(f"{key}DirectoryMode"), 8))
        if key != "Configuration":
            os.chown(path, int(entry[2]), int(entry[3]))
        variables[f"{key.upper()}_DIRECTORY"] = f"/{base}/{name}"
    return variables


def command(unit, line):
    return ["chroot", f"--userspec={unit.one('User')}:{unit.one('Group')}", str(ROOT)] + shlex.split(line)


def first_observation(folder, manager, seconds):
    """The first Observation in any file of `folder`, finished or not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        for path in folder.glob("**/*") if folder.is_dir() else []:
            for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []:
                entries = json.loads(line).get("entry", []) if line.endswith("\n") else []
                for entry in entries:
                    if entry["resource"]["resourceType"] == "Observation":
                        return entry["resource"]
        # A manager always listens.
        manager.listen(0.2)
    return fail(f"no Observation in {folder} after {seconds} s")


def syscall_sets():
    """The sets of system calls that systemd knows, by name."""
    told = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True)
    sets, current = {}, None
    for line in re.sub(r"\x1b\[[0-9;]*m", "", told.stdout).splitlines():
        if re.match(r"@[\w-]+$", line):
            current = sets.setdefault(line, [])
        elif current is not None and line.startswith("    ") and not line.strip().startswith("#"):
            current.append(line.strip())
        elif line.startswith("#"):
            current = None
    return sets


def expanded(names, sets):
    found = set()
    for name in names:
        found |= expanded(sets[name], sets) if name.startswith("@") else {name}
    return found


def allowed(unit):
    """What SystemCallFilter lets through: the first line decides whether it lists what is allowed."""
    sets, calls = syscall_sets(), expanded(["@default"], syscall_sets())
    check(not unit.values["SystemCallFilter"][0].startswith("~"), "the filter has to begin with what is allowed")
    for line in unit.values["SystemCallFilter"]:
        named = expanded(line.lstrip("~").split(), sets)
        calls = calls - named if line.startswith("~") else calls | named
    return calls | expanded(["@default"], sets)


def traced(path):
    """The system calls after the service's own program was started."""
    text = path.read_text(encoding="utf-8", errors="replace")
    calls = text[text.index('execve("/usr/bin/kymo"'):]
    return set(re.findall(r"^\d+ +(\w+)\(", calls, flags=re.MULTILINE)) - {"execve"}


def main():
    unit = Unit(ROOT / "lib/systemd/system/kymo.service")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"} | directories(unit)
    run = lambda line: subprocess.run(
        command(unit, line), env=environment, capture_output=True, text=True, timeout=60, check=False)

    # What the first command of a reload looks at, but for the instance, which is not there yet.
    checked = run(unit.values["ExecReload"][0].replace(" --reload", ""))
    check(checked.returncode == 0, f"ExecReload: {checked.stderr}")
    print("   " + checked.stderr.strip())
    absent = run(unit.values["ExecReload"][0])
    check(absent.returncode == 69 and "no instance" in absent.stderr, f"ExecReload without an instance: {absent}")

    manager = Manager()
    watchdog = {"NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "2000000"}
    trace = ROOT / "tmp/trace"
    service = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", str(trace)] + command(unit, unit.one("ExecStart")), env=environment | watchdog,
        stderr=subprocess.PIPE, text=True)
    try:
        manager.wait("READY=1")
        began = time.monotonic()
        reading = {"deviceId": "strap-1", "type": "heartRate", "value": 61, "unit": "/min",
                   "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(json.dumps(reading).encode(), ("127.0.0.1", 5757))
        manager.wait("WATCHDOG=1")

        # A reload of what is wrong, or would not be taken over, is refused by the first command, so that systemd does not
        # come to the second.
        good = CONFIGURATION.read_bytes()
        for changed, status, words in (
                (good + b"windw: 5m\n", 78, "windw"), (good + b"window: 17m\n", 78, "cannot change while it runs"),
                (good.replace(b"sources:\n", b"sources:\n  - unix: /none/more.sock\n"), 78, "started to change files in"),
                (good.replace(b"sources:\n", b"sources:\n  - unix: /run/kymo/none/more.sock\n"), 71, "none/more.sock")):
            CONFIGURATION.write_bytes(changed)
            refused = run(unit.values["ExecReload"][0])
            CONFIGURATION.write_bytes(good)
            check(refused.returncode == status and words in refused.stderr, f"ExecReload: {refused}")
        check("78" in unit.one("RestartPreventExitStatus").split(), "78 is not among RestartPreventExitStatus")
        check(run(unit.values["ExecReload"][0]).returncode == 0, "ExecReload of a good configuration")
        os.kill(manager.process, signal.SIGHUP)
        manager.wait("RELOADING=1")
        manager.wait("READY=1")

        observation = first_observation(ROOT / "var/lib/kymo/observations", manager, 60)
        check(observation["code"]["coding"][0]["code"] == "8867-4", f"another Observation: {observation}")
        print(f"   an Observation {time.monotonic() - began:.0f} s after the reading")
        status = run("/usr/bin/kymo status --config /etc/kymograph/kymo.yaml")
        check("received 1 = " in status.stdout, f"kymo status: {status}")
        os.kill(manager.process, signal.SIGTERM)
        manager.wait("STOPPING=1")
        service.wait(60)
    finally:
        if service.poll() is None:
            os.kill(manager.process or service.pid, signal.SIGKILL)
        messages = service.communicate()[0 if service.stderr is None else 1]
    check(service.returncode == 0, f"exit status {service.returncode}: {messages}")
    beyond = traced(trace) - allowed(unit)
    check(not beyond, f"SystemCallFilter does not let through: {', '.join(sorted(beyond))}")
    print(f"   {len(traced(trace))} kinds of system calls, all of which the unit's filter lets through")


if __name__ == "__main__":
    main()
