"""The serial bridge at a pseudo-terminal, and at a fake pyserial."""

import contextlib
import fcntl
import io
import os
import re
import tempfile
import threading
import tty
import unittest
from unittest import mock

from bridge_testing import wait_until
import kymo_socket
import serial
import serial_bridge
from test_bleak_bridge import Frames

HEX = ["--device", "strap-1", "--characteristic", "2A37"]


class SerialBridgeTests(unittest.TestCase):
    def setUp(self):
        self.told = io.StringIO()
        self.enterContext(contextlib.redirect_stderr(self.told))
        self.enterContext(mock.patch.object(kymo_socket, "FIRST_PAUSE", 0.01))
        self.enterContext(mock.patch.object(serial_bridge, "PATIENCE", 0.02))
        self.sink = Frames()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "ttyUSB0")

    def plug(self):
        """A pseudo-terminal at the path; the end that the device has."""
        device, line = os.openpty()
        tty.setraw(line)
        if os.path.lexists(self.path):
            os.unlink(self.path)
        os.symlink(os.ttyname(line), self.path)
        os.close(line)
        return device

    def bridge(self, arguments, library=None, line=None):
        options = serial_bridge.parse(["--socket", "unused", "--line", line or self.path, *arguments])
        bridge = serial_bridge.SerialBridge(options, self.sink, library)
        thread = threading.Thread(target=bridge.run)
        thread.start()

        def end():
            bridge.ending.set()
            thread.join()

        self.addCleanup(end)

    def wait_until_open(self, times=1):
        wait_until(lambda: self.told.getvalue().count(": open") == times)

    def values(self):
        return [frame["value"] for frame in self.sink.frames]

    def test_lines_in_hexadecimal(self):
        device = self.plug()
        self.bridge(HEX + ["--utc-offset", "+01:00"])
        self.wait_until_open()
        for part in [b"1104\r\n163c", b"1104\n\n", b"00 3d\r\nno packet\n\xff\n00"]:
            os.write(device, part)
        wait_until(lambda: len(self.sink.frames) == 4)
        # What came before the first line end may be half a packet.
        self.assertEqual(self.values(), ["163c1104", "00 3d", "no packet", "\\xff"])
        first = dict(self.sink.frames[0])
        self.assertTrue(first.pop("time").endswith("+01:00"))
        self.assertEqual(first, {"device": "strap-1", "characteristic": "2A37", "sequence": 1, "value": "163c1104"})
        os.close(device)

    def test_handles(self):
        device = self.plug()
        self.bridge(["--handle", "0x0012"])
        self.wait_until_open()
        os.write(device, b"\n003c\n")
        wait_until(lambda: self.sink.frames)
        self.assertEqual((self.sink.frames[0]["handle"], self.sink.frames[0].get("device")), ("0x0012", None))
        os.close(device)

    def test_frames_in_json(self):
        device = self.plug()
        self.bridge(["--format", "json", "--device", "gateway"])
        self.wait_until_open()
        os.write(device, b'{"device":"cuff","time":"2026-03-01T08:00:00Z","sequence":9,"value":"00"}\n'
                 b'{"characteristic":"2A37","time":null,"value":"003c"}\n{"half\n[1]\n')
        wait_until(lambda: len(self.sink.frames) == 4)
        stated, added, garbled, array = self.sink.frames
        self.assertEqual(
            stated, {"device": "cuff", "time": "2026-03-01T08:00:00Z", "sequence": 9, "value": "00"})
        self.assertEqual((added["device"], added["sequence"], len(added["time"]) > 20), ("gateway", 1, True))
        self.assertEqual((garbled["value"], array["value"]), ('{"half', "[1]"))
        os.close(device)

    def test_each_device_of_a_gateway_is_numbered(self):
        device = self.plug()
        self.bridge(["--format", "json"])
        self.wait_until_open()
        for name in "abaab":
            os.write(device, b'{"device":"%s","characteristic":"2A37","value":"003c"}\n' % name.encode())
        wait_until(lambda: len(self.sink.frames) == 5)
        numbers = [(frame["device"], frame["sequence"]) for frame in self.sink.frames]
        self.assertEqual(numbers, [("a", 1), ("b", 1), ("a", 2), ("a", 3), ("b", 2)])
        os.close(device)

    def test_a_line_that_goes_is_opened_again(self):
        self.bridge(HEX)
        wait_until(lambda: "No such file or directory; trying again" in self.told.getvalue())
        for number in range(1, 3):
            device = self.plug()
            self.wait_until_open(number)
            os.write(device, b"\n003c\n")
            wait_until(lambda: len(self.sink.frames) == number)
            os.close(device)
            # Which of them the system says is a matter of time.
            gone = r"(the line has gone|Input/output error); trying again"
            wait_until(lambda: len(re.findall(gone, self.told.getvalue())) >= number)
        self.assertEqual([frame["sequence"] for frame in self.sink.frames], [1, 2])

    def test_a_locked_line_is_waited_for(self):
        device = self.plug()
        holder = os.open(self.path, os.O_RDWR | os.O_NOCTTY)
        fcntl.flock(holder, fcntl.LOCK_EX)
        self.bridge(HEX)
        wait_until(lambda: "another process has locked the line" in self.told.getvalue())
        fcntl.flock(holder, fcntl.LOCK_UN)
        self.wait_until_open()
        os.close(holder)
        os.close(device)

    def test_what_is_no_terminal(self):
        with open(self.path, "w"):
            pass
        self.bridge(HEX)
        wait_until(lambda: "Inappropriate ioctl for device" in self.told.getvalue())

    def test_lines_through_pyserial(self):
        serial.LINES[:] = [[b"\n003c\n003", b"d\n", b""], [b"\n003e\n"]]
        serial.OPENED.clear()
        self.bridge(HEX + ["--speed", "9600"], library=serial, line="rfc2217://gateway:2217")
        wait_until(lambda: len(self.sink.frames) == 3)
        self.assertEqual(self.values(), ["003c", "003d", "003e"])
        self.assertEqual(serial.OPENED[:2], 2 * [("rfc2217://gateway:2217", 9600)])
        wait_until(lambda: "nobody listens; trying again" in self.told.getvalue())

    def test_every_cut_gives_the_same_lines(self):
        sent = b"half\n163c1104\r\n\r\n003d\n"
        for cut in range(len(sent) + 1):
            lines = serial_bridge.Lines(skip_first=True)
            self.assertEqual(lines.take(sent[:cut]) + lines.take(sent[cut:]), [b"163c1104", b"003d"])

    def test_endless_lines_take_no_memory(self):
        lines = serial_bridge.Lines(skip_first=False)
        for _ in range(100):
            self.assertEqual(lines.take(b"x" * 4_000), [])
        self.assertEqual(lines.take(b"x\n003c\n"), [b"003c"])
        self.assertEqual(lines.too_long, 1)


if __name__ == "__main__":
    unittest.main()
