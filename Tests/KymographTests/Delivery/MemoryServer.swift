import Foundation
import Kymograph
import KymographCore
import Synchronization

/// A FHIR server in memory, which also does what it is told to do wrong.
final class MemoryServer: HTTPTransport, @unchecked Sendable {
    typealias Completion = @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
    typealias Resource = [String: Any]

    /// What becomes of a request.
    enum Step {
        /// It is answered.
        case pass
        /// Nothing is stored, and this is the answer.
        case status(Int, [(name: String, value: String)] = [], String = "")
        /// Nothing is stored, and there is no answer.
        case fail(HTTPFailure.Kind)
        /// It is done, and there is no answer.
        case lose(HTTPFailure.Kind)
        /// It is done, and half of the answer comes.
        case cut
        /// It is answered when the test says so.
        case hold
        /// A batch in which the entries at these places get these statuses.
        case entries([Int: Int])
    }

    /// A request that waits for its answer.
    struct Held {
        var request: HTTPRequest
        var completion: Completion
    }

    // Only the thread of the test calls.
    var resources: [String: Resource] = [:]
    var steps: [Step] = []
    /// What becomes of requests after those; nil: as ``Step/pass``.
    var otherwise: ((HTTPRequest) -> Step)?
    /// Status and code for resources that the server will not take.
    var refusal: (Resource) -> (status: Int, code: String)? = { _ in nil }
    var largestBundle = Int.max
    var requests: [HTTPRequest] = []
    /// Fields of the answers to bundles.
    var used: [(name: String, value: String)] = []
    var held: [Held] = []
    var version = "4.0.1"
    var interactions = ["transaction", "batch"]
    var updateCreate = true
    /// What it states that can be done with Observations; nil for nothing stated.
    var observationInteractions: [String]?
    /// Resources that it refuses to delete.
    var keeps: (Resource) -> Bool = { _ in false }
    /// Whether it refuses to delete what others refer to.
    var keepsReferred = false
    /// Whether a search for the first identifier finds the second; by bytes at first.
    var finds: (_ asked: String, _ own: String) -> Bool = { $0.utf8.elementsEqual($1.utf8) }
    /// How many resources a page of a search has.
    var pageSize = Int.max
    private var nextID = 0

    var bundles: [HTTPRequest] { requests.filter { $0.method == "POST" && $0.url.hasSuffix("/fhir") } }
    var searches: [String] { requests.filter { $0.method == "GET" && $0.url.contains("?") }.map(\.url) }

    func submit(_ request: HTTPRequest, completion: @escaping Completion) {
        requests.append(request)
        if request.url.hasSuffix("/metadata") { return completion(.success(reply(200, metadata))) }
        let step = steps.isEmpty ? otherwise?(request) ?? .pass : steps.removeFirst()
        switch step {
        case .pass: completion(.success(answer(request)))
        case .status(let status, let headers, let text):
            completion(.success(HTTPResponse(status: status, headers: headers, body: Array(text.utf8))))
        case .fail(let kind): completion(.failure(HTTPFailure(kind, "no answer")))
        case .lose(let kind):
            _ = answer(request)
            completion(.failure(HTTPFailure(kind, "no answer")))
        case .cut:
            var response = answer(request)
            response.body = Array(response.body.prefix(response.body.count / 2))
            completion(.success(response))
        case .hold: held.append(Held(request: request, completion: completion))
        case .entries(let statuses): completion(.success(answer(request, statuses)))
        }
    }

    /// Answers what was held at `place`.
    func answerHeld(_ place: Int) {
        let held = held.remove(at: place)
        held.completion(.success(answer(held.request)))
    }

    private var metadata: Resource {
        var observation: Resource = ["type": "Observation", "updateCreate": updateCreate]
        if let stated = observationInteractions { observation["interaction"] = stated.map { ["code": $0] } }
        return [
            "resourceType": "CapabilityStatement", "fhirVersion": version,
            "software": ["name": "Memory", "version": "1"],
            "rest": [
                [
                    "mode": "server", "interaction": interactions.map { ["code": $0] },
                    "resource": [observation],
                ]
            ],
        ]
    }

    // MARK: Answers

