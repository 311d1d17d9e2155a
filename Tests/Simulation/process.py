"""One life of the simulated process: from its start until it ends or is ended."""
import ctypes
import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADDR_NO_RANDOMIZE = 0x0040000
ENDED_BY_CRASH = 137
SOURCES = ("schedule.c", "calls.c", "disk.c", "world.c")


def library(folder):
    """Compiles what the process preloads."""
    made = Path(folder) / "simulation.so"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-ftls-model=initial-exec", "-o", made,
                    *(HERE / name for name in SOURCES), "-ldl"], check=True)
    return made


def fix_addresses():
    """Has the programs that this one starts begin at the same addresses each time."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


def has_compiler():
    return shutil.which("cc") is not None


class Life:
    """What is told of a life when it has ended."""

    def __init__(self, status, how, clock, operations, trace, errors):
        self.status, self.how, self.clock = status, how, clock
        self.operations, self.trace, self.errors = operations, trace, errors


def run(arguments, world, folder, *, library, seed, clock, crash=None, cuts_power=False, lies=False, trace=None,
        clients=0, port=0, whole_writes=None):
    """Runs a program with what is in `world`, by name, around it."""
    from_process, to_parent = os.pipe()
    from_parent, to_process = os.pipe()
    environment = {
        "PATH": os.environ["PATH"], "TZ": "UTC", "HOME": str(folder), "SWIFT_DETERMINISTIC_HASHING": "1",
        "LD_PRELOAD": str(library), "KYMO_SIMULATION_SEED": str(seed), "KYMO_SIMULATION_TIME": str(clock),
        "KYMO_SIMULATION_ROOT": str(folder), "KYMO_SIMULATION_OUT": str(to_parent),
        "KYMO_SIMULATION_IN": str(from_parent), "KYMO_SIMULATION_CLIENTS": str(clients),
        "KYMO_SIMULATION_PORT": str(port),
    }
    if crash:
        environment |= {"KYMO_SIMULATION_CRASH": str(crash), "KYMO_SIMULATION_POWER": str(int(cuts_power))}
    if lies:
        environment["KYMO_SIMULATION_LYING_DISK"] = "1"
    if whole_writes:
        environment["KYMO_SIMULATION_WHOLE_WRITES"] = str(whole_writes)
    passed = [to_parent, from_parent]
    if trace:
        passed.append(os.open(trace, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
        environment["KYMO_SIMULATION_TRACE"] = str(passed[-1])
    errors = open(Path(folder) / "errors", "w+b")
    child = subprocess.Popen(arguments, env=environment, pass_fds=passed, stdin=subprocess.DEVNULL,
                             stdout=errors, stderr=errors, cwd=folder)
    for descriptor in passed:
        os.close(descriptor)
    how, clock, rest = converse(from_process, to_process, world, clock)
    status = child.wait()
    errors.seek(0)
    with errors:
        text = errors.read().decode(errors="replace")
    operations, _, hash_of_trace = rest.decode().partition(" ")
    return Life(status, how, clock, int(operations or 0), hash_of_trace, text)


def converse(from_process, to_process, world, clock):
    """Answers what the process asks until it ends; how that was, the time, and what it said last."""
    with open(from_process, "rb") as questions, open(to_process, "wb", buffering=0) as answers:
        while line := questions.readline():
            who, event, time, size = line.decode().split()
            payload, clock = questions.read(int(size)), int(time)
            if who == "end":
                return event, clock, payload
            answer = world[who].answer(event, payload)
            action, number, content = answer + (0, b"")[len(answer) - 1:]
            answers.write(f"{action} {number} {len(content)}\n".encode() + content)
    return "gone", clock, b""
