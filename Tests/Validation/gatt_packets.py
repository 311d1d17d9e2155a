#!/usr/bin/env python3
"""Packets of GATT characteristics and what the reference decoder makes of them, one a line: UUID, bytes, JSON.

usage: gatt_packets.py DIR vectors            the published and captured ones of DIR/gatt_vectors.json
       gatt_packets.py DIR random SEED COUNT  made up, a sixth of them cut, lengthened or spoiled

DIR holds gatt_decode.py. The JSON is a list of objects with the members that kymo gives them, or null for a packet that
must be rejected. Numbers are texts, so that none is rounded on its way.
"""
import json
import random
import struct
import sys
from decimal import Decimal

sys.path.insert(0, sys.argv[1])
import gatt_decode as reference  # noqa: E402

SPECIAL = {"NaN": "NaN", "NRes": "NRes", "+INF": "INF", "-INF": "-INF", "RFU": "reserved"}
SITES = ["armpit", "body", "ear", "finger", "gastro-intestinal", "mouth", "rectum", "toe", "tympanum"]


class Refused(Exception):
    """The packet is well formed, and is nobody's measurement."""


def number(value, factor=1):
    """A number of the reference as text; its floats have at most nine digits, which repr gives back."""
    if isinstance(value, str):
        return SPECIAL[value]
    return format(Decimal(repr(value)) * factor, "f")


def magnitude(value, most=None, factor=1):
    if not isinstance(value, str) and (value < 0 or most is not None and value > most):
        raise Refused()
    return number(value, factor)


def heart(o):
    contact = {None: "unknown", False: "lost", True: "detected"}[o["contact"]]
    first = {"heartRate": number(o["bpm"]), "contact": contact}
    if "energy_kJ" in o:
        first["energyExpended"] = number(o["energy_kJ"])
    beats = [{"contact": contact, "rrInterval": number(rr, Decimal(1000) / 1024)} for rr in o.get("rr_1024", [])]
    return [first] + beats


def pressure(o, final):
    pressures = [magnitude(o[key]) for key in ("sys", "dia", "map")]
    out = {"unit": o["unit"]}
    if final:
        out.update(zip(("systolic", "diastolic", "meanArterial"), pressures))
    else:
        out["cuffPressure"] = pressures[0]
    if "pulse" in o:
        out["pulseRate"] = magnitude(o["pulse"])
    if o.get("user", 255) != 255:
        out["userId"] = number(o["user"])
    return [with_common(out, o)]


def with_common(out, o):
    if "status" in o:
        out["status"] = number(o["status"])
    if "time" in o:
        out["deviceTime"] = o["time"]
    return out


def glucose(o):
    out = with_common({"sequence": number(o["seq"])}, o)
    out["record"] = "%d-%s" % (o["seq"], o["time"])
    if "offset_min" in o:
        out["timeOffset"] = number(o["offset_min"])
    if "conc" in o:
        if o["type"] == 10 or o["location"] == 4:
            raise Refused()
        molar = o["unit"] == "mol/L"
        out["unit"] = "mmol/L" if molar else "mg/dL"
        out["glucose"] = magnitude(o["conc"], factor=1000 if molar else 100000)
    return [out]


def context(o):
    out = {"sequence": number(o["seq"])}
    for key, name, factor in (("carb_kg", "carbohydrate", 1000), ("hba1c", "glycatedHaemoglobin", 1)):
        if key in o:
            out[name] = magnitude(o[key], factor=factor)
    if "med" in o:
        out["medication"] = magnitude(o["med"], factor=1000 if o["med_unit"] == "L" else 1000000)
    names = {
        "carb_id": "carbohydrateKind", "meal": "meal", "tester": "tester", "health": "health",
        "exercise_s": "exerciseSeconds", "intensity": "exerciseIntensity", "med_id": "medicationKind",
    }
    out.update({name: number(o[key]) for key, name in names.items() if key in o})
    return [out]