    private func answer(_ request: HTTPRequest, _ statuses: [Int: Int] = [:]) -> HTTPResponse {
        let path = request.url.split(separator: "/fhir", maxSplits: 1).last.map(String.init) ?? ""
        let body = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? Resource
        if request.method == "POST", request.url.hasSuffix("/fhir"), let body { return bundle(body, statuses) }
        let url = String(path.drop { $0 == "/" })
        if request.method == "GET" { return reply(200, searchset(url)) }
        var entry: Resource = ["method": request.method, "url": url]
        for (name, value) in request.headers {
            if name == "If-None-Exist" { entry["ifNoneExist"] = value }
            if name == "If-Match" { entry["ifMatch"] = value }
        }
        let result = store(["resource": body ?? [:], "request": entry])
        return HTTPResponse(
            status: result.status, headers: [("Location", result.location), ("ETag", result.version)],
            body: result.status >= 300 ? data(outcome(result.code)) : [])
    }

    private func bundle(_ body: Resource, _ statuses: [Int: Int]) -> HTTPResponse {
        let entries = body["entry"] as? [Resource] ?? []
        if entries.count > largestBundle { return reply(413, outcome("too-costly")) }
        let type = body["type"] as? String ?? ""
        let before = (resources, nextID)
        var answers = [Resource](repeating: [:], count: entries.count)
        var references: [String: String] = [:]
        for (place, entry) in MemoryServer.inOrder(entries) {
            if let status = statuses[place] {
                answers[place] = ["response": ["status": "\(status)", "outcome": outcome("processing")]]
                continue
            }
            let result = store(type == "transaction" ? resolved(entry, references) : entry)
            if result.status >= 300, type == "transaction" {
                (resources, nextID) = before
                return reply(result.status, outcome(result.code))
            }
            if let url = entry["fullUrl"] as? String { references[url] = result.location }
            var response: Resource = [
                "status": "\(result.status)", "location": result.location, "etag": result.version,
            ]
            if result.status >= 300 { response["outcome"] = outcome(result.code) }
            answers[place] = ["response": response]
        }
        var response = reply(200, ["resourceType": "Bundle", "type": type + "-response", "entry": answers])
        response.headers += used
        return response
    }

    /// Entries with their places: what others refer to comes first, wherever it is.
    private static func inOrder(_ entries: [Resource]) -> [(Int, Resource)] {
        func isReferred(_ entry: Resource) -> Bool {
            ["Patient", "Device"].contains((entry["resource"] as? Resource)?["resourceType"] as? String)
        }
        let all = Array(entries.enumerated()).map { ($0.offset, $0.element) }
        return all.filter { isReferred($0.1) } + all.filter { !isReferred($0.1) }
    }

    /// The entry with references to entries of the bundle resolved.
    private func resolved(_ entry: Resource, _ references: [String: String]) -> Resource {
        var entry = entry
        entry["resource"] = entry["resource"].map { resolved(node: $0, references) }
        return entry
    }

    private func resolved(node: Any, _ references: [String: String]) -> Any {
        if let list = node as? [Any] { return list.map { resolved(node: $0, references) } }
        guard var object = node as? Resource else { return node }
        for (name, value) in object {
            if name == "reference", let url = value as? String, url.hasPrefix("urn:") {
                object[name] = references[url] ?? "missing"
            } else {
                object[name] = resolved(node: value, references)
            }
        }
        return object
    }

    private typealias StoreResult = (status: Int, code: String, location: String, version: String)

    /// Whether `value`, or a text or key anywhere within it, has `word`.
    private static func mentions(_ word: String, in value: Any) -> Bool {
        switch value {
        case let text as String: text.contains(word)
        case let members as Resource: members.contains { $0.key.contains(word) || mentions(word, in: $0.value) }
        case let items as [Any]: items.contains { mentions(word, in: $0) }
        default: false
        }
    }

    /// Deletes what has the id, in the version `match` if that is not nil; other conditions are not taken.
    private func delete(_ url: String, match: String?) -> StoreResult {
        guard !url.contains("?") else { return (412, "multiple-matches", "", "") }
        guard let resource = resources[url] else { return (404, "not-found", "", "") }
        if let match, match != version(url) { return (412, "conflict", "", "") }
        let isReferred = resources.contains { $0.key != url && Self.mentions(url, in: $0.value) }
        if keeps(resource) || keepsReferred && isReferred { return (409, "conflict", "", "") }
        resources[url] = nil
        return (204, "", "", "")
    }

