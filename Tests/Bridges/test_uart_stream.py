"""Byte streams of Nordic UART Services: every split gives the same messages, and nothing is guessed."""

import random
import unittest

import bridge_testing  # noqa: F401  (finds the bridges)
import uart_stream
from uart_stream import TRANSMIT, UARTStream


def cobs(packet):
    """The reference encoding: a code for each run without zeros."""
    frame = b""
    for run in packet.split(b"\0"):
        while len(run) >= 254:
            frame, run = frame + b"\xff" + run[:254], run[254:]
        frame += bytes([len(run) + 1]) + run
    return frame + b"\0"


def slip(packet):
    return b"\xc0" + packet.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


class UARTStreamTests(unittest.TestCase):
    def values(self, framing, stream, cuts=()):
        """The values of the frames that a stream gives, cut into notifications at `cuts`."""
        cutter, places = UARTStream(framing), [0, *cuts, len(stream)]
        pieces = [stream[start:end] for start, end in zip(places, places[1:])]
        return [members["value"] for piece in pieces for members in cutter.take(piece)]

    def test_every_split_gives_the_same(self):
        packets = [bytes.fromhex(text) for text in ["a55a0009c4", "c0dbdcdd", "0000", "11"]]
        encodings = [("slip", slip), ("cobs", cobs), ("hex", lambda packet: packet.hex().encode() + b"\r\n")]
        for framing, encode in encodings:
            stream = b"".join(map(encode, packets))
            expected = [packet.hex() for packet in packets]
            self.assertEqual(self.values(framing, stream), expected)
            for place in range(len(stream)):
                self.assertEqual(self.values(framing, stream, [place]), expected, (framing, place))
            self.assertEqual(self.values(framing, stream, range(1, len(stream))), expected)

    def test_random_packets(self):
        generator = random.Random(6)
        for framing, encode in [("slip", slip), ("cobs", cobs)]:
            for _ in range(300):
                packet = bytes(generator.choices([0, 0xC0, 0xDB, 0xDC, 1, 255], k=generator.randrange(1, 700)))
                self.assertEqual(self.values(framing, encode(packet)), [packet.hex()])

    def test_objects(self):
        stream = b'{"hr":61,"none":null}\r\n\r\n[1]\nno\xff\n{"hr":62}\n{"half":'
        cutter = UARTStream("json")
        found = [members for start in range(0, len(stream), 20) for members in cutter.take(stream[start:start + 20])]
        self.assertEqual(found, [{"hr": 61}, {"value": "[1]"}, {"value": "no\\xff"}, {"hr": 62}])

    def test_what_is_no_message(self):
        self.assertEqual(self.values("slip", b"\xdb\x01\xc0\x02\xc0"), ["no slip: db01", "02"])
        self.assertEqual(self.values("slip", b"\x01\xdb\xc0"), ["no slip: 01db"])
        self.assertEqual(self.values("cobs", b"\x05\x01\0\x02\x02\0"), ["no cobs: 0501", "02"])

    def test_too_long(self):
        cutter = UARTStream("cobs")
        for _ in range(3):
            self.assertEqual(cutter.take(b"\x01" * uart_stream.LONGEST), [])
        self.assertEqual(cutter.take(b"\0\x02\x07\0"), [{"characteristic": TRANSMIT, "value": "07"}])
        self.assertEqual(cutter.too_long, 1)


if __name__ == "__main__":
    unittest.main()
