"""duckdb_batch.py WORKLOAD OUT: the same windows by DuckDB on one thread, all at once after the last reading: how fast a
database in columns does it that need not stream. Writes what the Python scripts write."""
import sys

import duckdb

workload, out = sys.argv[1:3]
database = duckdb.connect(config={"threads": 1})
database.execute("""
    COPY (
        WITH windows AS (
            SELECT device, "type" AS kind, ts // 300000 * 300000 AS start, count(*) AS n,
                min(coalesce("value", sys)) AS least, max(coalesce("value", sys)) AS most,
                avg(coalesce("value", sys)) AS mean, sum("value") AS total, avg(dia) AS diastolic
            FROM read_json($workload, format = 'newline_delimited', columns = {
                device: 'VARCHAR', ts: 'BIGINT', type: 'VARCHAR', value: 'INTEGER', sys: 'INTEGER', dia: 'INTEGER'})
            GROUP BY ALL)
        SELECT 'Observation' AS "resourceType", 'final' AS status,
            {coding: [{system: 'http://loinc.org', code: CASE kind WHEN 'heart-rate' THEN '8867-4'
                WHEN 'steps' THEN '55423-8' WHEN 'glucose' THEN '15074-8' ELSE '85354-9' END}]} AS code,
            {reference: 'Device/' || device} AS device,
            {start: strftime(make_timestamp(start * 1000), '%Y-%m-%dT%H:%M:%SZ'),
             "end": strftime(make_timestamp((start + 300000) * 1000), '%Y-%m-%dT%H:%M:%SZ')} AS "effectivePeriod",
            CASE WHEN kind <> 'bp' THEN {value: round(CASE kind WHEN 'steps' THEN total ELSE mean END, 3),
                system: 'http://unitsofmeasure.org'} END AS "valueQuantity",
            CASE WHEN kind = 'bp' THEN [{"valueQuantity": {value: round(mean, 3)}},
                {"valueQuantity": {value: round(diastolic, 3)}}] END AS component,
            [{url: 'urn:window', "count": n, "min": least, "max": most}] AS extension
        FROM windows
    ) TO $out (FORMAT json)
""", {"workload": workload, "out": out})
