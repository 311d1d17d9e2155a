"""The bars of a soak: what is measured, what it may be at most, and whether it is.

A verdict is True, False, or None where the run cannot tell; its text says why."""
import math
from typing import NamedTuple

MIB = 1 << 20
#: Resident memory may grow by this much an hour.
MIB_PER_HOUR = 1.0
#: A slope over less time says more of the start than of a day.
LEAST_HOURS = 3.0
#: What is not judged by its slope may not grow by more than a day of that, once the buffers of the start are full.
MIB_PER_DAY = 24 * MIB_PER_HOUR
WARM_HOURS = 0.5
#: Connections that a FHIR server or a scrape has at one mark and not at another.
SPARE_DESCRIPTORS = 4
SPARE_THREADS = 2
LATENCY_FACTOR = 2.0


class Verdict(NamedTuple):
    bar: str
    passed: bool | None
    text: str

    def __str__(self):
        return f"{({True: 'passed', False: 'FAILED', None: 'not judged'})[self.passed]:10}  {self.bar}: {self.text}"


def slope(samples):
    """The common slope of points (seconds, value, process) and its standard error, each process with a level of its own:
    a restart is no fall. Samples of a minute are one point, since they are not independent. None for too few."""
    minutes = {}
    for moment, value, process in samples:
        minutes.setdefault((process, int(moment // 60)), []).append((moment, value))
    lives = {}
    for (process, _), points in minutes.items():
        lives.setdefault(process, []).append([sum(column) / len(points) for column in zip(*points)])
    lives = [points for points in lives.values() if len(points) > 1]
    count = sum(len(points) for points in lives)
    freedom = count - len(lives) - 1
    if freedom < 1:
        return None
    squares = products = total = 0.0
    for points in lives:
        middle = [sum(column) / len(points) for column in zip(*points)]
        for moment, value in points:
            squares += (moment - middle[0]) ** 2
            products += (moment - middle[0]) * (value - middle[1])
            total += (value - middle[1]) ** 2
    found = products / squares
    error = math.sqrt(max(0.0, total - found * products) / freedom / squares)
    return found, error


def judge_memory(samples, begin, end):
    """`samples` of the whole run, of (seconds, bytes, process); what is between `begin` and `end` counts."""
    bar = "memory"
    judged = [sample for sample in samples if begin <= sample[0] <= end]
    found = slope(judged)
    if not found:
        return Verdict(bar, None, f"{len(judged)} samples are too few for a slope")
    rate, error = (each * 3_600 / MIB for each in found)
    hours = (judged[-1][0] - judged[0][0]) / 3_600
    text = f"{rate:+.2f} MiB/h, two standard errors {2 * error:.2f}, over {hours:.2f} h (at most {MIB_PER_HOUR:g})"
    if hours >= WARM_HOURS and rate * hours > MIB_PER_DAY:
        return Verdict(bar, False, f"{text}: grown by more than a day may, {MIB_PER_DAY:g} MiB")
    if hours < LEAST_HOURS:
        return Verdict(bar, None, f"{text}: a slope over less than {LEAST_HOURS:g} h says more of the start")
    return Verdict(bar, rate < MIB_PER_HOUR, text)


def judge_level(bar, marks, name, spare):
    """Whether a number of the marks is flat: the largest of the last third, beside the largest of the first."""
    values = [mark[name] for mark in marks if mark.get(name) is not None]
    if len(values) < 3:
        return Verdict(bar, None, f"{len(values)} marks are too few")
    third = len(values) // 3
    first, last = max(values[:third]), max(values[-third:])
    return Verdict(bar, last <= first + spare, f"{first} in the first third of the marks, {last} in the last "
                   f"(at most {spare} more)")


def judge_ledger(marks):
    """Whether the ledger is exact at every mark."""
    wrong = [f"mark {mark['mark']}: {difference}" for mark in marks for difference in mark["differences"]]
    if wrong:
        return Verdict("ledger", False, f"{len(wrong)} differences, the first: {wrong[0]}")
    loose = sum(1 for mark in marks if mark["tolerance"])
    return Verdict("ledger", True if marks else None, f"exact at {len(marks)} marks; at {loose} of them within what was sent "
                   "again, or without acknowledgement, around an end of the process or of a source")


def judge_latency(marks):
    """Whether p99 of posts stays within twice the first mark's. Where the machine's own p99, to wake a thread
    and to make a file durable, has more than doubled, too, nothing is known of kymo."""
    marks = [mark for mark in marks if mark["post_p99_ms"] and mark["machine_p99_ms"]]
    bar = "p99"
    if len(marks) < 2:
        return Verdict(bar, None, f"{len(marks)} marks are too few")
    first = marks[0]
    limit, machine_limit = (LATENCY_FACTOR * first[name] for name in ("post_p99_ms", "machine_p99_ms"))
    slow = [mark for mark in marks[1:] if mark["post_p99_ms"] > limit]
    worst = max(marks[1:], key=lambda mark: mark["post_p99_ms"])
    text = f"{first['post_p99_ms']:.0f} ms at the first mark, {worst['post_p99_ms']:.0f} ms at the worst (at most {limit:.0f})"
    if any(mark["machine_p99_ms"] <= machine_limit for mark in slow):
        return Verdict(bar, False, text)
    if slow:
        return Verdict(bar, None, f"{text}; the machine's own p99 has more than doubled there, too")
    return Verdict(bar, True, text)


def judge_faults(faults):
    """Whether anything happened that may not."""
    return Verdict("faults", not faults, f"{len(faults)}{': ' + faults[0] if faults else ''}")


def percentile(values, share):
    """None of none."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else None
