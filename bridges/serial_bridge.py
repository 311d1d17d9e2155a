#!/usr/bin/env python3
"""Carries the packets of a serial line to kymo, as frames in JSON (docs/gatt.md), each with the time it came.

The line is text: packets in hexadecimal (--characteristic or --handle says whose), or frames in JSON, to which device,
time and sequence are added where they are missing. kymo run --serial reads a line without a bridge.
"""

import argparse
import errno
import fcntl
import json
import os
import select
import signal
import sys
import termios
import threading
import tty

from kymo_socket import ArrivalClock, Backoff, KymoSocket, add_arguments, say, time_text

#: Bytes of the longest line; 512 bytes is the longest value of a characteristic.
LONGEST_LINE = 4096
#: Seconds that a read waits at most.
PATIENCE = 0.5


class Terminal:
    """A serial line of this machine, raw, and locked as long as it is open."""

    def __init__(self, path, speed):
        self._descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._configure(speed)
        except BaseException as error:
            os.close(self._descriptor)
            if isinstance(error, BlockingIOError):
                raise OSError(errno.EBUSY, "another process has locked the line") from None
            if isinstance(error, termios.error):
                raise OSError(*error.args) from None
            raise

    def _configure(self, speed):
        tty.setraw(self._descriptor, termios.TCSANOW)
        attributes = termios.tcgetattr(self._descriptor)
        attributes[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
        attributes[4] = attributes[5] = getattr(termios, f"B{speed}")
        termios.tcsetattr(self._descriptor, termios.TCSANOW, attributes)

    def read(self):
        """What has come, or nothing after half a second; an OSError when the line has gone."""
        if not select.select([self._descriptor], [], [], PATIENCE)[0]:
            return b""
        received = os.read(self._descriptor, 4096)
        if not received:
            raise OSError(errno.EIO, "the line has gone")
        return received

    def close(self):
        os.close(self._descriptor)


class RemoteLine:
    """A line that pyserial reaches by URL, such as rfc2217://host:port or socket://host:port."""

    def __init__(self, serial, url, speed):
        self._line = serial.serial_for_url(url, baudrate=speed, timeout=PATIENCE)

    def read(self):
        return self._line.read(max(1, self._line.in_waiting))

    def close(self):
        self._line.close()


class Lines:
    """Cuts bytes into lines; `skip_first` leaves out what may be the end of a line that began before."""

    def __init__(self, skip_first):
        self._rest, self._skipping = b"", skip_first
        #: Lines longer than is possible.
        self.too_long = 0

    def take(self, received):
        """The lines that end in `received`, without their ends and without empty ones."""
        *lines, self._rest = (self._rest + received).split(b"\n")
        if self._skipping and lines:
            del lines[0]
            self._skipping = False
        if len(self._rest) > LONGEST_LINE:
            if not self._skipping:
                self.too_long += 1
                say(f"a line of more than {LONGEST_LINE} bytes is left out, {self.too_long} since the line was opened")
            self._rest, self._skipping = b"", True
        return [line.strip() for line in lines if line.strip()]


class SerialBridge:
    """Makes frames of the lines of a serial line, and opens it again when it has gone."""

    def __init__(self, options, sink, serial=None):
        self._options, self._sink, self._serial = options, sink, serial
        self._clock = ArrivalClock()
        #: The last number of each device.
        self._sequences = {}
        self.ending = threading.Event()

    def run(self):
        """Reads until `ending` is set."""
        backoff, failure = Backoff(), None
        while not self.ending.is_set():
            try:
                line = self._open()
                say(f"{self._options.line}: open")
                failure = None
                try:
                    self._read(line, backoff)
                finally:
                    line.close()
            except OSError as error:
                text = f"{self._options.line}: {error.strerror or error}"
                if text != failure:
                    say(f"{text}; trying again")
                failure = text
            self.ending.wait(backoff.next())

    def _open(self):
        if self._serial:
            return RemoteLine(self._serial, self._options.line, self._options.speed)
        return Terminal(self._options.line, self._options.speed)

    def _read(self, line, backoff):
        # Half a packet in hexadecimal may look like a packet; half a frame in JSON cannot.
        lines = Lines(skip_first=self._options.format == "hex")
        while not self.ending.is_set():
            received = line.read()
            if received:
                backoff.reset()
            for text in lines.take(received):
                self._sink.put(self.frame(text, self._clock.now()))

    def frame(self, line, moment):
        """The frame of a line. One that is garbled becomes a frame that kymo refuses and keeps as a dead letter."""
        frame = {"time": time_text(moment, self._options.utc_offset)}
        if self._options.device:
            frame["device"] = self._options.device
        if self._options.format == "json":
            try:
                stated = json.loads(line)
                if isinstance(stated, dict):
                    return self._numbered(frame | {name: value for name, value in stated.items() if value is not None})
            except ValueError:
                pass
        elif self._options.handle:
            frame["handle"] = self._options.handle
        else:
            frame["characteristic"] = self._options.characteristic
        return self._numbered(frame | {"value": line.decode("ascii", "backslashreplace")})

    def _numbered(self, frame):
        """The frame with the next number of its device, if it has none of its own."""
        if "sequence" not in frame:
            device = str(frame.get("device"))
            frame["sequence"] = self._sequences[device] = self._sequences.get(device, 0) + 1
        return frame


def speed(text):
    """A speed that the system has."""
    if not text.isdecimal() or not hasattr(termios, f"B{text}") or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no speed of serial lines, such as 115200")
    return int(text)


def handle(text):
    """A handle as frames have it: `0x0012` as text, 18 as number."""
    try:
        if 0 < int(text, 0) <= 0xFFFF:
            return int(text) if text.isdecimal() else text
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is no handle, such as 0x0012 or 18")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument(
        "--line", required=True, metavar="PATH|URL",
        help="/dev/serial/by-id/…, or with pyserial a URL such as rfc2217://host:port")
    parser.add_argument("--speed", type=speed, default=115200, metavar="BAUD", help="default: 115200")
    parser.add_argument("--format", choices=["hex", "json"], default="hex", help="what lines are (default: hex)")
    parser.add_argument("--device", metavar="NAME", help="the device's identifier, for lines that state none")
    parser.add_argument("--characteristic", metavar="UUID", help="whose packets the lines are, such as 2A37")
    parser.add_argument("--handle", metavar="NUMBER", type=handle, help="or their handle, such as 0x0012")
    options = parser.parse_args(arguments)
    named = sum(value is not None for value in [options.characteristic, options.handle])
    if options.format == "hex" and named != 1:
        parser.error("lines in hexadecimal need one of --characteristic and --handle")
    if options.format == "json" and named:
        parser.error("frames in JSON name their characteristics: leave out --characteristic and --handle")
    return options


def main(arguments):
    options = parse(arguments)
    serial = None
    if "://" in options.line:
        try:
            import serial
        except ImportError:
            say("pyserial, which URLs need, is not there: pip install pyserial")
            return 69
    sink = KymoSocket(options.socket, options.queue, not options.no_ack)
    bridge = SerialBridge(options, sink, serial)
    for number in [signal.SIGINT, signal.SIGTERM]:
        signal.signal(number, lambda *_: bridge.ending.set())
    sink.start()
    bridge.run()
    return 1 if sink.finish(5) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