def continuous(o):
    out = []
    for record in o["records"]:
        out.append({"glucose": magnitude(record["mg_dL"]), "minutes": number(record["t_min"]), "unit": "mg/dL"})
        names = {"status": "status", "caltemp": "calibration", "warning": "warning", "trend": "trend"}
        out[-1].update({name: number(record[key]) for key, name in names.items() if key in record})
        if "quality" in record:
            out[-1]["quality"] = magnitude(record["quality"])
    return out


def temperature(o, name):
    value = o["value"]
    # Beyond what kymo keeps; the reference has the exponent no more, which is taken from the packet.
    if not isinstance(value, str) and not -100 <= o["exponent"] <= 100:
        raise Refused()
    out = {name: number(value), "unit": "Cel" if o["unit"] == "C" else "degF"}
    if 1 <= o.get("type", 0) <= 9:
        out["site"] = SITES[o["type"] - 1]
    return [with_common(out, o)]


def oxygen(o):
    out = {"oxygenSaturation": magnitude(o["spo2"], 100), "pulseRate": magnitude(o["pr"])}
    for key in ("fast", "slow"):
        if key in o:
            out[key + "OxygenSaturation"] = magnitude(o[key][0], 100)
            out[key + "PulseRate"] = magnitude(o[key][1])
    if o.get("status", 0) & 0x0C00:
        raise Refused()
    if "dev" in o:
        out["sensorStatus"] = number(o["dev"])
    if "pai" in o:
        out["pulseAmplitudeIndex"] = magnitude(o["pai"])
    out = with_common(out, o)
    if o.get("clock_not_set"):
        out.pop("deviceTime", None)
    return [out]


def running(o):
    out = {"speed": number(o["speed_256"], Decimal(1) / 256), "cadence": number(o["cadence"])}
    out["gait"] = "running" if o["running"] else "walking"
    if "stride_cm" in o:
        out["strideLength"] = number(o["stride_cm"])
    if "dist_dm" in o:
        out["distance"] = number(o["dist_dm"], Decimal("0.1"))
    return [out]


def weight(o):
    value = "NaN" if o["raw"] == 0xFFFF else number(o["value"])
    out = with_common({"weight": value, "unit": o["unit"]}, o)
    if o.get("user", 255) != 255:
        out["userId"] = number(o["user"])
    if "bmi" in o:
        out["bodyMassIndex"], out["height"] = number(o["bmi"]), number(o["height"])
    return [out]


CONVERT = {
    "2A37": heart, "2A35": lambda o: pressure(o, True), "2A36": lambda o: pressure(o, False), "2A18": glucose,
    "2A34": context, "2AA7": continuous, "2A1C": lambda o: temperature(o, "temperature"),
    "2A1E": lambda o: temperature(o, "intermediateTemperature"), "2A5E": oxygen, "2A5F": oxygen, "2A53": running,
    "2A9D": weight, "2A19": lambda o: [{"batteryLevel": number(o["percent"])}],
    "SFLOAT": lambda o: [{"v": number(o["v"])}], "FLOAT": lambda o: [{"v": number(o["v"])}],
}


def expected(uuid, packet):
    try:
        decoded = reference.decode("2A1C" if uuid == "2A1E" else uuid, packet.hex())
        if uuid in ("2A1C", "2A1E"):
            decoded["exponent"] = struct.unpack("b", packet[4:5])[0]
        return CONVERT[uuid](decoded)
    except (ValueError, Refused):
        return None


def vectors():
    with open(sys.argv[1] + "/gatt_vectors.json") as file:
        for vector in json.load(file)["vectors"]:
            if vector["expect"] != "error":
                decoded = reference.decode(vector["uuid"], vector["hex"])
                assert all(decoded.get(key) == value for key, value in vector["expect"].items()), vector
            yield vector["uuid"], bytes.fromhex(vector["hex"])


def short_float(chance):
    kind = chance.random()
    if kind < 0.75:
        return chance.randrange(0, 1001) | (chance.choice((0, -1, -2, -3)) & 15) << 12
    return chance.choice((0x7FF, 0x800, 0x7FE, 0x802, 0x801)) if kind < 0.85 else chance.randrange(65536)


