"""Runs the tests of a test bundle, a few suites to a process; prints the ten slowest tests, and the suites that need the most
time of processors.

Within one process Swift Testing starts all tests at once, and each waits for the others: the duration that it reports is that
of the run, and a test that waits for a server is resumed minutes late. Here each process runs its suites one after the other,
so that a duration is the test's own. Twice as many processes as there are processors run at a time, since many tests wait.

For tests that failed, prints what they wrote and the KYMO_SEED that generates the same cases again; both once more at the
end, for whoever is shown the last lines only. With KYMO_NO_SKIPS, a test that is skipped has failed.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

# Modules whose tests wait most come first, so that what needs the processors fills the rest of the run.
ORDER = ["EndToEndTests", "RingConcurrencyTests", "KymoCommandTests", "ExtendingTests", "EmbeddingTests", "KymographTests", "KymographCoreTests", "TidyTests"]
NO_TESTS_FOUND = 69
TIMED_OUT = -1
# Of the output of a process that crashed.
LAST_LINES = 60
# What is repeated at the end: issues, and the characters of each.
LAST_ISSUES = 20
ISSUE_LENGTH = 1_000


class Run:
    """One process with some suites: its exit status, what it wrote, and what became of each test."""

    def __init__(self, bundle, suites, folder, timeout):
        self.suites = suites
        self.seconds = {}
        self.started = {}
        self.skipped = set()
        self.failed = set()
        self.issues = []
        events = os.path.join(folder, f"{suites[0]}.jsonl")
        pattern = "^(" + "|".join(re.escape(suite) for suite in suites) + ")/"
        command = [bundle, "--testing-library", "swift-testing", "--no-parallel", "--event-stream-output-path", events]
        log = os.path.join(folder, f"{suites[0]}.log")
        with open(log, "w", encoding="utf-8") as output:
            self.status, self.processor_seconds = finish(
                subprocess.Popen(command + ["--filter", pattern], stdout=output, stderr=subprocess.STDOUT), timeout)
        with open(log, encoding="utf-8", errors="replace") as output:
            self.output = output.read()
        if os.path.exists(events):
            self._read(events)

    def _read(self, path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                # The last line of a process that crashed may be cut.
                if line.endswith("\n") and (record := json.loads(line))["kind"] == "event":
                    self._note(record["payload"])

    def _note(self, event):
        test, instant = event.get("testID", ""), event["instant"]["absolute"]
        is_function = "/" in test
        if event["kind"] == "testStarted" and is_function:
            self.started[test] = instant
        elif event["kind"] == "testEnded" and is_function:
            self.seconds[test] = instant - self.started.pop(test, instant)
        elif event["kind"] == "testSkipped" and is_function:
            self.skipped.add(test)
        elif event["kind"] == "issueRecorded" and event["issue"]["isFailure"]:
            self.failed.add(test or "outside of a test")
            place = event["issue"].get("sourceLocation", {})
            where = f"{place.get('fileID', '')}:{place.get('line', '')}: {name(test)}"
            self.issues += [f"{where}: {message['text']}" for message in event["messages"]]

    def show(self):
        """Prints the issues of its tests; of a process that did not end as it should, the end of what it wrote."""
        print("\n".join(self.issues))
        for test in sorted(self.started):
            print(f"did not end: {name(test)}")
            self.failed.add(test)
        if self.started or not self.failed:
            print("\n".join(self.output.splitlines()[-LAST_LINES:]))
            ending = "took too long" if self.status == TIMED_OUT else f"exit status {self.status}"
            print(f"{ending}: {', '.join(self.suites)}")
        sys.stdout.flush()


def finish(process, timeout):
    """Waits for a process, and ends it after `timeout` seconds; its exit status, and the time that it and its children used."""
    has_expired = threading.Event()
    timer = threading.Timer(timeout or threading.TIMEOUT_MAX, lambda: (has_expired.set(), process.kill()))
    timer.daemon = True
    timer.start()
    _, status, used = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return TIMED_OUT if has_expired.is_set() else process.returncode, used.ru_utime + used.ru_stime


def name(test):
    """`Module.Suite/test()` of an identifier such as `Module.Suite/test()/File.swift:1:2`."""
    return test.rsplit("/", 1)[0] if ".swift:" in test else test


def listed(bundle, only, skip):
    """Names `Module.Suite/test()` of the tests to run."""
    listing = subprocess.run(
        [bundle, "--testing-library", "swift-testing", "--list-tests"], stdout=subprocess.PIPE, text=True, check=True)
    return [test for test in listing.stdout.splitlines()
            if re.search(only, suite(test)) and not (skip and re.search(skip, suite(test)))]


def suite(test):
    """`Module.Suite` of a test's name; the test itself where it has no suite."""
    return test.split("/")[0]


