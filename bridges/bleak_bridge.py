#!/usr/bin/env python3
"""Carries the notifications of Bluetooth health devices to kymo, as frames in JSON (docs/gatt.md).

Needs bleak (pip install bleak). docs/bluetooth.md goes from a chest strap to an Observation.
"""

import argparse
import asyncio
import datetime
import signal
import sys

from kymo_socket import ArrivalClock, Backoff, KymoSocket, add_arguments, positive, say, time_text
from uart_stream import BORDERS, LONGEST, TRANSMIT, UARTStream

BASE = "-0000-1000-8000-00805f9b34fb"
#: Measurements of the health services that kymo decodes, and the battery.
MEASUREMENTS = "2A37 2A35 2A36 2A18 2A34 2AA7 2A1C 2A1E 2A5E 2A5F 2A53 2A9D 2A19".split()
#: Services that --scan shows: health thermometer, glucose, heart rate, blood pressure, running, weight, CGM, oximeter.
SERVICES = "1809 1808 180D 1810 1814 181D 181F 1822".split()
SESSION_START, CGM_FEATURE, RECORD_ACCESS = "2AAA", "2AA8", "2A52"
LOCAL_TIME_INFORMATION, CURRENT_TIME, DATE_TIME = "2A0F", "2A2B", "2A08"
#: Record Access Control Point: report all stored records. Those that kymo has are duplicates to it.
REPORT_ALL = b"\x01\x01"


def short(uuid):
    """`2A37` for 00002a37-0000-1000-8000-00805f9b34fb; other UUIDs in lower case as they are."""
    text = str(uuid).lower()
    return text[4:8].upper() if text.startswith("0000") and text.endswith(BASE) and len(text) == 36 else text


def zone_offset(value):
    """Minutes that Local Time Information states (quarters of an hour, and daylight saving), or None."""
    if len(value) < 2:
        return None
    zone = int.from_bytes(value[:1], "little", signed=True)
    known = -48 <= zone <= 56 and value[1] in (0, 2, 4, 8)
    return 15 * (zone + value[1]) if known else None


def clock_offset(value, moment):
    """Minutes that a device's clock is ahead of UTC, when that is a zone's offset within two minutes, or None."""
    if len(value) < 7:
        return None
    try:
        clock = datetime.datetime(value[0] | value[1] << 8, *value[2:7], tzinfo=datetime.timezone.utc)
    except ValueError:
        return None
    ahead = (clock - moment).total_seconds() / 60
    offset = 15 * round(ahead / 15)
    return offset if abs(ahead - offset) <= 2 and -720 <= offset <= 840 else None


