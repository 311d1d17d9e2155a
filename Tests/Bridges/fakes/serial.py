"""A pyserial whose lines are lists of what each read gives; after the last one the line is gone."""

#: What lines that are opened one after the other give.
LINES = []
OPENED = []


class SerialException(OSError):
    pass


class Line:
    def __init__(self, reads):
        self._reads = list(reads)

    @property
    def in_waiting(self):
        return len(self._reads[0]) if self._reads else 0

    def read(self, size):
        if not self._reads:
            raise SerialException("device disconnected")
        received = self._reads.pop(0)
        assert len(received) <= size
        return received

    def close(self):
        pass


def serial_for_url(url, baudrate, timeout):
    OPENED.append((url, baudrate))
    if not LINES:
        raise SerialException("nobody listens")
    return Line(LINES.pop(0))
