"""Runs fuzz targets side by side within some seconds, which they share, and prints what they have done.

Inputs that lead somewhere new are kept in a folder, so that the next run begins with them. A target fails with an input that
crashes, that takes too long or too much memory: that input is kept, and the command that runs it again is printed.

`--check` shows that a target that fails is told, and one that does not is not: by the target `broken`, which fails on purpose.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

# Seconds and MiB that one input may take. With AddressSanitizer, memory that was freed is kept for a while.
SECONDS, MEBIBYTES = 5, 1_024
SANITIZER = "quarantine_size_mb=16:detect_leaks=0:detect_stack_use_after_return=0:handle_abort=1"
# Where files take no disk, if there is such a place.
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
AGAIN = "KYMO_FUZZ_FOLDER=$(mktemp -d)"
# Of what a target that fails has written.
LAST_LINES = 30


class Run:
    """What a target has done: its numbers, and the input with which it failed."""

    def __init__(self, binary, target, longest, options):
        self.target = target
        self.found = os.path.join(options.corpus, target)
        finds = os.path.join(options.finds, target)
        os.makedirs(self.found, exist_ok=True)
        os.makedirs(finds, exist_ok=True)
        before = len(os.listdir(self.found))
        seeds = os.path.join(options.seeds, target)
        command = [
            binary, self.found, *([seeds] if os.path.isdir(seeds) else []), f"-max_total_time={options.share}", f"-runs={options.runs}",
            f"-max_len={longest}", f"-timeout={SECONDS}", f"-rss_limit_mb={MEBIBYTES}", f"-seed={options.seed}",
            "-print_final_stats=1", "-reload=0", f"-artifact_prefix={finds}/"]
        began = time.monotonic()
        # For files that a target writes: a process that crashes removes nothing.
        with tempfile.TemporaryDirectory(prefix="kymo-fuzz-", dir=MEMORY) as folder:
            process = subprocess.run(
                command, env=environment(target, folder), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                errors="replace")
        self.seconds = time.monotonic() - began
        self.status, self.output = process.returncode, process.stderr
        self.executions = self._number(r"stat::number_of_executed_units:\s*(\d+)")
        self.peak = self._number(r"stat::peak_rss_mb:\s*(\d+)")
        self.edges = self._number(r"cov: (\d+)")
        self.new = len(os.listdir(self.found)) - before
        kept = re.findall(r"Test unit written to (\S+)", self.output)
        self.find = kept[-1] if kept else None

    def _number(self, pattern):
        """The last number that it has told, or 0."""
        found = re.findall(pattern, self.output)
        return int(found[-1]) if found else 0

    @property
    def failed(self):
        # One that has run nothing has shown nothing.
        return self.status != 0 or self.executions == 0

    @property
    def row(self):
        rate = self.executions / max(self.seconds, 0.001)
        return f"{self.target:<16}{self.executions:>12}{rate:>10.0f}{self.edges:>9}{self.new:>6}{self.peak:>8}"

    def show(self, binary):
        """Prints why it failed, and how to run it again."""
        print(f"\n{self.target}: exit status {self.status}")
        print("\n".join(self.output.splitlines()[-LAST_LINES:]))
        if self.find:
            print(f"input: {self.find}\nagain: {AGAIN} KYMO_FUZZ_TARGET={self.target} {binary} {self.find}")


def environment(target, folder=""):
    """The environment of a target's process, which may write files to `folder`."""
    values = dict(os.environ, KYMO_FUZZ_TARGET=target, KYMO_FUZZ_FOLDER=folder)
    values.setdefault("ASAN_OPTIONS", SANITIZER)
    # AddressSanitizer tells where it was. Swift's own backtrace would hold the output open, and may wait for ever.
    values.setdefault("SWIFT_BACKTRACE", "enable=no")
    return values