def suites(tests):
    """The suites of tests, by the order of modules."""
    place = {module: number for number, module in enumerate(ORDER)}
    return sorted({suite(test) for test in tests}, key=lambda name: (place.get(name.split(".")[0], len(place)), name))


def groups(names, size):
    """Groups of at most `size` suites of one module."""
    result = []
    for suite in names:
        if not result or len(result[-1]) == size or result[-1][0].split(".")[0] != suite.split(".")[0]:
            result.append([])
        result[-1].append(suite)
    return result


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bundle", help="the .xctest file")
    options.add_argument("--filter", default="", help="suites to run, a regular expression; default: all")
    options.add_argument("--skip", help="suites to leave out, a regular expression")
    options.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="processes at a time")
    options.add_argument("--group", type=int, default=4, help="suites in a process, at most")
    options.add_argument("--timeout", type=int, default=1_800, help="seconds that a process may take; 0 for any time")
    options.add_argument("--slowest", type=int, default=10, help="tests to print, by duration, and processes, by time of processors")
    chosen = options.parse_args()

    bundle = os.path.abspath(chosen.bundle)
    tests = listed(bundle, chosen.filter, chosen.skip)
    if not tests:
        sys.exit("run_tests.py: no test has such a name")
    names = suites(tests)
    began = time.monotonic()
    seconds, skipped, failed, issues, bad = {}, set(), set(), [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        runs = [pool.submit(Run, bundle, group, folder, chosen.timeout or None) for group in groups(names, chosen.group)]
        for finished in concurrent.futures.as_completed(runs):
            run = finished.result()
            seconds.update(run.seconds)
            skipped |= run.skipped
            if run.status not in (0, NO_TESTS_FOUND) or run.failed:
                bad += 1
                run.show()
                failed |= run.failed
                issues += run.issues

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{len(seconds)} tests of {len(names)} suites: {time.monotonic() - began:.0f} s by the clock, "
          f"{used.ru_utime + used.ru_stime:.0f} s of CPU, {chosen.jobs} processes at a time; the slowest:")
    for test, duration in collections.Counter(seconds).most_common(chosen.slowest):
        print(f"{duration:8.2f} s  {name(test)}")
    print("and in seconds of a processor, by process:")
    costliest = sorted((run.result() for run in runs), key=lambda run: -run.processor_seconds)
    for run in costliest[:chosen.slowest]:
        print(f"{run.processor_seconds:8.2f} s  {', '.join(run.suites)}")
    if skipped:
        print(f"{len(skipped)} skipped, for what they need is not here:", ", ".join(sorted(map(name, skipped))))
        # What is looked at by nobody is not shown: where everything is, nothing may be left out.
        bad += 1 if os.environ.get("KYMO_NO_SKIPS") else 0
    lacking = set(tests) - {name(test) for test in [*seconds, *skipped, *failed]}
    if lacking:
        bad += 1
        print("did not run:", ", ".join(sorted(lacking)))
    if bad:
        print(f"\nfailed; for the same generated cases set KYMO_SEED={os.environ.get('KYMO_SEED', '0')}:")
        print("\n".join(f"    {name(test)}" for test in sorted(failed)))
        print("\n".join(issue[:ISSUE_LENGTH] for issue in issues[:LAST_ISSUES]))
        sys.exit(1)


main()