def date(chance):
    if chance.random() < 0.05:
        return bytes(chance.randrange(256) for _ in range(7))
    year = chance.choice((0, 2024, 2025, 2026))
    return struct.pack("<HBBBBB", year, *(chance.randrange(top) for top in (13, 32, 24, 60, 60)))


def made(uuid, chance):
    """A packet with the fields that its flags announce."""
    flags = chance.randrange(256)
    byte = lambda: bytes([chance.randrange(256)])
    short = lambda: struct.pack("<H", chance.randrange(65536))
    value = lambda: struct.pack("<H", short_float(chance))
    when = lambda bit, *fields: b"".join(field() for field in fields) if flags & bit else b""
    clock = lambda: date(chance)
    head = bytes([flags])
    if uuid == "2A37":
        beats = b"".join(short() for _ in range(chance.randrange(1, 9))) if flags & 16 else b""
        return head + (short() if flags & 1 else byte()) + when(8, short) + beats
    if uuid in ("2A35", "2A36"):
        return head + value() + value() + value() + when(2, clock) + when(4, value) + when(8, byte) + when(16, short)
    if uuid == "2A18":
        return head + short() + clock() + when(1, short) + when(2, value, byte) + when(8, short)
    if uuid == "2A34":
        tail = when(2, byte) + when(4, byte) + when(8, short, byte) + when(16, byte, value) + when(64, value)
        return head + short() + when(128, byte) + when(1, byte, value) + tail
    if uuid == "2AA7":
        return b"".join(record(chance, value, short, byte) for _ in range(chance.randrange(1, 4)))
    if uuid in ("2A1C", "2A1E"):
        exponent = chance.choice((-1, -2, 0, 1, chance.randrange(-128, 128))) & 255
        mantissa = chance.choice((chance.randrange(5000), chance.randrange(1 << 24)))
        raw = chance.choice((mantissa | exponent << 24, mantissa | exponent << 24, 0x7FFFFF, 0x800000, 0x800002))
        return head + struct.pack("<I", raw) + when(2, clock) + when(4, byte)
    if uuid == "2A5E":
        return head + value() + value() + when(1, clock) + when(2, short) + when(4, short, byte) + when(8, value)
    if uuid == "2A5F":
        tail = when(4, short) + when(8, short, byte) + when(16, value)
        return head + value() + value() + when(1, value, value) + when(2, value, value) + tail
    if uuid == "2A53":
        return head + short() + byte() + when(1, short) + when(2, short, short)
    if uuid == "2A9D":
        return head + chance.choice((short(), b"\xff\xff")) + when(2, clock) + when(4, byte) + when(8, short, short)
    return bytes([chance.randrange(0, 110)])


def record(chance, value, short, byte):
    flags = chance.randrange(256)
    body = value() + short() + b"".join(byte() for bit in (0x80, 0x40, 0x20) if flags & bit)
    body += b"".join(value() for bit in (1, 2) if flags & bit)
    checked = chance.random() < 0.4
    packet = bytes([len(body) + 2 + 2 * checked, flags]) + body
    return packet + struct.pack("<H", reference.crc16(packet)) if checked else packet


def spoiled(packet, chance):
    kind = chance.randrange(18)
    if kind == 0:
        return packet[: chance.randrange(len(packet) + 1)]
    if kind == 1:
        return packet + bytes(chance.randrange(256) for _ in range(chance.randrange(1, 4)))
    if kind == 2 and packet:
        place = chance.randrange(len(packet))
        return packet[:place] + bytes([chance.randrange(256)]) + packet[place + 1 :]
    return packet


def generated(seed, count):
    chance = random.Random(seed)
    uuids = [uuid for uuid in CONVERT if not uuid.endswith("FLOAT")]
    for _ in range(count):
        uuid = chance.choice(uuids)
        yield uuid, spoiled(made(uuid, chance), chance)


def main():
    packets = vectors() if sys.argv[2] == "vectors" else generated(int(sys.argv[3]), int(sys.argv[4]))
    for uuid, packet in packets:
        print(uuid, packet.hex() or "-", json.dumps(expected(uuid, packet), separators=(",", ":")))


main()
