"""Numbers beside what is promised of them."""

failed = []


def report(what, number, most, unit):
    """Prints a number that is to be at most `most`."""
    is_missed = number > most
    if is_missed:
        failed.append(what)
    print(f"{what}: {number:,.3g} {unit} (promised {most:,} at most){'  EXCEEDED' if is_missed else ''}", flush=True)
