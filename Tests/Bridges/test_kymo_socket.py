"""The queue and the socket: nothing is lost while kymo is away, and what is lost is told."""

import contextlib
import datetime
import io
import os
import tempfile
import unittest
from unittest import mock

from bridge_testing import FakeKymo, wait_until
import kymo_socket


class KymoSocketTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "kymo.sock")
        self.told = io.StringIO()
        self.enterContext(contextlib.redirect_stderr(self.told))
        self.enterContext(mock.patch.object(kymo_socket, "FIRST_PAUSE", 0.01))

    def sink(self, **options):
        sink = kymo_socket.KymoSocket(self.path, **options)
        sink.start()
        self.addCleanup(sink.finish, 0)
        return sink

    def kymo(self, **options):
        kymo = FakeKymo(self.path, **options)
        self.addCleanup(kymo.close)
        return kymo

    def put(self, sink, numbers):
        for number in numbers:
            sink.put({"sequence": number})

    def numbers(self, kymo):
        return [line["sequence"] for line in kymo.lines]

    def test_frames_wait_for_kymo(self):
        sink = self.sink()
        self.put(sink, range(2_000))
        wait_until(lambda: "frames wait, trying again" in self.told.getvalue())
        kymo = self.kymo()
        self.assertEqual(sink.finish(20), 0)
        self.assertEqual(self.numbers(kymo), list(range(2_000)))
        self.assertIn("kymo takes frames again", self.told.getvalue())

    def test_what_was_not_acknowledged_is_sent_again(self):
        sink, first = self.sink(), self.kymo(acknowledges=False)
        self.put(sink, range(10))
        wait_until(lambda: len(first.lines) == 10)
        self.assertEqual(len(sink), 10)
        first.close()
        second = self.kymo()
        self.put(sink, range(10, 20))
        self.assertEqual(sink.finish(20), 0)
        self.assertEqual(self.numbers(second), list(range(20)))

    def test_acknowledged_frames_are_not_sent_again(self):
        sink, first = self.sink(), self.kymo()
        self.put(sink, range(10))
        wait_until(lambda: len(sink) == 0)
        first.close()
        second = self.kymo()
        self.put(sink, [10])
        self.assertEqual(sink.finish(20), 0)
        self.assertEqual(self.numbers(second), [10])

    def test_a_full_queue_drops_the_newest_and_tells(self):
        sink = self.sink(capacity=5)
        self.put(sink, range(8))
        self.assertEqual((len(sink), sink.dropped), (5, 3))
        self.assertIn("the queue of 5 frames is full: 2 dropped so far", self.told.getvalue())
        kymo = self.kymo()
        self.assertEqual(sink.finish(20), 3)
        self.assertEqual(self.numbers(kymo), [0, 1, 2, 3, 4])
        self.assertIn("0 frames were not taken", self.told.getvalue())

    def test_frames_that_nobody_takes_are_counted_at_the_end(self):
        sink = self.sink()
        self.put(sink, range(3))
        self.assertEqual(sink.finish(0.01), 3)
        self.assertIn("3 frames were not taken", self.told.getvalue())

    def test_without_acknowledgements(self):
        kymo, sink = self.kymo(), self.sink(acknowledged=False)
        self.put(sink, range(1_500))
        self.assertEqual(sink.finish(20), 0)
        wait_until(lambda: len(kymo.lines) == 1_500)
        self.assertEqual((self.numbers(kymo), kymo.requests), (list(range(1_500)), 0))

    def test_a_kymo_that_keeps_nothing_says_so(self):
        self.kymo(answer=b'{"error":"nothing is kept"}\n')
        sink = self.sink()
        self.put(sink, [1])
        wait_until(lambda: "nothing is kept (--no-ack does without" in self.told.getvalue())
        self.assertEqual(len(sink), 1)

    def test_answers_that_are_none(self):
        for answer in [b'{"ack":7}\n', b"hello\n", b"[]\n", b'{"ack":-1}\n', b'{"ack":null}\n', b"7\n"]:
            with self.subTest(answer=answer):
                self.told.truncate(0)
                kymo = self.kymo(answer=answer)
                sink = self.sink()
                self.put(sink, [1])
                wait_until(lambda: "acknowledge" in self.told.getvalue())
                kymo.close()
                self.assertTrue(sink.is_alive())
                self.assertEqual(sink.finish(0), 1)


class TimeTests(unittest.TestCase):
    moment = datetime.datetime(2026, 3, 1, 7, 0, 5, 250_000, datetime.timezone.utc)

    def test_offsets(self):
        for offset, text in [
            (60, "2026-03-01T08:00:05.250000+01:00"), (0, "2026-03-01T07:00:05.250000+00:00"),
            (-210, "2026-03-01T03:30:05.250000-03:30"), ("unknown", "2026-03-01T07:00:05.250000Z"),
        ]:
            self.assertEqual(kymo_socket.time_text(self.moment, offset), text)

    def test_the_zone_of_the_machine(self):
        for zone, text in [
            ("UTC0", "2026-03-01T07:00:05.250000Z"), ("GMT0BST,M3.5.0/1,M10.5.0", "2026-03-01T07:00:05.250000+00:00"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-01T08:00:05.250000+01:00"),
        ]:
            with mock.patch.dict(os.environ, {"TZ": zone}):
                kymo_socket.time.tzset()
                self.assertEqual(kymo_socket.time_text(self.moment, "auto"), text)
        kymo_socket.time.tzset()

    def test_no_two_arrivals_are_alike(self):
        steps = [0, 0, 0, 2, 1_000_000, 500_000, -9_000_000]
        told = iter(self.moment + datetime.timedelta(microseconds=step) for step in steps)
        clock = kymo_socket.ArrivalClock(lambda: next(told))
        passed = [(clock.now() - self.moment) // datetime.timedelta(microseconds=1) for _ in steps]
        self.assertEqual(passed, [0, 1, 2, 3, 1_000_000, 1_000_001, -9_000_000])

    def test_option(self):
        self.assertEqual([kymo_socket.utc_offset(text) for text in ["+01:00", "-03:30", "auto"]], [60, -210, "auto"])
        for text in ["1:00", "+15:00", "Z", "+01:60"]:
            self.assertRaises(kymo_socket.argparse.ArgumentTypeError, kymo_socket.utc_offset, text)


if __name__ == "__main__":
    unittest.main()