    private func store(_ entry: Resource) -> StoreResult {
        if let request = entry["request"] as? Resource, request["method"] as? String == "DELETE" {
            return delete(request["url"] as? String ?? "", match: request["ifMatch"] as? String)
        }
        guard let resource = entry["resource"] as? Resource, let request = entry["request"] as? Resource,
            let url = request["url"] as? String, let type = resource["resourceType"] as? String
        else { return (400, "structure", "", "") }
        if let refusal = refusal(resource) { return (refusal.status, refusal.code, "", "") }
        if Self.mentions("missing", in: resource) { return (404, "not-found", "", "") }
        if let query = request["ifNoneExist"] as? String {
            let found = search(type, query)
            if found.count > 1 { return (412, "multiple-matches", "", "") }
            if let one = found.first { return (200, "", one, version(one)) }
        }
        guard request["method"] as? String == "PUT" else { return put(resource, "\(type)/\(newID())") }
        if let mark = url.firstIndex(of: "?") {
            let found = search(type, String(url[url.index(after: mark)...]))
            if found.count > 1 { return (412, "multiple-matches", "", "") }
            return put(resource, found.first ?? "\(type)/\(newID())")
        }
        if !updateCreate, resources[url] == nil { return (405, "not-supported", "", "") }
        if resource["id"] as? String != url.split(separator: "/").last.map(String.init) {
            return (400, "invalid", "", "")
        }
        if let match = request["ifMatch"] as? String, match != version(url) { return (412, "conflict", "", "") }
        return put(resource, url)
    }

    private func newID() -> Int {
        nextID += 1
        return nextID
    }

    private func put(_ resource: Resource, _ key: String) -> StoreResult {
        var resource = resource
        let old = resources[key]
        let version = ((old?["meta"] as? Resource)?["versionId"] as? String).flatMap { Int($0) } ?? 0
        resource["id"] = key.split(separator: "/").last.map(String.init)
        resource["meta"] = ["versionId": "\(version + 1)"]
        resources[key] = resource
        return (old == nil ? 201 : 200, "", key, "W/\"\(version + 1)\"")
    }

    private func version(_ key: String) -> String {
        "W/\"\((resources[key]?["meta"] as? Resource)?["versionId"] as? String ?? "")\""
    }

    /// Keys of the resources that a search by identifier finds.
    private func search(_ type: String, _ query: String) -> [String] {
        let token = (query.removingPercentEncoding ?? query).replacing("identifier=", with: "")
        return resources.filter { key, resource in
            let identifiers = resource["identifier"] as? [[String: String]] ?? []
            return key.hasPrefix(type + "/")
                && identifiers.contains { identifier in
                    let value = identifier["value"] ?? ""
                    return finds(token, value) || finds(token, "\(identifier["system"] ?? "")|\(value)")
                }
        }.keys.sorted()
    }

    private func searchset(_ url: String) -> Resource {
        let parts = url.split(separator: "?").map(String.init)
        let asked = parts.count > 1 ? parts[1].split(separator: "&page=").map(String.init) : []
        let found = search(parts[0], asked.first ?? "")
        let page = asked.count > 1 ? Int(asked[1]) ?? 0 : 0
        var answer: Resource = [
            "resourceType": "Bundle", "type": "searchset",
            "entry": found.dropFirst(page * min(pageSize, found.count)).prefix(pageSize).map {
                ["resource": resources[$0] ?? [:]]
            },
        ]
        if (page + 1) * min(pageSize, found.count) < found.count {
            let next = "http://server/fhir/\(parts[0])?\(asked.first ?? "")&page=\(page + 1)"
            answer["link"] = [["relation": "next", "url": next]]
        }
        return answer
    }

    private func outcome(_ code: String) -> Resource {
        [
            "resourceType": "OperationOutcome",
            "issue": [["severity": "error", "code": code, "diagnostics": "not taken: \(code)"]],
        ]
    }

    private func reply(_ status: Int, _ object: Resource) -> HTTPResponse {
        HTTPResponse(status: status, headers: [("Content-Type", "application/fhir+json")], body: data(object))
    }

    private func data(_ object: Resource) -> [UInt8] {
        Array((try? JSONSerialization.data(withJSONObject: object)) ?? Data())
    }
}

/// No authorization, or what a test wants.
final class TestAuthorizer: RequestAuthorizer, @unchecked Sendable {
    var values: [String?] = []
    var refusals: [String?] = []
    var failure: AuthorizationFailure?

    func authorize(completion: @escaping @Sendable (Result<String?, AuthorizationFailure>) -> Void) {
        if let failure { return completion(.failure(failure)) }
        completion(.success(values.count > 1 ? values.removeFirst() : values.first ?? nil))
    }

    func refused(_ value: String?) { refusals.append(value) }
}
