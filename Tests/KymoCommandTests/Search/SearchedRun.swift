import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// An instance whose archive is searched over HTTP.
struct SearchedRun {
    /// Tokens of clients: one may see all, one the readings of the patient p1 alone.
    static let (all, one) = ("a-token-for-everything", "a-token-for-one-patient")

    let stored: StoredRun
    let run: ChildProcess
    let client: AdminClient

    /// Starts it on what `stored` has.
    init(_ stored: StoredRun, _ arguments: [String] = []) throws {
        self.stored = stored
        for (name, token) in [("all", Self.all), ("one", Self.one)] {
            stored.folder.write("\(name).token", "\(token)\n")
            _ = unsafe chmod(stored.folder.file("\(name).token"), 0o600)
        }
        stored.folder.write(
            "peers.yaml",
            """
            peers:
              - {name: emr, tokenFile: \(stored.folder.file("all.token"))}
              - {name: study, tokenFile: \(stored.folder.file("one.token")), patients: [p1]}
            """)
        stored.folder.write("search.yaml", "search: {peers: \(stored.folder.file("peers.yaml"))}\n")
        run = try Kymo.start(
            [
                "run", "--config", stored.folder.file("search.yaml"), "--udp", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                "--data", stored.data, "--out", stored.output, "--window", "1m",
            ] + arguments)
        client = try AdminClient(run)
    }

    /// Asks for what is below `/fhir/`.
    func get(
        _ path: String, token: String? = all, method: String = "GET", fields: String = ""
    ) throws -> AdminClient.Answer {
        let bearer = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return try client.get("/fhir/\(path)", method: method, fields: bearer + fields)
    }

    /// Sends a form to `_search`, with `query` in its address.
    func post(
        _ form: String, query: String = "", type: String = "application/x-www-form-urlencoded"
    ) throws -> AdminClient.Answer {
        let path = "/fhir/Observation/_search" + (query.isEmpty ? "" : "?\(query)")
        let head = [
            "POST \(path) HTTP/1.1", "Host: a", "Connection: close",
            "Authorization: Bearer \(Self.all)", "Content-Type: \(type)", "Content-Length: \(form.utf8.count)",
        ]
        return AdminClient.answer(
            try RawConnection.exchange(head.joined(separator: "\r\n") + "\r\n\r\n\(form)", port: client.port))
    }

    /// The Bundle of a search.
    func bundle(_ query: String, token: String? = all) throws -> JSONTree {
        let answer = try get("Observation?\(query)", token: token)
        #expect(answer.status == 200, "\(query): \(answer.body)")
        return try JSONTree(parsing: Array(answer.body.utf8))
    }

    /// What all pages of a search have, in their order.
    func all(_ query: String, token: String? = all) throws -> [JSONTree] {
        var (found, next): ([JSONTree], String?) = ([], query)
        while let query = next {
            let bundle = try bundle(query, token: token)
            found += bundle.resources
            next = bundle.link("next")
        }
        return found
    }
}

extension JSONTree {
    /// The Observations of a Bundle.
    var resources: [JSONTree] {
        (self["entry"]?.elements ?? []).filter { $0["search"]?["mode"]?.text == "match" }.compactMap { $0["resource"] }
    }

    /// The query of a link; nil without it.
    func link(_ relation: String) -> String? {
        let url = self["link"]?.elements?.first { $0["relation"]?.text == relation }?["url"]?.text
        return url.map { String($0.drop { $0 != "?" }.dropFirst()) }
    }

    /// The id of a resource.
    var id: String { self["id"]?.text ?? "" }

    /// The end of what an Observation is about.
    var effectiveEnd: String { self["effectivePeriod"]?["end"]?.text ?? self["effectiveDateTime"]?.text ?? "" }
}

/// Readings of three devices, two of them of patients, in windows and one by one.
enum WardReadings {
    static func heartRate(_ device: Int, minute: Int, second: Int = 0, value: Int = 70) -> String {
        line(device, "heartRate", minute, second, "\"value\":\(value),\"unit\":\"/min\"")
    }

    static func weight(_ device: Int, minute: Int, second: Int = 0, value: Int = 70) -> String {
        line(device, "bodyMass", minute, second, "\"value\":\(value),\"unit\":\"kg\"")
    }

    static func steps(_ device: Int, minute: Int, second: Int = 0, value: Int = 70) -> String {
        line(device, "steps", minute, second, "\"value\":\(value),\"unit\":\"count\"")
    }

    /// A few hundred, in the order of time.
    static func many(seed: UInt64) -> [String] {
        var generator = SeededGenerator(seed: seed)
        return (0..<120).flatMap { minute in
            (1...3).flatMap { device -> [String] in
                let (second, value) = (
                    Int.random(in: 0..<50, using: &generator), Int.random(in: 50..<99, using: &generator)
                )
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1: return [heartRate(device, minute: minute, second: second, value: value)]
                case 2:
                    return (0..<3).map { weight(device, minute: minute, second: second + $0, value: value) }
                case 3: return [steps(device, minute: minute, second: second, value: value)]
                default: return []
                }
            }
        }
    }

    private static func line(_ device: Int, _ type: String, _ minute: Int, _ second: Int, _ rest: String) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let patient = device < 3 ? "\"patientId\":\"p\(device)\"," : ""
        let time = "2026-03-01T\(two(8 + minute / 60)):\(two(minute % 60)):\(two(second))Z"
        return "{\"deviceId\":\"w\(device)\",\(patient)\"type\":\"\(type)\",\"timestamp\":\"\(time)\",\(rest)}"
    }
}
