"""measure.py KYMO PROBE FOLDER PATIENTS: the time of a timeline in a large store; called by timeline.sh.

The exit status is 1 where an answer takes longer than is promised."""
import subprocess
import sys

from days import write_days

KYMO, PROBE, FOLDER, PATIENTS = sys.argv[1:4] + [int(sys.argv[4])]
MOST = 500


def main():
    write_days(KYMO, FOLDER, PATIENTS)
    failed = False
    for bucket in ("1min", "1h"):
        answer = subprocess.run([PROBE, f"{FOLDER}/data", "p-0", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", bucket, "5"],
                                check=True, capture_output=True, text=True).stdout.split()
        first, best = float(answer[1]), float(answer[2])
        verdict = "" if max(first, best) <= MOST else "  EXCEEDED"
        failed = failed or bool(verdict)
        print(f"{int(answer[0]):,} readings in buckets of {bucket}: first {first:.0f} ms, best {best:.0f} ms "
              f"(promised {MOST}){verdict}")
    sys.exit(1 if failed else 0)


main()
