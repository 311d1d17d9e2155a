"""Compares what the senders of a soak know with kymo's ledger.

Both are looked at when all senders are still, and twice: what has come in between must be in the ledger, to the reading."""
import collections

COUNTED = ("accepted", "duplicate", "conflict", "retractions", "open", "onTheWay", "lost")


def closes(balance):
    """What is wrong with the ledger by itself."""
    total = sum(balance[name] for name in COUNTED) + sum(balance["rejected"].values())
    wrong = []
    if balance["received"] != total:
        wrong.append(f"the ledger does not close: received {balance['received']}, counted {total}")
    wrong += [f"{name} {balance[name]}" for name in ("open", "conflict", "retractions", "lost") if balance[name]]
    return wrong


def by_door(ledger, doors):
    """Received, kernel-dropped and rejected readings of each door, of whose sources the names begin with its own."""
    found = {door: {"received": 0, "kernelDropped": 0, "rejected": collections.Counter()} for door in doors}
    for source in ledger["sources"]:
        door = found.get(source["name"].split("-")[0])
        if door is None:
            continue
        door["received"] += source["received"]
        door["kernelDropped"] += source["kernelDropped"]
        door["rejected"].update(source["rejected"])
    return found


def seen(ledger, tallies):
    """What both sides know now, to be compared with what they know later."""
    return {"balance": ledger["balance"], "doors": by_door(ledger, tallies), "tallies": tallies}


def nothing(doors):
    """What both sides know before the first reading."""
    balance = {name: 0 for name in ("received", *COUNTED)} | {"rejected": {}}
    tallies = {door: {"good": 0, "resent": 0, "again": 0, "unsure": 0, "bad": {}} for door in doors}
    return seen({"balance": balance, "sources": []}, tallies)


def grown(before, after):
    """By how much each number of a tree has grown."""
    if isinstance(after, dict):
        return {name: grown(before.get(name, {} if isinstance(value, dict) else 0), value) for name, value in after.items()}
    return after - before


def within(what, found, least, most):
    if least <= found <= most:
        return []
    return [f"{what}: the ledger has {found}, the senders have {least if least == most else f'{least} to {most}'}"]


def differences(before, after):
    """What the ledger has had since `before` that the senders have not, or the other way round, and how many readings of
    tolerance there were: sent again since it was unknown what had become of them, or unsure."""
    change = grown(before, after)
    wrong = closes(after["balance"])
    again = sum(tally["again"] for tally in change["tallies"].values())
    unsure = dropped = 0
    for door, tally in change["tallies"].items():
        known = change["doors"][door]
        sent = tally["good"] + tally["resent"] + sum(tally["bad"].values())
        got = known["received"] + known["kernelDropped"]
        wrong += within(f"{door}, received", got, sent - tally["unsure"], sent + tally["again"])
        unsure += tally["unsure"]
        dropped += known["kernelDropped"]
        missing = tally["unsure"] + known["kernelDropped"]
        for reason in known["rejected"].keys() | tally["bad"].keys():
            count = tally["bad"].get(reason, 0)
            wrong += within(f"{door}, {reason}", known["rejected"].get(reason, 0), max(0, count - missing),
                            count + tally["again"])
    balance = change["balance"]
    good, resent = (sum(tally[name] for tally in change["tallies"].values()) for name in ("good", "resent"))
    wrong += within("accepted", balance["accepted"], good - unsure - dropped, good)
    wrong += within("duplicate", balance["duplicate"], resent - unsure - dropped, resent + again)
    wrong += within("on the way", balance["onTheWay"], 0, again + unsure)
    return wrong, again + unsure


def series_differences(ledger, devices, loose):
    """Devices whose readings in the store are not as many as their sender knows. Those of `loose` doors, where readings can
    be lost, may have fewer. What the archive has dropped is not looked for."""
    stored, evicted = collections.Counter(), set()
    for series in ledger["series"]:
        stored[series["device"]] += series["readings"]
        if series["dropped"]:
            evicted.add(series["device"])
    wrong = []
    for device in (stored.keys() | devices.keys()) - evicted:
        found, known = stored[device], devices.get(device, 0)
        if found > known or found < known and device.split("-")[0] not in loose:
            wrong.append(f"device {device}: the ledger has {found}, the senders have {known}")
    return wrong
