"""Datagrams of readings: one or several in each, all of one size, which blanks behind the last reading make up."""
import random
import struct

START_MS = 1_767_225_600_000
DEVICES = 1_000
KINDS = (("heart-rate", 48, 170, "bpm"), ("steps", 0, 40, "steps"), ("glucose", 60, 220, "mg/dL"))


def line(number, size):
    """Reading `number` as JSON of at least `size` bytes. No two share an instant, so that every one is accepted."""
    kind, low, high, unit = random.choices(KINDS, (75, 15, 10))[0]
    text = (f'{{"device":"dev-{number % DEVICES:05d}","ts":{START_MS + number},"type":"{kind}",'
            f'"value":{random.randrange(low, high)},"unit":"{unit}","seq":{number // DEVICES}')
    missing = size - len(text) - len(',"note":""}')
    return (text + (f',"note":"{"x" * missing}"' if missing > 0 else "") + "}").encode()


def frame(number):
    """Reading `number` as a bridge's frame: a packet of the characteristic 2A37, and its time (docs/gatt.md)."""
    device = b"dev-%05d" % (number % DEVICES)
    time = struct.pack("<qh", (START_MS + number) * 1_000, 0)
    return (b"\x4b\x01\x01" + bytes([len(device)]) + device + struct.pack("<H", 0x2A37) + time
            + struct.pack("<H", 2) + bytes([0, 60 + number % 90]))


def payload(form, numbers, size):
    if form == "frames":
        return b"".join(frame(number) for number in numbers)
    lines = [line(number, size) for number in numbers]
    return b"[" + b",".join(lines) + b"]" if form == "array" else b"\n".join(lines)


def write(path, form, count, each, reading_bytes, datagram_bytes):
    """Writes datagrams with `count` readings in all to `path`, `each` in one; returns how many readings they are."""
    random.seed(20_260_101)
    with open(path, "wb") as file:
        for first in range(0, count - each + 1, each):
            bytes_ = payload(form, range(first, first + each), reading_bytes)
            assert len(bytes_) <= datagram_bytes, (form, len(bytes_))
            file.write(bytes_.ljust(datagram_bytes))
    return count // each * each
