"""The Bluetooth bridge with devices of a fake bleak: subscribing, frames, reconnecting, clocks."""

import asyncio
import contextlib
import datetime
import io
import os
import signal
import subprocess
import sys
import threading
import types
import unittest
from unittest import mock

from bridge_testing import BRIDGES, wait_until
import bleak
import bleak_bridge
import kymo_socket
from bleak import Characteristic, FakeDevice

STRAP = "A0:9E:1A:5B:3C:01"


class Frames:
    """Takes frames as the socket does."""

    def __init__(self):
        self.frames = []

    def put(self, frame):
        self.frames.append(frame)


class BleakBridgeTests(unittest.TestCase):
    def setUp(self):
        bleak.DEVICES.clear()
        self.told = io.StringIO()
        self.enterContext(contextlib.redirect_stderr(self.told))
        self.enterContext(mock.patch.object(kymo_socket, "FIRST_PAUSE", 0.01))
        self.sink = Frames()

    def bridge(self, *devices, arguments=()):
        """Runs the bridge in a thread until the test ends."""
        texts = [f"--device={device}" for device in devices]
        options = bleak_bridge.parse(["--socket", "unused", *texts, *arguments])
        loop = asyncio.new_event_loop()

        async def run():
            radio = asyncio.Lock()
            names = [text.partition("=") for text in options.device]
            await asyncio.gather(*(
                bleak_bridge.Device(bleak, radio, address, name or address, self.sink, options).run()
                for address, _, name in names))

        task = loop.create_task(run())
        thread = threading.Thread(target=lambda: loop.run_until_complete(asyncio.gather(task, return_exceptions=True)))
        thread.start()

        def end():
            loop.call_soon_threadsafe(task.cancel)
            thread.join()
            loop.close()

        self.addCleanup(end)

    def device(self, *characteristics, address=STRAP, **options):
        device = FakeDevice([Characteristic(*each) for each in characteristics], **options)
        bleak.DEVICES[address] = device
        return device

    def notified(self, device, uuid, value, count=1):
        """The newest frame after a notification."""
        self.assertTrue(device.ready.wait(20), self.told.getvalue())
        before = len(self.sink.frames)
        device.notify(uuid, value)
        wait_until(lambda: len(self.sink.frames) == before + count)
        return self.sink.frames[-1]

    def test_a_notification_is_a_frame_with_the_time_it_came(self):
        strap = self.device(("2A37", "notify"), ("2A38", "read", b"\x01"), ("2A19", "read notify", b"\x64"))
        self.bridge(f"{STRAP}=strap-1", arguments=["--utc-offset", "+01:00"])
        before = datetime.datetime.now(datetime.timezone.utc)
        frame = self.notified(strap, "2A37", bytes.fromhex("163c1104"))
        time = datetime.datetime.fromisoformat(frame.pop("time"))
        self.assertEqual(frame, {"device": "strap-1", "characteristic": "2A37", "sequence": 1, "value": "163c1104"})
        self.assertTrue(before <= time <= datetime.datetime.now(datetime.timezone.utc))
        self.assertEqual(time.utcoffset(), datetime.timedelta(hours=1))
        self.assertEqual(self.notified(strap, "2A19", b"\x63")["sequence"], 2)
        self.assertIn("strap-1: connected; subscribed to 2A37 2A19", self.told.getvalue())

    def test_a_device_that_goes_and_comes_is_subscribed_again(self):
        strap = self.device(("2A37", "notify"), failures=2)
        self.bridge(STRAP)
        self.notified(strap, "2A37", b"\x00\x3c")
        self.assertEqual(strap.connections, 3)
        self.assertIn("BleakError: le-connection-abort-by-local; trying again", self.told.getvalue())
        del bleak.DEVICES[STRAP]
        strap.drop()
        wait_until(lambda: f"no device {STRAP} in reach" in self.told.getvalue())
        self.assertFalse(strap.client.is_connected)
        bleak.DEVICES[STRAP] = strap
        frame = self.notified(strap, "2A37", b"\x00\x3d")
        self.assertEqual((frame["device"], frame["sequence"], frame["value"]), (STRAP, 2, "003d"))

    def test_a_uart_service_is_a_stream(self):
        transmit = bleak_bridge.TRANSMIT
        board = self.device((transmit, "notify"), ("2A19", "notify"))
        self.bridge(f"{STRAP}=board", arguments=["--uart", "json"])
        self.assertTrue(board.ready.wait(20), self.told.getvalue())
        board.notify(transmit, b'{"type":"heartRa')
        frame = self.notified(board, "2A19", b"\x64")
        self.assertEqual((frame["sequence"], frame["characteristic"]), (1, "2A19"))
        frame = self.notified(board, transmit, b'te","rate":61}\n{"half":')
        self.assertEqual((frame.pop("device"), frame.pop("sequence")), ("board", 2))
        self.assertIn("T", frame.pop("time"))
        self.assertEqual(frame, {"type": "heartRate", "rate": 61})
        # The end of what the last connection began never comes.
        connection = board.client
        board.drop()
        wait_until(lambda: board.client is not connection and board.ready.is_set())
        self.assertEqual(self.notified(board, transmit, b'{"type":"x"}\n')["type"], "x")

    def test_packets_of_a_uart_service(self):
        board = self.device((bleak_bridge.TRANSMIT, "notify"))
        self.bridge(STRAP, arguments=["--uart", "slip"])
        frame = self.notified(board, bleak_bridge.TRANSMIT, bytes.fromhex("a55a0009dbdcc0"))
        self.assertEqual((frame["characteristic"], frame["value"]), (bleak_bridge.TRANSMIT, "a55a0009c0"))
        board.notify(bleak_bridge.TRANSMIT, b"\x01" * 5000)
        wait_until(lambda: "a message of more than 4096 bytes is left out" in self.told.getvalue())

    def test_one_device_out_of_reach_does_not_hold_up_another(self):
        strap = self.device(("2A37", "notify"), address="second")
        self.bridge("first", "second")
        self.notified(strap, "2A37", b"\x00\x3c")
        self.assertIn("first: TimeoutError: no device first in reach", self.told.getvalue())

    def test_a_device_without_measurements_is_told(self):
        self.device(("2A38", "read", b"\x01"))
        self.bridge(STRAP)
        wait_until(lambda: "it has none of the characteristics 2A37 2A35" in self.told.getvalue())

    def test_glucose_monitor(self):
        monitor = self.device(
            ("2AA7", "notify"), ("2AAA", "read", bytes.fromhex("ea0703010800000400")),
            ("2AA8", "read", bytes.fromhex("001000590000")), ("2A52", "write indicate"))
        self.bridge(STRAP)
        frame = self.notified(monitor, "2AA7", bytes.fromhex("0600780005 00"))
        self.assertEqual((frame["session"], frame["feature"]), ("ea0703010800000400", "001000590000"))
        self.assertEqual(monitor.written, [("2a52", b"\x01\x01", True)])

    def test_the_device_states_its_zone(self):
        cuff = self.device(("2A35", "indicate"), ("2A0F", "read", bytes([0xF0, 4])))
        self.bridge(STRAP)
        frame = self.notified(cuff, "2A35", bytes.fromhex("00750055005d00"))
        self.assertTrue(frame["time"].endswith("-03:00"), frame)

    def test_the_clock_of_a_device_shows_its_offset(self):
        clock = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=5, minutes=45, seconds=20)
        value = clock.year.to_bytes(2, "little") + bytes(
            [clock.month, clock.day, clock.hour, clock.minute, clock.second, 0, 0, 0])
        meter = self.device(("2A18", "notify"), ("2A0F", "read", bytes([0x80, 255])), ("2A2B", "read", value))
        self.bridge(STRAP)
        self.assertTrue(self.notified(meter, "2A18", b"\x00")["time"].endswith("+05:45"))

    def test_a_clock_that_may_not_be_read(self):
        meter = self.device(("2A18", "notify"), ("2A2B", "read", b""))
        self.bridge(STRAP, arguments=["--utc-offset", "auto"])
        self.notified(meter, "2A18", b"\x00")
        self.assertIn("cannot read 2A2B: Not Authorized", self.told.getvalue())

    def test_offsets_of_clocks(self):
        moment = datetime.datetime(2026, 3, 1, 7, 0, 5, tzinfo=datetime.timezone.utc)
        day = b"\xea\x07\x03\x01"
        for value, offset in [
            (day + b"\x07\x00\x05", 0), (day + b"\x08\x01\x05", 60), (day + b"\x03\x1e\x00", -210),
            (day + b"\x08\x07\x05", None), (b"\xea\x07\x03\x03\x07\x00\x05", None), (bytes(7), None), (day, None),
        ]:
            self.assertEqual(bleak_bridge.clock_offset(value, moment), offset, value)
        for value, offset in [
            (b"\x04\x00", 60), (b"\x04\x04", 120), (b"\xf0\x00", -240), (b"\x80\x00", None), (b"\x04\xff", None),
            (b"\x04", None), (b"\x39\x00", None),
        ]:
            self.assertEqual(bleak_bridge.zone_offset(value), offset, value)

    def test_vendors_characteristics(self):
        uuid = "6e400003-b5a3-f393-e0a9-e50e24dcca9e"
        patch = self.device((uuid, "notify"), ("2A37", "notify"))
        patch.characteristics.pop()
        self.bridge(STRAP, arguments=["--characteristic", uuid.upper()])
        self.assertTrue(patch.ready.wait(20))
        patch.notify(uuid[4:8], b"\xa5\x5a")
        wait_until(lambda: self.sink.frames)
        self.assertEqual((self.sink.frames[0]["characteristic"], self.sink.frames[0]["value"]), (uuid, "a55a"))

    def test_a_machine_without_bluetooth_is_told(self):
        async def nothing(*_, **__):
            raise FileNotFoundError(2, "No such file or directory")

        with mock.patch.object(bleak.BleakScanner, "discover", nothing, create=True):
            self.assertEqual(bleak_bridge.main(["--scan"]), 69)
        self.assertIn("is the Bluetooth service there", self.told.getvalue())

    def test_scan(self):
        strap = types.SimpleNamespace(
            service_uuids=["0000180d-0000-1000-8000-00805f9b34fb", "0000fee7-0000-1000-8000-00805f9b34fb"],
            local_name="H10")
        lamp = types.SimpleNamespace(service_uuids=["0000fee7-0000-1000-8000-00805f9b34fb"], local_name="Lamp")

        async def discover(timeout, return_adv):
            return {STRAP: (None, strap), "B0:00:00:00:00:01": (None, lamp)}

        with mock.patch.object(bleak.BleakScanner, "discover", discover, create=True):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(bleak_bridge.main(["--scan"]), 0)
        self.assertEqual(printed.getvalue(), f"{STRAP} H10 180D\n")


