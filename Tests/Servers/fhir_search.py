#!/usr/bin/env python3
"""FHIR servers that can be searched, for `kymo compare`.

  fhir_search.py FOLDER

Prints "listening on PORT". FOLDER has an NDJSON file of Observations for each server: NAME.ndjson is /NAME. Each server gives
Patients and Devices ids of its own, and refers by these; a search gives pages of 4, and every third page is 503 at first.
Only Patients are included: who wants Devices has to ask for them. A server NAME-closed shows neither, and has the ids that
all such servers have.
"""
import hashlib
import json
import pathlib
import sys
from urllib.parse import parse_qs, urlsplit

from answering import FHIRAnswering, serve

PAGE = 4


class Store:
    """The Observations of a file, and those whom they are about."""

    def __init__(self, path):
        self.others, self.observations, self.refused = {}, [], set()
        self.is_closed = path.stem.endswith("-closed")
        salt = "" if self.is_closed else path.stem
        for line in path.read_text().splitlines():
            observation = json.loads(line)
            for name, kind in (("subject", "Patient"), ("device", "Device")):
                if name in observation:
                    observation[name] = self.reference(kind, observation[name], salt)
            self.observations.append(observation)

    def reference(self, kind, reference, salt):
        identifier = reference.get("identifier")
        if not identifier:
            system, _, value = reference["reference"].partition("?identifier=")[2].partition("%7C")
            identifier = {"system": system, "value": value}
        own = hashlib.sha256((salt + json.dumps(identifier, sort_keys=True)).encode()).hexdigest()[:12]
        self.others[f"{kind}/{own}"] = {"resourceType": kind, "id": own, "identifier": [identifier]}
        return {"reference": f"{kind}/{own}"}

    def page(self, number, base):
        rows = self.observations[number * PAGE:(number + 1) * PAGE]
        entries = [{"resource": row, "search": {"mode": "match"}} for row in rows]
        for name in set() if self.is_closed else {row["subject"]["reference"] for row in rows if "subject" in row}:
            entries.append({"fullUrl": f"{base}/{name}", "resource": self.others[name], "search": {"mode": "include"}})
        bundle = {"resourceType": "Bundle", "type": "searchset", "entry": entries}
        if (number + 1) * PAGE < len(self.observations):
            bundle["link"] = [{"relation": "next", "url": f"{base}?page={number + 1}"}]
        return bundle


class Handler(FHIRAnswering):
    def do_GET(self):
        url = urlsplit(self.path)
        name, _, rest = url.path.lstrip("/").partition("/")
        store, query = stores.get(name), parse_qs(url.query)
        base = f"http://{self.headers['Host']}/{name}"
        if store and (rest == "Observation" or not rest):
            number = int(query.get("page", ["0"])[0])
            if number % 3 == 2 and number not in store.refused:
                store.refused.add(number)
                return self.give({"resourceType": "OperationOutcome"}, 503)
            return self.give(store.page(number, base))
        if store and store.is_closed:
            return self.give({"resourceType": "OperationOutcome"}, 403)
        if store and rest in store.others:
            return self.give(store.others[rest])
        return self.give({"resourceType": "OperationOutcome"}, 404)


stores = {path.stem: Store(path) for path in pathlib.Path(sys.argv[1]).glob("*.ndjson")}
serve(Handler, "listening on ")
