"""What measurements ask of a process that runs, and of one that has ended. Python finds it by begin.sh."""
import os
import re
import socket
import subprocess
import time
from typing import NamedTuple


def free_port(kind=socket.SOCK_DGRAM):
    """A port of this machine that nobody has: of UDP, or of TCP for SOCK_STREAM."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(process):
    """The address that a process says that it listens on, such as `udp 127.0.0.1:5140`; None when it ends before it
    says so. Its standard error is read, as text."""
    for line in iter(process.stderr.readline, ""):
        if found := re.search(r"listening on ([^,\n]+)", line):
            return found[1]
    return None


def cpu_seconds(process):
    """User and system time of a process so far."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(process):
    """The most MiB that a process has had in memory; None when it has ended, and nobody has waited for it."""
    with open(f"/proc/{process.pid}/status") as status:
        return next((int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:")), None)


def number(pattern, text, missing=0):
    """The whole number that `pattern` finds in what a process has said."""
    found = re.search(pattern, text)
    return int(found[1]) if found else missing


class Run(NamedTuple):
    """A process that has ended: user and system seconds, seconds from its start, peak MiB, exit status, and what it has
    said on standard error."""
    cpu: float
    wall: float
    memory: float
    status: int
    text: str


def run(command, path, output=None, **environment):
    """Runs `command` with the file `path` as its input and `environment` added to its environment."""
    start = time.monotonic()
    with open(path, "rb") as lines:
        process = subprocess.Popen(
            command, stdin=lines, stdout=output, stderr=subprocess.PIPE, env={**os.environ, **environment})
        text = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024, process.returncode, text)
