#!/usr/bin/env python3
"""A FHIR server that keeps what it is given, and deletes it again.

  fhir_store.py [--own-ids] [--no-delete] [--hold]

Prints its port. Takes transactions and batches of PUT and conditional POST, the same as single requests, DELETE by id, and searches by
identifier. With --own-ids it makes no resource under an id that it is given, and with --no-delete it deletes nothing and says so. A
DELETE with a condition, or of what is not there, is refused. GET /_all gives all resources by type and id,
GET /_writes what was asked to be written, as method and URL, and GET /_searches what was searched for. With --hold the first bundle is
not looked at before GET /_release, also when its client has gone; GET /_held says whether it has come, and GET /_begun how many have.
"""
import argparse
import itertools
import json
import threading
import urllib.parse

from answering import FHIRAnswering, serve, statement

parser = argparse.ArgumentParser()
parser.add_argument("--own-ids", action="store_true")
parser.add_argument("--no-delete", action="store_true")
parser.add_argument("--hold", action="store_true")
options = parser.parse_args()

TYPES = ("Observation", "Device", "Patient")
ORDER = ("POST", "PUT")

lock = threading.Lock()
held, released = threading.Event(), threading.Event()
resources, writes, searches, numbers = {}, [], [], itertools.count(1)
#: How many bundles have come.
begun = [0]


def outcome(code):
    return {"resourceType": "OperationOutcome", "issue": [{"severity": "error", "code": code}]}


def search(kind, query):
    """Keys of what has the identifier that `query` names."""
    system, _, value = urllib.parse.parse_qs(query)["identifier"][0].partition("|")
    value = value.replace("\\", "")
    return [key for key, resource in resources.items() if key.startswith(kind + "/") and any(
        one["value"] == value and one.get("system", "") == system for one in resource.get("identifier", []))]


def put(key, resource):
    status = 200 if key in resources else 201
    resources[key] = {**resource, "id": key.partition("/")[2]}
    return status, key


def write(method, url, resource, condition=None):
    """Status and key of what came of a request; its conditions are those of one identifier."""
    writes.append(f"{method} {url}")
    path, _, query = url.partition("?")
    if method == "DELETE":
        if options.no_delete or query:
            return 405, ""
        return (404 if resources.pop(path, None) is None else 204), path
    if method == "POST":
        found = search(path, condition)
        return (200, found[0]) if found else put(f"{path}/{next(numbers)}", resource)
    if query:
        found = search(path, query)
        return put(found[0] if found else f"{path}/{next(numbers)}", resource)
    if options.own_ids and path not in resources:
        return 405, ""
    return put(path, resource)


def resolved(node, keys):
    if isinstance(node, list):
        return [resolved(one, keys) for one in node]
    if isinstance(node, dict):
        return {name: keys.get(one, one) if name == "reference" else resolved(one, keys) for name, one in node.items()}
    return node


def bundle(content):
    """The answer to a bundle, and its status."""
    before, keys = dict(resources), {}
    answers = [None] * len(content["entry"])
    places = sorted(range(len(answers)), key=lambda place: ORDER.index(content["entry"][place]["request"]["method"]))
    for place in places:
        entry = content["entry"][place]
        request = entry["request"]
        resource = resolved(entry.get("resource"), keys)
        status, key = write(request["method"], request["url"], resource, request.get("ifNoneExist"))
        if status >= 300 and content["type"] == "transaction":
            resources.clear()
            resources.update(before)
            return outcome("not-found"), status
        keys[entry.get("fullUrl")] = key
        answers[place] = {"response": {"status": str(status), "location": key}}
        if status >= 300:
            answers[place]["response"]["outcome"] = outcome("not-found")
    return {"resourceType": "Bundle", "type": content["type"] + "-response", "entry": answers}, 200


class Handler(FHIRAnswering):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        with lock:
            if url.path == "/_all":
                return self.give(resources)
            if url.path == "/_held":
                return self.give(held.is_set())
            if url.path == "/_begun":
                return self.give(begun[0])
            if url.path == "/_release":
                released.set()
                return self.give(True)
            if url.path == "/_writes":
                return self.give(writes)
            if url.path == "/_searches":
                return self.give(searches)
            if url.path.endswith("/metadata"):
                return self.give(described())
            searches.append(urllib.parse.unquote(self.path.partition("/fhir/")[2]))
            found = [{"resource": resources[key]} for key in search(url.path.split("/")[-1], url.query)]
            return self.give({"resourceType": "Bundle", "type": "searchset", "total": len(found), "entry": found})

    def do_POST(self):
        content = json.loads(self.text())
        with lock:
            begun[0] += content["resourceType"] == "Bundle"
            waits = options.hold and content["resourceType"] == "Bundle" and not held.is_set()
            if waits:
                held.set()
        if waits:
            released.wait()
        with lock:
            if content["resourceType"] == "Bundle":
                return self.give(*bundle(content))
        return self.single(content)

    def do_PUT(self):
        return self.single(json.loads(self.text()))

    def do_DELETE(self):
        return self.single(None)

    def single(self, resource):
        with lock:
            url = self.path.partition("/fhir/")[2]
            status, key = write(self.command, url, resource, self.headers.get("If-None-Exist"))
        if status >= 300:
            return self.give(outcome("not-found"), status)
        return self.answer(status, headers=[("Location", key)])


def described():
    stated = statement(TYPES)
    for resource in stated["rest"][0]["resource"]:
        resource["updateCreate"] = not options.own_ids
        if not options.no_delete:
            resource["interaction"].append({"code": "delete"})
    return stated


serve(Handler, "listening on ")
