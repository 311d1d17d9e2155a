"""A FHIR server that keeps what it is given, and that is sometimes slow, refuses, or is not heard."""
import collections
import json
import urllib.parse

from world import MILLISECOND, SECOND

TYPES = ("Observation", "Device", "Patient")


class Server:
    """`loses` is a defect: what it says that it has taken, it sometimes has not."""

    def __init__(self, random, loses=False):
        self.random, self.loses = random, loses
        self.resources = {}
        self.trouble = 0
        self.requests = collections.Counter()

    def answer(self, _, payload):
        """The action for the connection, nanoseconds until then, and the bytes of the answer."""
        head, _, body = payload.partition(b"\r\n\r\n")
        method, target, _ = head.decode().split("\r\n")[0].split(" ")
        delay = int(self.random.expovariate(1 / 20) * MILLISECOND)
        fault = self.fault() if method != "GET" else None
        self.requests[fault or "taken"] += 1
        if fault == "slow":
            delay += int(self.random.uniform(0, 40)) * SECOND
        if fault == "refused":
            return "reply", delay, reply(self.random.choice((500, 502, 503, 429, 408)), outcome("exception"))
        if fault == "unheard":
            return "cut", delay, b""
        status, resource = self.take(method, target, body)
        text = reply(status, resource)
        if fault == "answer lost":
            return "cut", delay, text[: self.random.randrange(len(text))]
        if fault == "ends":
            return "cut", delay, text
        return "reply", delay, text

    def fault(self):
        if self.random.random() >= self.trouble:
            return None
        return self.random.choice(("slow", "refused", "unheard", "answer lost", "ends"))

    def take(self, method, target, body):
        url = urllib.parse.urlsplit(target)
        path = url.path.partition("/fhir")[2].strip("/")
        if path == "metadata":
            return 200, statement()
        if method == "GET":
            found = [{"resource": self.resources[key]} for key in self.search(path, url.query)]
            return 200, {"resourceType": "Bundle", "type": "searchset", "total": len(found), "entry": found}
        resource = json.loads(body)
        if not path:
            return 200, self.bundle(resource)
        return self.write(method, path + ("?" + url.query if url.query else ""), resource)[0], resource

    def bundle(self, content):
        answers = []
        for entry in sorted(content["entry"], key=lambda entry: entry["request"]["method"]):
            request = entry["request"]
            status, key = self.write(request["method"], request["url"], entry["resource"], request.get("ifNoneExist"))
            answers.append((entry, {"response": {"status": str(status), "location": key, "etag": 'W/"1"'}}))
        order = {id(entry): answer for entry, answer in answers}
        return {"resourceType": "Bundle", "type": content["type"] + "-response",
                "entry": [order[id(entry)] for entry in content["entry"]]}

    def write(self, method, url, resource, condition=None):
        path, _, query = url.partition("?")
        if method == "POST":
            found = self.search(path, condition) if condition else []
            key = found[0] if found else f"{path}/{len(self.resources) + 1}"
            if found:
                return 200, key
        else:
            found = self.search(path, query) if query else [path] if path in self.resources else []
            key = found[0] if found else path if not query else f"{path}/{len(self.resources) + 1}"
        if self.loses and self.random.random() < 0.05:
            return 201, key
        self.resources[key] = resource
        return 200 if found else 201, key

    def search(self, kind, query):
        system, _, value = urllib.parse.parse_qs(query)["identifier"][0].partition("|")
        return [key for key, resource in self.resources.items() if key.startswith(kind + "/") and any(
            one["value"] == value and one.get("system", "") == system for one in resource.get("identifier", []))]

    @property
    def observations(self):
        return {one["identifier"][0]["value"]: one for one in self.resources.values()
                if one["resourceType"] == "Observation"}


def outcome(code):
    return {"resourceType": "OperationOutcome", "issue": [{"severity": "error", "code": code}]}


def statement():
    return {
        "resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "status": "active", "date": "2026-01-01",
        "kind": "instance", "format": ["json"],
        "rest": [{"mode": "server", "interaction": [{"code": "transaction"}, {"code": "batch"}], "resource": [{
            "type": name, "updateCreate": True, "conditionalCreate": True, "conditionalUpdate": "single",
            "interaction": [{"code": "create"}, {"code": "update"}, {"code": "search-type"}],
        } for name in TYPES]}],
    }


def reply(status, resource):
    body = json.dumps(resource).encode()
    head = f"HTTP/1.1 {status} Status\r\nContent-Type: application/fhir+json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
