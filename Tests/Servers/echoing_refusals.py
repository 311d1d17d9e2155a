#!/usr/bin/env python3
"""A FHIR server that refuses every bundle and repeats it in its answer, with what a terminal would obey.

  echoing_refusals.py

Prints its port.
"""
from answering import FHIRAnswering, serve, statement

TYPES = ("Observation", "Device", "Patient")
FORGED = "\u001b[2J\u009b31m\r\n2026-03-01T08:00:00.000Z info kymo: forged\n<3>forged\u202e "


class Handler(FHIRAnswering):
    def do_GET(self):
        bundle = {"resourceType": "Bundle", "type": "searchset", "total": 0}
        self.give(statement(TYPES) if self.path.endswith("/metadata") else bundle)

    def do_POST(self):
        self.refuse(FORGED + self.text())


serve(Handler)
