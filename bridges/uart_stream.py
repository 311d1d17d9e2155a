"""The byte stream of a Nordic UART Service. Its notifications end where the radio's packets end, which means nothing:
what is one message, a framing says."""

import json

#: What a device sends (TX), of the service 6e400001-b5a3-f393-e0a9-e50e24dcca9e.
TRANSMIT = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
#: What stands between two messages.
BORDERS = {"json": b"\n", "hex": b"\n", "slip": b"\xc0", "cobs": b"\0"}
#: Bytes of the longest message, as it comes.
LONGEST = 4096


class UARTStream:
    """Cuts the notifications of one connection into messages, and makes the members of a frame of each.

    A message that is none becomes a frame that kymo refuses and keeps as a dead letter.
    """

    def __init__(self, framing):
        self._framing, self._rest, self._skipping = framing, b"", False
        #: Messages that were longer than is possible.
        self.too_long = 0

    def take(self, received):
        """The members of frames for the messages that end in `received`."""
        *messages, self._rest = (self._rest + received).split(BORDERS[self._framing])
        if self._skipping and messages:
            del messages[0]
            self._skipping = False
        if len(self._rest) > LONGEST:
            self.too_long += not self._skipping
            self._rest, self._skipping = b"", True
        return [self._members(message) for message in messages if message.strip(b"\r")]

    def _members(self, message):
        if self._framing == "json":
            try:
                stated = json.loads(message)
                if isinstance(stated, dict):
                    return {name: value for name, value in stated.items() if value is not None}
            except ValueError:
                pass
            return {"value": message.decode("ascii", "backslashreplace")}
        if self._framing == "hex":
            return {"characteristic": TRANSMIT, "value": message.strip().decode("ascii", "backslashreplace")}
        packet = unslip(message) if self._framing == "slip" else uncobs(message)
        value = packet.hex() if packet is not None else f"no {self._framing}: {message.hex()}"
        return {"characteristic": TRANSMIT, "value": value}


def unslip(message):
    """The packet of a SLIP frame (RFC 1055) without its end mark, or None."""
    parts = message.split(b"\xdb")
    if any(part[:1] not in (b"\xdc", b"\xdd") for part in parts[1:]):
        return None
    return parts[0] + b"".join(bytes([0xC0 if part[0] == 0xDC else 0xDB]) + part[1:] for part in parts[1:])


def uncobs(message):
    """The packet of a COBS frame without the zero behind it, or None."""
    packet, place = b"", 0
    while place < len(message):
        code = message[place]
        end = place + code
        if end > len(message):
            return None
        packet += message[place + 1:end]
        if code < 255 and end < len(message):
            packet += b"\0"
        place = end
    return packet
