#!/usr/bin/env python3
"""verify.py WORKLOAD RIVAL OURS: whether both outputs have the same windows with the same count, least and greatest.

The rival counts every line; readings of one instant with the same values are one reading to us, sent twice. Windows
with such repetitions are therefore computed here from the workload. Blood pressure carries two means instead of count, least and
greatest: those are compared to the tenth that we write.
"""
import json
import os
import sys
import time
from collections import defaultdict

TYPES = {"8867-4": "heart-rate", "55423-8": "steps", "2339-0": "glucose", "15074-8": "glucose", "85354-9": "bp"}
WINDOW_MS = 300_000


def lines(path):
    if not os.path.isdir(path):
        yield from open(path, "rb")
        return
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            yield from open(os.path.join(folder, name), "rb")


def observations(path):
    for line in lines(path):
        if not line.strip():
            continue
        resource = json.loads(line)
        if resource["resourceType"] != "Bundle":
            yield resource, {}
            continue
        entries = resource["entry"]
        devices = {entry["fullUrl"]: entry["resource"] for entry in entries
                   if entry["resource"]["resourceType"] == "Device"}
        for entry in entries:
            if entry["resource"]["resourceType"] == "Observation":
                yield entry["resource"], devices


def type_of(observation):
    return next(TYPES[coding["code"]] for coding in observation["code"]["coding"] if coding["code"] in TYPES)


def seconds(instant):
    """2026-01-01T00:05:00Z or with a fraction of zeros, without the fraction."""
    return instant[:19]


def quantity(component):
    return component["valueQuantity"]["value"]


def our_rows(path):
    for observation, devices in observations(path):
        reference = observation["device"]
        device = devices.get(reference.get("reference"), reference)
        identifier = device["identifier"]
        value = (identifier[0] if isinstance(identifier, list) else identifier)["value"]
        key = (seconds(observation["effectivePeriod"]["start"]), value, type_of(observation))
        components = {component["code"]["coding"][0]["code"]: component
                      for component in observation.get("component", [])}
        if key[2] == "bp":
            yield key, (quantity(components["8480-6"]), quantity(components["8462-4"]))
        elif "count" in components:
            yield key, (components["count"]["valueInteger"], quantity(components["minimum"]),
                        quantity(components["maximum"]))
        else:
            only = observation["valueQuantity"]["value"]
            yield key, (1, only, only)


def rival_rows(path):
    for observation, _ in observations(path):
        key = (seconds(observation["effectivePeriod"]["start"]),
               observation["device"]["reference"].removeprefix("Device/"), type_of(observation))
        if key[2] == "bp":
            yield key, tuple(quantity(component) for component in observation["component"])
        else:
            summary = observation["extension"][0]
            yield key, (summary["count"], summary["min"], summary["max"])


def table(rows):
    """Rows by key. A later row of ours amends an earlier one; the rival never repeats a key."""
    return dict(rows)


def repeated_windows(workload):
    """Windows in which some instant occurs twice, with the values that they hold: each pair of instant and values once."""
    seen, repeated = set(), set()
    for reading in map(json.loads, open(workload, "rb")):
        instant = (reading["device"], reading["type"], reading["ts"])
        if instant in seen:
            repeated.add((reading["device"], reading["type"], reading["ts"] // WINDOW_MS))
        seen.add(instant)
    del seen
    kept = defaultdict(set)
    for reading in map(json.loads, open(workload, "rb")):
        window = (reading["device"], reading["type"], reading["ts"] // WINDOW_MS)
        if window in repeated:
            value = (reading["sys"], reading["dia"]) if reading["type"] == "bp" else reading["value"]
            kept[window].add((reading["ts"], value))
    return {window: [value for _, value in readings] for window, readings in kept.items()}


def start_of(window):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(window * WINDOW_MS // 1000))


def expected(rival, repetitions):
    for (device, kind, window), values in repetitions.items():
        key = (start_of(window), device, kind)
        if kind == "bp":
            rival[key] = tuple(sum(pair[part] for pair in values) / len(values) for part in (0, 1))
        else:
            rival[key] = (len(values), min(values), max(values))
    return rival


def agree(key, left, right):
    if left is None or right is None:
        return False
    if key[2] == "bp":
        # Ours is rounded to the tenth, the rival's to the thousandth.
        return all(abs(a - b) <= 0.0506 for a, b in zip(left, right))
    return left == right


def compare(workload, rival_path, our_path):
    ours = table(our_rows(our_path))
    repetitions = repeated_windows(workload)
    rival = expected(table(rival_rows(rival_path)), repetitions)
    differing = [key for key in set(ours) | set(rival) if not agree(key, ours.get(key), rival.get(key))]
    counted = sum(row[0] for key, row in ours.items() if key[2] != "bp")
    print(f"windows: ours {len(ours)}, rival {len(rival)}, differing {len(differing)}; "
          f"{counted} readings counted in ours, {len(repetitions)} windows with a repeated instant")
    for key in sorted(differing)[:5]:
        print(f"  {key}: ours {ours.get(key)}, expected {rival.get(key)}")
    return not differing and len(ours) > 0


if __name__ == "__main__":
    sys.exit(0 if compare(*sys.argv[1:4]) else 1)