def cause(error):
    """What an error says, with advice where the system's own words give none."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    missing = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
    return text + (" (is the Bluetooth service there, BlueZ and D-Bus?)" if missing else "")


class Device:
    """One device: its connection, again and again, and the frames of its notifications."""

    def __init__(self, bleak, radio, address, name, sink, options):
        # One search and connecting at a time: adapters do no more.
        self._radio = radio
        self._bleak, self._address, self._name = bleak, address, name
        self._sink, self._options = sink, options
        self._sequence, self._clock = 0, ArrivalClock()
        self._offset = options.utc_offset
        #: Members that all frames of this connection have.
        self._members = {}
        #: What this connection's notifications of a UART service are a part of.
        self._stream = None

    async def run(self):
        """Connects until it is cancelled."""
        backoff, failure = Backoff(), None
        while True:
            try:
                await self._connection(backoff)
                failure = None
                say(f"{self._name}: disconnected; trying again")
            # The libraries beneath bleak raise whatever they have; a bridge survives all of it.
            except Exception as error:
                text = cause(error)
                if text != failure:
                    say(f"{self._name}: {text}; trying again")
                failure = text
            await asyncio.sleep(backoff.next())

    async def _connection(self, backoff):
        gone = asyncio.Event()
        timeout = self._options.timeout
        async with self._radio:
            found = await self._bleak.BleakScanner.find_device_by_address(self._address, timeout=timeout)
            if found is None:
                raise TimeoutError(f"no device {self._address} in reach")
            client = self._bleak.BleakClient(found, disconnected_callback=lambda _: gone.set(), timeout=timeout)
            await client.connect()
        try:
            there = {}
            for service in client.services:
                for characteristic in service.characteristics:
                    there.setdefault(short(characteristic.uuid), []).append(characteristic)
            await self._prepare(client, there)
            names = await self._subscribe(client, there)
            if not names:
                raise LookupError(f"it has none of the characteristics {' '.join(self._options.characteristic)}")
            say(f"{self._name}: connected; subscribed to {' '.join(names)}")
            backoff.reset()
            await self._ask_for_records(client, there)
            await gone.wait()
        finally:
            await client.disconnect()

    async def _prepare(self, client, there):
        """Reads what frames have to state besides the packet."""
        self._members = {}
        # What a connection has left unfinished, the next one does not go on with.
        self._stream = UARTStream(self._options.uart) if self._options.uart else None
        for member, name in [("session", SESSION_START), ("feature", CGM_FEATURE)]:
            if value := await self._read(client, there, name):
                self._members[member] = value.hex()
        if self._options.utc_offset == "auto":
            self._offset = await self._device_offset(client, there)

    async def _device_offset(self, client, there):
        if (value := await self._read(client, there, LOCAL_TIME_INFORMATION)) is not None:
            if (offset := zone_offset(value)) is not None:
                return offset
        for name in [CURRENT_TIME, DATE_TIME]:
            if (value := await self._read(client, there, name)) is not None:
                if (offset := clock_offset(value, self._clock.now())) is not None:
                    return offset
        return "auto"

    async def _read(self, client, there, name):
        """The value of a characteristic, or None where the device has none or does not tell."""
        for characteristic in there.get(name, []):
            if "read" in characteristic.properties:
                try:
                    return bytes(await client.read_gatt_char(characteristic))
                except self._bleak.BleakError as error:
                    say(f"{self._name}: cannot read {name}: {error}")
        return None

    async def _subscribe(self, client, there):
        names = []
        for name in self._options.characteristic:
            for characteristic in there.get(name, []):
                if {"notify", "indicate"} & set(characteristic.properties):
                    await client.start_notify(characteristic, lambda _, value, name=name: self._notified(name, value))
                    names.append(name)
        return names

    def _notified(self, name, value):
        if self._stream and name == TRANSMIT:
            return self._streamed(bytes(value))
        self._put({"characteristic": name, "value": bytes(value).hex()} | self._members)

    def _streamed(self, value):
        too_long = self._stream.too_long
        for members in self._stream.take(value):
            self._put(members)
        if self._stream.too_long > too_long:
            say(f"{self._name}: a message of more than {LONGEST} bytes is left out")

    def _put(self, members):
        self._sequence += 1
        frame = {"device": self._name, "time": time_text(self._clock.now(), self._offset), "sequence": self._sequence}
        self._sink.put(frame | members)

    async def _ask_for_records(self, client, there):
        """Glucose meters and monitors send what they have stored only when they are asked."""
        for characteristic in there.get(RECORD_ACCESS, []):
            try:
                await client.start_notify(characteristic, lambda *_: None)
                await client.write_gatt_char(characteristic, REPORT_ALL, response=True)
            except self._bleak.BleakError as error:
                say(f"{self._name}: cannot ask for stored records: {error}")


async def scan(bleak, seconds):
    """Prints the devices in reach that advertise a health service."""
    found = await bleak.BleakScanner.discover(timeout=seconds, return_adv=True)
    for address, (_, advertisement) in sorted(found.items()):
        services = [short(uuid) for uuid in advertisement.service_uuids if short(uuid) in SERVICES]
        if services:
            print(address, advertisement.local_name or "-", *services)


async def carry(bleak, options, sink):
    """Serves all devices until SIGINT or SIGTERM."""
    tasks, radio = [], asyncio.Lock()
    for text in options.device:
        address, _, name = text.partition("=")
        tasks.append(asyncio.create_task(Device(bleak, radio, address, name or address, sink, options).run()))
    ending = asyncio.Event()
    for number in [signal.SIGINT, signal.SIGTERM]:
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    await ending.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if "--scan" not in arguments:
        add_arguments(parser)
        parser.add_argument(
            "--device", action="append", required=True, metavar="ADDRESS[=NAME]",
            help="address of a device, and its identifier in frames (default: the address); repeatable")
        parser.add_argument(
            "--characteristic", action="append", metavar="UUID",
            help=f"subscribe to this alone; repeatable (default: {' '.join(MEASUREMENTS)})")
        parser.add_argument(
            "--uart", choices=BORDERS,
            help="subscribe to the Nordic UART Service, too, whose bytes are lines of JSON or of hexadecimal digits, or "
                 "packets in SLIP or COBS")
    parser.add_argument("--scan", action="store_true", help="list health devices in reach, and end")
    parser.add_argument("--timeout", type=positive, default=20, metavar="SECONDS", help="of finding and connecting")
    options = parser.parse_args(arguments)
    if not options.scan:
        options.characteristic = [name.upper() if len(name) == 4 else short(name)
                                  for name in options.characteristic or MEASUREMENTS]
        if options.uart and TRANSMIT not in options.characteristic:
            options.characteristic.append(TRANSMIT)
    return options


def main(arguments):
    options = parse(arguments)
    try:
        import bleak
    except ImportError:
        say("bleak is not there: pip install bleak")
        return 69
    if options.scan:
        try:
            asyncio.run(scan(bleak, options.timeout))
        except (bleak.BleakError, OSError) as error:
            say(f"cannot scan: {cause(error)}")
            return 69
        return 0
    sink = KymoSocket(options.socket, options.queue, not options.no_ack)
    sink.start()
    asyncio.run(carry(bleak, options, sink))
    return 1 if sink.finish(5) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