def listed(binary):
    """Most bytes of an input by the target's name; and the names of targets that are run only when they are named."""
    listing = subprocess.run([binary, "--targets"], stdout=subprocess.PIPE, text=True, check=True, env=environment(""))
    rows = [line.split("\t") for line in listing.stdout.splitlines()]
    return {name: int(longest) for name, longest, _ in rows}, {name for name, _, note in rows if note}


def run(binary, options):
    """Runs targets and prints a table; whether none has failed."""
    longest, hidden = listed(binary)
    names = options.targets.split(",") if options.targets else [name for name in longest if name not in hidden]
    unknown = [name for name in names if name not in longest]
    if unknown:
        sys.exit(f"fuzz.py: there is no target {', '.join(unknown)}; there are {', '.join(n for n in longest if n not in hidden)}")
    options.jobs = min(options.jobs, len(names))
    options.share = max(1, options.seconds * options.jobs // len(names))
    print(f"{len(names)} targets, {options.share} s each, {options.jobs} at a time, seed {options.seed}")
    print(f"{'target':<16}{'executions':>12}{'a second':>10}{'edges':>9}{'new':>6}{'peak MB':>8}", flush=True)
    runs = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = [pool.submit(Run, binary, name, longest[name], options) for name in names]
        for finished in concurrent.futures.as_completed(started):
            runs.append(finished.result())
            print(runs[-1].row, flush=True)
    failed = [run for run in runs if run.failed]
    for run in failed:
        run.show(binary)
    print(f"\n{sum(run.executions for run in runs)} executions; failed: {', '.join(run.target for run in failed) or 'none'}")
    return not failed


def check(binary):
    """Runs this script on a target that fails and on one that does not; complains unless it says so."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = os.path.join(folder, "seeds", "broken")
        os.makedirs(seeds)
        command = [
            sys.executable, "-B", os.path.abspath(__file__), binary, "--targets", "broken", "--seconds", "1",
            "--corpus", os.path.join(folder, "corpus"), "--finds", os.path.join(folder, "finds"),
            "--seeds", os.path.join(folder, "seeds")]
        with open(os.path.join(seeds, "good"), "wb") as seed:
            seed.write(b"a")
        # Too few executions to come upon the word by chance.
        good = subprocess.run([*command, "--runs", "1"], stdout=subprocess.PIPE, text=True)
        with open(os.path.join(seeds, "bad"), "wb") as seed:
            seed.write(b"bug!")
        bad = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        finds = os.path.join(folder, "finds", "broken")
        kept = os.listdir(finds)
        same = [name for name in kept if open(os.path.join(finds, name), "rb").read() == b"bug!"]
        if good.returncode != 0 or kept != same or len(same) != 1:
            sys.exit(f"fuzz.py: a run without a find: exit status {good.returncode}\n{good.stdout}")
        if bad.returncode != 1 or f"again: {AGAIN} KYMO_FUZZ_TARGET=broken {binary} {finds}/" not in bad.stdout:
            sys.exit(f"fuzz.py: a target that fails was not told: exit status {bad.returncode}\n{bad.stdout}")
    print("a target that fails is told, with its input")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("binary", help="the program with the targets")
    options.add_argument("--seconds", type=int, default=60, help="seconds for all targets together, a second for each at least")
    options.add_argument("--runs", type=int, default=-1, help="inputs for each target; default: as many as there is time for")
    options.add_argument("--targets", default="", help="targets to run, with commas between; default: all")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at a time")
    options.add_argument("--corpus", default=".build/fuzz-corpus", help="where inputs are kept that lead somewhere new")
    options.add_argument("--finds", default=".build/fuzz-finds", help="where inputs are kept with which targets fail")
    options.add_argument("--seeds", default="Tests/Fuzzing/Corpus", help="inputs to begin with")
    options.add_argument("--seed", type=int, default=int(os.environ.get("KYMO_SEED") or 1), help="of the choices made by chance")
    options.add_argument("--check", action="store_true", help="only show that a target that fails is told")
    chosen = options.parse_args()
    binary = os.path.abspath(chosen.binary)
    if chosen.check:
        return check(binary)
    if not run(binary, chosen):
        sys.exit(1)


main()
