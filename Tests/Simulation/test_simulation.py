"""Seeds of the day hold, and each defect is found."""
import os
import unittest
from pathlib import Path

import process
import simulate
from model import Gate, Line, Model

ROOT = Path(__file__).resolve().parent.parent.parent
KYMO = os.environ.get("KYMO_BINARY") or str(ROOT / ".build/release/kymo")
#: Other seeds each day in CI; a failure that names one can be repeated with it.
FIRST = int(os.environ.get("KYMO_SEED") or 0) * 1_000_000 + 1
SEEDS = 20
MOST_SEEDS_OF_A_DEFECT = 200


def run(*arguments):
    return simulate.results(simulate.parsed([KYMO, *map(str, arguments)]))


@unittest.skipUnless(process.has_compiler(), "there is no C compiler")
class SimulationTests(unittest.TestCase):
    def test_what_must_be_true_is(self):
        wrong = {seed: wrong for seed, wrong, _, _ in run("--seeds", SEEDS, "--seed", FIRST) if wrong}
        self.assertEqual(wrong, {})

    def test_each_defect_is_found(self):
        for defect in simulate.DEFECTS:
            with self.subTest(defect):
                found = next((seed for seed, wrong, _, _ in run(
                    "--seeds", MOST_SEEDS_OF_A_DEFECT, "--seed", FIRST, "--defect", defect) if wrong), None)
                self.assertIsNotNone(found)


class ModelTests(unittest.TestCase):
    """The model takes nothing that is missing, foreign or changed."""

    def setUp(self):
        self.model = Model(60)
        self.line = Line("d1", 1_900_000_020, 70, b"")
        self.model.sent(self.line)

    def differences(self, *values):
        data = " ".join(map(str, values))
        observation = {"effectivePeriod": {"start": "2030-03-17T17:47:00Z"},
                       "component": [{"valueSampledData": {"period": 5_000, "data": data}}]}
        return self.model.differences("here", {".d1.heartRate.20300317174700Z.20300317174759Z": observation})

    def test_what_was_sent_may_be_there(self):
        self.assertEqual(self.differences(70), [])
        self.assertEqual(self.model.differences("here", {}), [])

    def test_what_was_acknowledged_must_be_there(self):
        self.model.acknowledged(self.line)
        self.assertEqual(self.differences(70), [])
        self.assertEqual(len(self.model.differences("here", {})), 1)

    def test_nothing_else_may_be_there(self):
        self.assertEqual(len(self.differences(71)), 1)
        self.assertEqual(len(self.differences(70, "E", 70)), 1)

    def test_a_ledger_must_balance(self):
        balance = dict.fromkeys(("duplicate", "conflict", "retractions", "open", "onTheWay", "lost"), 0)
        right = balance | {"received": 1, "accepted": 1, "rejected": {}}
        self.assertEqual(self.model.ledger_differences({"balance": right}), [])
        for change in ({"received": 2}, {"open": 1, "received": 2}, {"accepted": 2, "received": 2}):
            self.assertNotEqual(self.model.ledger_differences({"balance": right | change}), [])

    def test_what_was_taken_back_may_not_be_there(self):
        back = Line("d1", 1_900_000_020, 0, b"back", retracts=True)
        self.model.sent(back)
        self.model.acknowledged(self.line)
        self.assertEqual(self.differences(70), [])
        self.assertEqual(self.model.differences("here", {}), [])
        self.model.acknowledged(back)
        self.assertEqual(len(self.differences(70)), 1)
        self.assertEqual(len(self.model.letter_differences([])), 1)

    def test_a_sink_that_lacks_some_has_no_others(self):
        name = {"identifier": [{"value": ".d1.heartRate.20300317174700Z.20300317174759Z"}]}
        observation = name | {"effectiveDateTime": "2030-03-17T17:47:00Z", "valueQuantity": {"value": 70}}
        self.assertEqual(self.model.strangers("there", []), [])
        self.assertEqual(self.model.strangers("there", [observation]), [])
        observation["valueQuantity"] = {"value": 71}
        self.assertEqual(len(self.model.strangers("there", [observation])), 1)

    def gated(self, is_open):
        """A line that has come while its gate was so, and was acknowledged."""
        gate = Gate("rejectedByRule")
        gate.end_change(is_open)
        line = Line("d1", 1_900_000_020, 70, b"gated", gate=gate)
        self.model = Model(60)
        self.model.sent(line)
        self.model.acknowledged(line)
        return gate, line

    def test_what_does_not_pass_is_a_letter_and_nowhere_else(self):
        letter = {"kind": "payload", "reason": "rejectedByRule", "payload": b"gated"}
        self.gated(False)
        self.assertEqual(self.model.letter_differences([letter]), [])
        self.assertEqual(len(self.model.letter_differences([])), 1)
        self.assertEqual(len(self.differences(70)), 1)
        self.gated(True)
        self.assertEqual(len(self.model.letter_differences([letter])), 1)
        self.assertEqual(len(self.model.differences("here", {})), 1)

    def test_of_what_comes_meanwhile_either_is_true(self):
        letter = {"kind": "payload", "reason": "rejectedByRule", "payload": b"gated"}
        self.gated(None)
        self.assertEqual(self.model.differences("here", {}), [])
        self.assertEqual(self.differences(70), [])
        self.assertEqual(self.model.letter_differences([letter]), [])
        self.assertEqual(len(self.model.letter_differences([])), 1)

    def test_a_change_before_the_acknowledgement_counts(self):
        gate = Gate("rejectedByRule")
        line = Line("d1", 1_900_000_020, 70, b"gated", gate=gate)
        self.model = Model(60)
        self.model.sent(line)
        gate.begin_change()
        self.model.acknowledged(line)
        self.assertFalse(line.must_pass)
        self.assertTrue(line.may_pass)

    def test_what_was_put_aside_must_be_there_after_its_replay(self):
        gate, _ = self.gated(False)
        self.assertEqual(self.model.differences("here", {}), [])
        gate.end_change(True)
        self.model.replayed([b"other\ngated"])
        self.assertEqual(len(self.model.differences("here", {})), 1)
        self.assertEqual(len(self.model.replay_differences([b"gated"])), 1)


if __name__ == "__main__":
    unittest.main()