class CommandTests(unittest.TestCase):
    """The scripts as commands, in a Python that has neither bleak nor pyserial."""

    def command(self, script, *arguments):
        # -S -I: whatever is installed here, the libraries are not there.
        code = f"import runpy, sys; sys.path.insert(0, {str(BRIDGES)!r}); sys.argv = {[script, *arguments]!r}; " \
            f"runpy.run_path({str(BRIDGES / script)!r}, run_name='__main__')"
        return subprocess.run([sys.executable, "-B", "-S", "-I", "-c", code], capture_output=True, text=True)

    def test_help(self):
        for script in ["bleak_bridge.py", "serial_bridge.py"]:
            done = self.command(script, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("--socket PATH", done.stdout)
            self.assertTrue(os.access(BRIDGES / script, os.X_OK))

    def test_missing_libraries_are_named(self):
        for script, arguments, advice in [
            ("bleak_bridge.py", ["--device", "A"], "pip install bleak"),
            ("serial_bridge.py", ["--line", "socket://h:1", "--format", "json"], "pip install pyserial"),
        ]:
            done = self.command(script, "--socket", "s", *arguments)
            self.assertEqual(done.returncode, 69, done.stderr)
            self.assertIn(advice, done.stderr)

    def test_wrong_arguments_are_named(self):
        serial = ["serial_bridge.py", "--socket", "s", "--line", "/dev/null"]
        for arguments, complaint in [
            (["bleak_bridge.py", "--socket", "s"], "--device"),
            (["bleak_bridge.py", "--socket", "s", "--device", "A", "--queue", "0"], "'0' is not a number of 1"),
            ([*serial], "one of --characteristic and --handle"),
            ([*serial, "--characteristic", "2A37", "--handle", "18"], "one of --characteristic and --handle"),
            ([*serial, "--format", "json", "--handle", "18"], "leave out"),
            ([*serial, "--handle", "x"], "'x' is no handle"),
            ([*serial, "--characteristic", "2A37", "--speed", "115201"], "'115201' is no speed"),
            ([*serial, "--characteristic", "2A37", "--utc-offset", "1h"], "'1h' is none of auto"),
        ]:
            done = self.command(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(complaint, done.stderr)

    def test_a_signal_ends_the_bluetooth_bridge_and_tells_what_is_left(self):
        code = f"import sys; sys.path[:0] = {[path for path in sys.path[:2]]!r}; import bleak_bridge; " \
            "sys.exit(bleak_bridge.main(['--socket', '/nonexistent', '--device', 'A']))"
        process = subprocess.Popen([sys.executable, "-B", "-c", code], stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for _ in range(2):
            process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        self.assertEqual((process.wait(20), process.stderr.read()), (0, ""))
        process.stderr.close()


if __name__ == "__main__":
    unittest.main()
