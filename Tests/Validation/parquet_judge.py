"""Reads a folder of Parquet files with pyarrow and with DuckDB, and compares every row with what it should be.

parquet_judge.py rows FOLDER EXPECTED.ndjson [--groups N]: objects with time (ns), device, type, name and value.
parquet_judge.py export FOLDER READINGS.csv OBSERVATIONS.ndjson: what kymo export writes of the same store.

Prints what differs. Exit status 1 when anything does.
"""

import argparse
import collections
import csv
import datetime
import decimal
import json
import pathlib
import sys

import duckdb
import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

decimal.getcontext().prec = 100
CSV_COLUMNS = ["time", "received", "type", "device", "patient", "encounter", "correlation", "source"]
TIMES = ["time", "received", "start", "window_start", "window_end"]
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
complaints = []


def complain(text):
    complaints.append(text)


def nanoseconds(text):
    """Nanoseconds since the epoch of a time in RFC 3339."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    since = datetime.datetime.fromisoformat(whole + "+00:00") - EPOCH
    return (since.days * 86400 + since.seconds) * 10**9 + int((fraction + "0" * 9)[:9])


def parts(folder):
    return sorted(pathlib.Path(folder).glob("**/*.parquet"))


def by_arrow(folder):
    """All rows, times as nanoseconds; the folders' day and type among them."""
    table = pyarrow.dataset.dataset(folder, partitioning="hive").to_table()
    for name in TIMES:
        place = table.schema.get_field_index(name)
        if table.schema.field(place).type != pyarrow.timestamp("ns", "UTC"):
            complain(f"{name} is {table.schema.field(place).type}")
        table = table.set_column(place, name, table.column(place).cast(pyarrow.int64()))
    return table.to_pylist()


def by_duckdb(folder):
    """The same by DuckDB."""
    times = ", ".join(f"epoch_ns({name}) AS {name}" for name in TIMES)
    files = str(pathlib.Path(folder) / "**" / "*.parquet")
    query = f"SELECT * REPLACE ({times}, day::VARCHAR AS day) FROM read_parquet(?, hive_partitioning=true, hive_types_autocast=false)"
    result = duckdb.execute(query, [files])
    names = [column[0] for column in result.description]
    return [dict(zip(names, row)) for row in result.fetchall()]


def digits(row):
    """The value of a row as it was written."""
    if row["text"] is not None or row["value"] is None:
        return row["text"]
    if row["decimals"] >= 0:
        return format(row["value"].quantize(decimal.Decimal(1).scaleb(-row["decimals"])), "f")
    return str(row["value"].to_integral_value())


def same_number(first, second):
    return decimal.Decimal(first) == decimal.Decimal(second)


def compare(found, expected, reader):
    """Compares rows, whose last part is the value as text: its digits count."""
    found, expected = sorted(found, key=repr), sorted(expected, key=repr)
    if len(found) != len(expected):
        complain(f"{reader}: {len(found)} rows, not {len(expected)}")
    for mine, other in zip(found, expected):
        if mine != other:
            complain(f"{reader}: {mine} is not {other}")
            break


def normal(text):
    """Number texts with zeros for an exponent, so that texts can be compared."""
    if text is None:
        return None
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        return text
    return format(number, "f")


def check_folders(rows, reader):
    for row in rows:
        seconds = row["time"] // 10**9
        day = (EPOCH + datetime.timedelta(seconds=seconds)).date().isoformat()
        if row["day"] != day:
            complain(f"{reader}: a row of {day} is in day={row['day']}")
            return
        if row["type"] != row["measurement"] and "~" not in row["type"]:
            complain(f"{reader}: a row of {row['measurement']!r} is in type={row['type']!r}")
            return


def check_statistics(folder, groups):
    """The least, the greatest and the number of absent values of each column of each row group."""
    most = 0
    for part in parts(folder):
        file = pyarrow.parquet.ParquetFile(part)
        most = max(most, file.metadata.num_row_groups)
        for group in range(file.metadata.num_row_groups):
            table = file.read_row_group(group)
            meta = file.metadata.row_group(group)
            for number in range(meta.num_columns):
                chunk = meta.column(number)
                column = table.column(number)
                if chunk.compression != "ZSTD" or chunk.statistics.null_count != column.null_count:
                    complain(f"{part}: {chunk.path_in_schema}: {chunk.compression} {chunk.statistics}")
                if pyarrow.types.is_timestamp(column.type):
                    column = column.cast(pyarrow.int64())
                if not chunk.statistics.has_min_max:
                    continue
                least, greatest = chunk.statistics.min_raw, chunk.statistics.max_raw
                expected = pyarrow.compute.min_max(column).as_py()
                if pyarrow.types.is_string(column.type):
                    expected = {key: value.encode() for key, value in expected.items()}
                    least, greatest = (x.encode() if isinstance(x, str) else x for x in (least, greatest))
                if pyarrow.types.is_decimal(column.type):
                    least, greatest = chunk.statistics.min, chunk.statistics.max
                if (least, greatest) != (expected["min"], expected["max"]):
                    complain(f"{part}: {chunk.path_in_schema}: {least}…{greatest}, not {expected}")
    if most < groups:
        complain(f"no file has {groups} row groups")


