"""Each bar of a soak can be missed, and is met by what is right."""
import argparse
import socket
import tempfile
import unittest

import balance
import instance
import judging
import readings
import schedule
import soak

MIB = judging.MIB
HOUR = 3_600


def memory(rate, hours, processes=1, noise=0.5):
    """Samples of every 10 s, of a process that grows by `rate` MiB an hour, and begins again at 50 MiB with each process."""
    samples, life = [], hours * HOUR / processes
    for step in range(int(hours * 360)):
        moment = step * 10
        process = min(processes - 1, int(moment / life))
        value = 50 + rate * (moment - process * life) / HOUR + (noise if step % 2 else -noise)
        samples.append((moment, value * MIB, process))
    return samples


def mark(number=1, **changes):
    return {"mark": number, "differences": [], "tolerance": 0, "descriptors": 50, "threads": 13, "post_p99_ms": 30.0,
            "machine_p99_ms": 10.0} | changes


class MemoryTests(unittest.TestCase):
    def judged(self, samples):
        return judging.judge_memory(samples, 0, 1e9)

    def test_flat_memory_passes(self):
        self.assertIs(self.judged(memory(0, 8)).passed, True)
        self.assertIs(self.judged(memory(0.9, 8)).passed, True)

    def test_a_leak_fails(self):
        self.assertIs(self.judged(memory(1.2, 8)).passed, False)
        self.assertIn("+1.20 MiB/h", self.judged(memory(1.2, 8)).text)

    def test_restarts_hide_no_leak(self):
        self.assertIs(self.judged(memory(2, 8, processes=4)).passed, False)
        self.assertIs(self.judged(memory(0, 8, processes=4)).passed, True)

    def test_a_short_run_tells_its_slope_and_judges_only_what_is_gross(self):
        self.assertIsNone(self.judged(memory(5, 0.8)).passed)
        self.assertIn("+5.0", self.judged(memory(5, 0.8)).text)
        self.assertIs(self.judged(memory(50, 0.8)).passed, False)
        self.assertIsNone(self.judged(memory(0, 0.01)).passed)

    def test_what_is_before_and_behind_does_not_count(self):
        samples = memory(0, 8) + [(9 * HOUR, 900 * MIB, 0)]
        self.assertIs(judging.judge_memory(samples, HOUR, 8 * HOUR).passed, True)

    def test_the_error_grows_with_noise(self):
        small, large = (judging.slope(memory(1, 4, noise=noise)) for noise in (0, 0))
        self.assertAlmostEqual(small[0] * HOUR / MIB, 1, 6)
        uneven = [(moment, value + (moment // 60 % 2) * MIB, process) for moment, value, process in memory(1, 4)]
        self.assertGreater(judging.slope(uneven)[1], large[1])


class LevelTests(unittest.TestCase):
    def judged(self, values):
        marks = [mark(number, descriptors=value) for number, value in enumerate(values, 1)]
        return judging.judge_level("descriptors", marks, "descriptors", judging.SPARE_DESCRIPTORS).passed

    def test_flat_passes(self):
        self.assertIs(self.judged([50, 52, 51, 54, 50, 53]), True)

    def test_a_descriptor_with_each_mark_fails(self):
        self.assertIs(self.judged(range(50, 74)), False)

    def test_few_marks_are_not_judged(self):
        self.assertIsNone(self.judged([50, 90]))


class LatencyTests(unittest.TestCase):
    def judged(self, *posts, syncs=(10, 10, 10)):
        return judging.judge_latency([
            mark(post_p99_ms=post, machine_p99_ms=sync) for post, sync in zip(posts, syncs)]).passed

    def test_within_twice_the_first_passes(self):
        self.assertIs(self.judged(30, 59, 20), True)

    def test_beyond_fails(self):
        self.assertIs(self.judged(30, 61, 20), False)

    def test_a_machine_that_is_as_slow_is_no_verdict(self):
        self.assertIsNone(self.judged(30, 61, 20, syncs=(10, 21, 10)))
        self.assertIs(self.judged(30, 61, 61, syncs=(10, 21, 10)), False)

    def test_one_mark_is_not_judged(self):
        self.assertIsNone(self.judged(30))

    def test_percentile(self):
        self.assertEqual(judging.percentile(range(100), 0.99), 99)
        self.assertIsNone(judging.percentile([], 0.99))


class VerdictTests(unittest.TestCase):
    def test_a_difference_and_a_fault_fail(self):
        self.assertIs(judging.judge_ledger([mark(), mark(2)]).passed, True)
        self.assertIs(judging.judge_ledger([mark(), mark(2, differences=["accepted: one"])]).passed, False)
        self.assertIsNone(judging.judge_ledger([]).passed)
        self.assertIs(judging.judge_faults([]).passed, True)
        self.assertIs(judging.judge_faults(["a reload was taken"]).passed, False)


class BalanceTests(unittest.TestCase):
    DOORS = ("tcp", "udp")

    def setUp(self):
        self.balance = {name: 0 for name in balance.COUNTED} | {
            "received": 213, "accepted": 200, "duplicate": 10, "rejected": {"invalidJSON": 3}}
        self.sources = [
            {"name": "tcp", "received": 106, "kernelDropped": 0, "rejected": {"invalidJSON": 1}},
            {"name": "udp", "received": 107, "kernelDropped": 0, "rejected": {"invalidJSON": 2}},
        ]
        self.tallies = {
            "tcp": {"good": 100, "resent": 5, "again": 0, "unsure": 0, "bad": {"invalidJSON": 1}},
            "udp": {"good": 100, "resent": 5, "again": 0, "unsure": 0, "bad": {"invalidJSON": 2}},
        }

    def differences(self):
        after = balance.seen({"balance": self.balance, "sources": self.sources}, self.tallies)
        return balance.differences(balance.nothing(self.DOORS), after)

    def test_what_is_equal_passes(self):
        self.assertEqual(self.differences(), ([], 0))

    def test_a_reading_that_only_its_sender_knows_is_found(self):
        self.tallies["tcp"]["good"] += 1
        self.assertEqual(self.differences()[0], [
            "tcp, received: the ledger has 106, the senders have 107", "accepted: the ledger has 200, the senders have 201"])

    def test_a_reading_that_only_the_ledger_knows_is_found(self):
        self.balance["accepted"] += 1
        self.balance["received"] += 1
        self.assertEqual(self.differences()[0], ["accepted: the ledger has 201, the senders have 200"])

    def test_a_ledger_that_does_not_close_is_found(self):
        self.balance["received"] += 1
        self.assertEqual(self.differences()[0], ["the ledger does not close: received 214, counted 213"])

    def test_lost_readings_are_found(self):
        self.balance["lost"], self.balance["accepted"] = 1, 199
        self.assertIn("lost 1", self.differences()[0])

    def test_another_reason_is_found(self):
        self.sources[0]["rejected"] = {"noTemplate": 1}
        self.assertEqual(len(self.differences()[0]), 2)

    def test_what_the_kernel_dropped_is_counted_once(self):
        self.sources[1].update(received=104, kernelDropped=3)
        self.balance.update(received=210, accepted=197)
        self.assertEqual(self.differences()[0], [])
        self.sources[1]["kernelDropped"] = 2
        self.assertEqual(self.differences()[0], [
            "udp, received: the ledger has 106, the senders have 107", "accepted: the ledger has 197, the senders have 198 to 200"])

    def test_what_was_sent_again_may_be_there_twice_and_nothing_else(self):
        self.tallies["tcp"]["again"] = 4
        self.sources[0]["received"] += 4
        self.balance["received"] += 4
        self.balance["duplicate"] += 4
        self.assertEqual(self.differences(), ([], 4))
        self.balance["duplicate"] -= 4
        self.balance["accepted"] += 4
        self.assertEqual(self.differences()[0], ["accepted: the ledger has 204, the senders have 200"])

    def test_only_what_is_new_since_the_mark_before_counts(self):
        before = balance.seen({"balance": self.balance, "sources": self.sources}, self.tallies)
        self.tallies = {door: tally | {"good": tally["good"] + 50} for door, tally in self.tallies.items()}
        self.sources = [source | {"received": source["received"] + 50} for source in self.sources]
        self.balance = self.balance | {"received": 313, "accepted": 300}
        after = balance.seen({"balance": self.balance, "sources": self.sources}, self.tallies)
        self.assertEqual(balance.differences(before, after), ([], 0))

    def test_readings_of_another_device_are_found(self):
        ledger = {"series": [
            {"device": "tcp-1", "readings": 9, "dropped": 0}, {"device": "tcp-2", "readings": 11, "dropped": 0},
            {"device": "udp-1", "readings": 9, "dropped": 0}, {"device": "tcp-3", "readings": 1, "dropped": 1}]}
        known = {"tcp-1": 10, "tcp-2": 10, "udp-1": 10, "tcp-3": 10}
        self.assertEqual(sorted(balance.series_differences(ledger, known, {"udp"})), [
            "device tcp-1: the ledger has 9, the senders have 10", "device tcp-2: the ledger has 11, the senders have 10"])


class ScheduleTests(unittest.TestCase):
    def test_marks_are_hours_or_six(self):
        self.assertEqual(schedule.marks(24), [HOUR * hour for hour in range(1, 25)])
        self.assertEqual(len(schedule.marks(0.1)), 6)
        self.assertAlmostEqual(schedule.marks(0.1)[-1], 360)

    def test_everything_happens_and_is_over_before_the_next(self):
        for hours in (1, 24):
            events = schedule.events(hours, 1)
            self.assertEqual({event.kind for event in events}, {*schedule.CHANGES, *schedule.ENDS})
            moments = sorted([event.moment for event in events[1:]] + schedule.marks(hours))
            for event in events:
                following = next(moment for moment in moments if moment > event.moment)
                self.assertLess(event.moment + event.seconds, following)

    def test_the_process_does_not_end_where_its_memory_is_judged(self):
        for seed in range(20):
            kept = [event for event in schedule.events(24, seed) if 0.2 < event.moment / (24 * HOUR) < 0.9]
            self.assertFalse([event for event in kept if event.kind in schedule.ENDS])

    def test_a_seed_gives_the_same_again(self):
        self.assertEqual(schedule.events(2, 7), schedule.events(2, 7))
        self.assertNotEqual(schedule.events(2, 7), schedule.events(2, 8))


class MachineTests(unittest.TestCase):
    def test_ports_are_none_that_connections_get(self):
        ports = instance.ports_beside(32_768, 60_999)
        self.assertEqual((ports[0], ports[-1]), (10_240, 65_535))
        self.assertFalse([port for port in ports if 32_768 <= port <= 60_999])
        self.assertEqual(instance.ports_beside(1_024, 65_535), [])
        self.assertGreater(instance.free_port(ports=[]), 0)

    def test_a_port_that_is_taken_is_none(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port, other = taken.getsockname()[1], instance.free_port()
            self.assertEqual({instance.free_port(ports=[port, other]) for _ in range(20)}, {other})

    def test_a_disk_without_room_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(SystemExit) as refusal:
                soak.refuse_full_disk(argparse.Namespace(hours=1e9, folder=folder))
            self.assertIn("h may need", str(refusal.exception))
        self.assertLess(soak.wanted_bytes(8), soak.wanted_bytes(24))


class ReadingTests(unittest.TestCase):
    def test_no_two_readings_are_one(self):
        for maker in (readings.Lines, readings.Messages):
            lines = maker(readings.Beds("tcp", 5, 1))
            items = [lines.next() for _ in range(5_000)]
            fresh = [item.data for item in items if not item.is_resent and not item.reason]
            self.assertEqual(len(set(fresh)), len(fresh))
            times = [item.data.split(b'"timestamp"')[-1][:40] + item.device.encode() for item in items
                     if maker is readings.Lines and not item.is_resent and not item.reason]
            self.assertEqual(len(set(times)), len(times))
            self.assertTrue({item.data for item in items if item.is_resent} <= set(fresh))

    def test_the_number_of_devices_stays(self):
        beds = readings.Beds("tcp", 5, 1)
        for _ in range(20):
            beds.replace()
        self.assertEqual(len(set(beds.devices)), 5)
        self.assertEqual(beds.number, 25)


if __name__ == "__main__":
    unittest.main()