def check_rows(arguments):
    with open(arguments.expected, encoding="utf-8") as lines:
        objects = [json.loads(line) for line in lines]
    expected = [(o["time"], o["device"], o["type"], o["name"], normal(o["value"])) for o in objects]
    for reader, rows in (("pyarrow", by_arrow(arguments.folder)), ("DuckDB", by_duckdb(arguments.folder))):
        found = [(r["time"], r["device"], r["measurement"], r["name"], normal(digits(r))) for r in rows]
        compare(found, expected, reader)
        check_folders(rows, reader)
    check_statistics(arguments.folder, arguments.groups)


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = [nanoseconds(row["time"]), nanoseconds(row["received"])]
            key += [row[name] or None for name in CSV_COLUMNS[2:]]
            values = [(name, row[name]) for name in row if name not in CSV_COLUMNS and row[name] != ""]
            for name, value in values or [(None, None)]:
                yield (*key, name, normal(value))


def check_export(arguments):
    expected = list(csv_rows(arguments.readings))
    with open(arguments.observations, encoding="utf-8") as lines:
        resources = [json.loads(line, parse_float=decimal.Decimal) for line in lines]
    for reader, rows in (("pyarrow", by_arrow(arguments.folder)), ("DuckDB", by_duckdb(arguments.folder))):
        keys = ["time", "received", "measurement", "device", "patient", "encounter", "correlation", "source", "name"]
        compare([(*(r[key] for key in keys), normal(digits(r))) for r in rows], expected, reader)
        check_folders(rows, reader)
        check_resources(rows, resources, reader)
    check_statistics(arguments.folder, 1)


def check_resources(rows, resources, reader):
    """Every Observation has rows, and what they say of it is so."""
    known = {f"{r['resourceType']}/{r['id']}": r for r in resources}
    found = collections.defaultdict(list)
    for row in rows:
        if row["resource"] is not None:
            found[row["resource"]].append(row)
    if set(found) != set(known):
        complain(f"{reader}: resources {sorted(set(found) ^ set(known))}")
    for reference, group in found.items():
        resource = known.get(reference)
        if resource is None:
            continue
        identifier = resource["identifier"][0]
        coding = resource["code"]["coding"][0]
        wanted = {
            "identifier_system": identifier["system"], "identifier": identifier["value"], "status": resource["status"],
            "code_system": coding["system"], "code": coding["code"],
            "patient": resource["subject"]["identifier"]["value"] if group[0]["patient"] else None,
        }
        components = {c["code"]["coding"][0]["code"] for c in resource.get("component", [])}
        for row in group:
            for name, value in wanted.items():
                if row[name] != value:
                    complain(f"{reader}: {reference}: {name} is {row[name]!r}, not {value!r}")
                    return
            if row["component_code"] is not None and row["component_code"] not in components:
                complain(f"{reader}: {reference} has no component {row['component_code']}")
                return
            if row["window_start"] is not None and not row["window_start"] <= row["time"] < row["window_end"]:
                complain(f"{reader}: a reading is not in its window")
                return
        if resource.get("valueQuantity") and len(group) == 1 and group[0]["value"] is not None:
            quantity = resource["valueQuantity"]
            if not same_number(str(quantity["value"]), group[0]["value"]) or quantity.get("code") != group[0]["unit"]:
                complain(f"{reader}: {reference}: {quantity} is not {group[0]['value']} {group[0]['unit']}")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    rows = commands.add_parser("rows")
    rows.add_argument("folder")
    rows.add_argument("expected")
    rows.add_argument("--groups", type=int, default=1)
    rows.set_defaults(check=check_rows)
    export = commands.add_parser("export")
    export.add_argument("folder")
    export.add_argument("readings")
    export.add_argument("observations")
    export.set_defaults(check=check_export)
    arguments = parser.parse_args()
    arguments.check(arguments)
    print("\n".join(complaints), end="")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
