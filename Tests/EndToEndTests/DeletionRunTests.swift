import CommandSupport
import Glibc
import Kymograph
import KymographTestKit
import Testing

/// `emptied: delete`: windows that have lost all readings are deleted on the FHIR server.
@Suite(.serialized) struct DeletionRunTests {
    private let folder = TemporaryFolder()

    init() {
        let whose = #""deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s""#
        folder.write(
            "steps/device.json",
            """
            {"templateType":"CollectionContent","template":[
            {"templateType":"JsonPathContent","template":{"typeName":"steps",\(whose),
            "typeMatchExpression":"$..[?(@steps)]",
            "values":[{"valueName":"n","valueExpression":"$.steps","required":true}]}},
            {"templateType":"JsonPathContent","template":{"typeName":"steps",\(whose),"retracts":true,
            "typeMatchExpression":"$..[?(@gone)]"}}]}
            """)
        folder.write(
            "steps/fhir.json",
            """
            {"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{
            "typeName":"steps","period":"5m","codes":[{"system":"http://loinc.org","code":"55423-8"}],
            "value":{"valueName":"n","valueType":"Statistics","aggregate":"sum","components":[],"unit":"1","code":"1"}}}]}
            """)
    }

    /// A reading of a window of 5 minutes that begins with minute 0 or 5, or what takes it back.
    private func line(_ minute: Int, _ steps: Int?, device: String = "d") -> String {
        let content = steps.map { "\"steps\":\($0)" } ?? "\"gone\":true"
        return "{\"d\":\"\(device)\",\"t\":\(1_772_352_000 + minute * 60),\(content)}"
    }

    private func configure(_ sinks: String, _ more: String = "") {
        folder.write(
            "kymo.yaml", "mappings: [./steps]\ndata: data\nidle: 0s\nreceipts: receipts\n\(sinks)\n\(more)\n")
    }

    /// The only server, with these settings.
    private func configure(_ server: TestServer, _ settings: String = "emptied: delete", more: String = "") {
        configure(
            "output: {to: none}\nserver: {url: '\(server.url("/fhir"))', identity: create, \(settings)}", more)
    }

    private func run(
        _ lines: [String], _ more: [String] = [], crash: String? = nil
    ) throws -> Kymo.Finished {
        try Kymo.run(
            ["run", "--stdin", "--config", "kymo.yaml"] + more,
            environment: crash.map { ["KYMO_CRASH_POINT": $0] } ?? [:], directory: folder.path,
            input: .bytes(Readings.ndjson(lines)))
    }

    private func kymo(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(arguments, directory: folder.path)
    }

    /// What a server has: the sums of its Observations by start and device, or their status where they have none.
    private func steps(_ server: TestServer) async throws -> [String: String] {
        var found: [String: String] = [:]
        for (key, resource) in try await resources(server) where key.hasPrefix("Observation/") {
            let parts = (resource["identifier"]?.elements?.first?["value"]?.text ?? "")
                .split(separator: ".", omittingEmptySubsequences: false)
            let name = "\(parts.count > 3 ? parts[1] : "") \(parts.count > 3 ? parts[3].dropFirst(8).prefix(4) : "")"
            found[name] = resource["valueQuantity"]?["value"]?.digits ?? resource["status"]?.text ?? ""
        }
        return found
    }

    /// What a server has, by type and id.
    private func resources(_ server: TestServer) async throws -> [String: JSONTree] {
        let all = try await CurlTransport().send(HTTPRequest("GET", server.url("/_all"))).get().json
        return if case .object(let members) = all { members } else { [:] }
    }

    private func deletions(_ server: TestServer) async throws -> [String] {
        let writes = try await CurlTransport().send(HTTPRequest("GET", server.url("/_writes"))).get().json
        return (writes.elements ?? []).compactMap(\.text).filter { $0.hasPrefix("DELETE") }
    }

    private func receipts() throws -> [JSONTree] {
        let lines = try kymo("receipts", "receipts", "--format", "json").lines
        return try lines.map { try JSONTree(parsing: Array($0.utf8)) }
            .filter { $0["resource"]?.text?.hasPrefix("Observation") == true }
    }

    /// Under our ids and the server's, in transactions and batches: gone, told of, and back when readings come again.
    @Test(arguments: [true, false], ["transaction", "batch"])
    func goesAndComesAgain(hasOwnIDs: Bool, bundle: String) async throws {
        let server = try TestServer("fhir_store.py", hasOwnIDs ? ["--own-ids"] : [])
        configure(
            "output: {to: none, bundle: \(bundle)}\n"
                + "server: {url: '\(server.url("/fhir"))', identity: create, emptied: delete}")
        let first = try run([line(0, 10), line(1, 5), line(6, 7)])
        #expect(first.end == .exit(0) && !first.error.contains("deleted"), "\(first.error)")
        #expect(try await steps(server) == ["d 0800": "15", "d 0805": "7"])
        let second = try run([line(0, nil), line(1, nil)])
        #expect(second.end == .exit(0), "\(second.error)")
        #expect(
            second.error.contains(/delivered 0 entries, deleted 1, undeliverable 0, requests [1-9]/), "\(second.error)")
        #expect(try await steps(server) == ["d 0805": "7"])
        let asked = try await deletions(server)
        #expect(asked.count == 1 && asked.allSatisfy { !$0.contains("?") }, "\(asked)")
        let receipt = try #require(try receipts().last)
        #expect(receipt["outcome"]?.text == "deleted" && receipt["status"]?.digits == "204", "\(receipt)")
        #expect(receipt["readings"]?.digits == "0" && receipt["start"]?.text == "2026-03-01T08:00:00Z")
        #expect(try kymo("receipts", "receipts").text.contains("deleted"))
        let ledger = try kymo("ledger", "--device", "d", "--to", "2026-03-01T08:05:00Z", "--data", "data")
        #expect(ledger.text.contains("deleted 204 1"), "\(ledger.text)\(ledger.error)")
        // A document with both brings the reading back.
        let third = try run(["[\(line(0, nil)),\(line(0, 11))]"])
        #expect(third.end == .exit(0), "\(third.error)")
        #expect(try await steps(server) == ["d 0800": "11", "d 0805": "7"])
        #expect(try kymo("ledger", "--verify", "--data", "data").end == .exit(0))
    }

    /// Each sink as it is set; where a server has nothing, there is nothing to do.
    @Test func eachSinkAsItIsSet() async throws {
        let (deleting, keeping) = (try TestServer("fhir_store.py"), try TestServer("fhir_store.py"))
        func sinks(_ emptied: String) -> String {
            """
            sinks:
              - {server: '\(deleting.url("/fhir"))', identity: create, emptied: \(emptied), name: a}
              - {server: '\(keeping.url("/fhir"))', identity: create, name: b}
              - {to: out}
            """
        }
        configure(sinks("delete"))
        #expect(try run([line(0, 10), line(0, 20, device: "e")]).end == .exit(0))
        let done = try run([line(0, nil)])
        #expect(done.end == .exit(0) && done.error.contains("a: delivered 0 entries, deleted 1, undeliverable 0"))
        #expect(try await steps(deleting) == ["e 0800": "20"])
        #expect(try await steps(keeping) == ["d 0800": "entered-in-error", "e 0800": "20"])
        let written = Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }.joined()
        #expect(written.contains("entered-in-error") && !written.contains("DELETE"))
        // It forgets what it had, and is to delete something else: both at once.
        _ = try await CurlTransport().send(
            HTTPRequest("DELETE", deleting.url("/fhir/\(try await key(deleting))"))
        ).get()
        let again = try run([line(0, nil, device: "e")])
        #expect(again.error.contains("a: delivered 0 entries, deleted 1, undeliverable 0"), "\(again.error)")
        #expect(try receipts().contains { $0["outcome"]?.text == "deleted" && $0["status"]?.digits == "404" })
        #expect(try kymo("ledger", "--verify", "--data", "data").end == .exit(0))
    }

    /// The only Observation of a server.
    private func key(_ server: TestServer) async throws -> String {
        try #require(try await resources(server).keys.first { $0.hasPrefix("Observation/") })
    }

    /// A server that deletes nothing is found at the check, and gets nothing before something is changed.
    @Test func aServerThatCannot() async throws {
        let server = try TestServer("fhir_store.py", ["--no-delete"])
        configure(server)
        let check = try kymo("check", "--config", "kymo.yaml", "--connect")
        let reason =
            "\(server.url("/fhir")) states no delete interaction for Observation: set emptied of this server to "
            + "entered-in-error, or have the server allow it"
        #expect(check.end == .exit(78), "\(check.error)")
        let place = server.url("/fhir").utf8.count + "server: {url: '', identity: create, emptied: ".utf8.count
        #expect(check.error.contains("kymo.yaml:6:\(place + 1): error: server.emptied: \(reason)"), "\(check.error)")
        let run = try run([line(0, 10)])
        #expect(run.end == .exit(0) && run.error.contains(reason), "\(run.error)")
        #expect(try await steps(server).isEmpty)
        configure(server, "emptied: entered-in-error")
        #expect(try kymo("check", "--config", "kymo.yaml", "--connect").end == .exit(0))
        #expect(try self.run([line(0, nil)]).end == .exit(0))
        #expect(try await steps(server) == ["d 0800": "entered-in-error"])
    }

    @Test func anotherWord() throws {
        configure("output: {to: none}\nserver: {url: 'http://127.0.0.1:9/fhir', identity: create, emptied: remove}")
        let check = try kymo("check", "--config", "kymo.yaml")
        #expect(check.end == .exit(78), "\(check.error)")
        #expect(
            check.error.contains("kymo.yaml:6:") && check.error.contains("entered-in-error, delete"), "\(check.error)")
    }

    /// Its Observations are merged with what others have added.
    @Test func notAsTheReference() throws {
        configure(
            "output: {to: none}\nserver: {url: 'http://127.0.0.1:9/fhir', identity: create, emptied: delete}",
            "compatibility: iomt-fhir")
        let check = try kymo("check", "--config", "kymo.yaml")
        #expect(check.end == .exit(78), "\(check.error)")
        #expect(
            check.error.contains(
                "error: server.emptied: compatibility iomt-fhir merges Observations with what the server has, and others may have "
                    + "added to them"), "\(check.error)")
    }

    /// The setting is taken over on SIGHUP.
    @Test func onReload() async throws {
        let server = try TestServer("fhir_store.py")
        let source = "sources: [{unix: \(folder.file("a.sock"))}]\n"
        configure(server, "emptied: entered-in-error", more: source)
        let run = try Kymo.start(["run", "--config", "kymo.yaml"], directory: folder.path)
        _ = try run.addresses()
        let client = try AckClient(folder.file("a.sock"))
        func send(_ lines: String...) throws {
            let before = client.acknowledged
            client.send(Readings.ndjson(lines))
            try Waiting.until("acknowledgements") {
                client.receive()
                return client.acknowledged == before + lines.count
            }
            let flushed = try kymo("flush", "--wait", "20s", "--data", "data")
            #expect(flushed.end == .exit(0), "\(flushed.error)")
        }
        try send(line(0, 10), line(6, 7))
        try send(line(0, nil))
        #expect(try await steps(server) == ["d 0800": "entered-in-error", "d 0805": "7"])
        configure(server, "emptied: delete", more: source)
        run.signal(SIGHUP)
        try run.waitForError("took over server.emptied entered-in-error → delete (kymo.yaml:6:")
        try send(line(6, nil))
        // What was an error before stays as it is.
        #expect(try await steps(server) == ["d 0800": "entered-in-error"])
        let metrics = try kymo("status", "--format", "prometheus", "--data", "data").text
        #expect(metrics.contains(/kymo_sink_entries_total\{sink="[^"]*",result="deleted"\} 1\n/), "\(metrics)")
        #expect(try run.terminate().end == .exit(0))
    }

    /// The process dies when the server has deleted and nobody knows it yet: it is asked again, and all is told once.
    @Test(arguments: ["before-receipt:1", "after-commit:1", "after-commit:2"])
    func killed(point: String) async throws {
        let server = try TestServer("fhir_store.py")
        configure(server)
        #expect(try run([line(0, 10), line(6, 7)]).end == .exit(0))
        let lines = [line(0, nil), "[\(line(6, nil)),\(line(6, 8))]"]
        let dead = try run(lines, crash: point)
        #expect(dead.end == .signal(SIGKILL), "\(dead.error)")
        let again = try run(lines)
        #expect(again.end == .exit(0) && again.error.contains("undeliverable 0"), "\(again.error)")
        #expect(try await steps(server) == ["d 0805": "8"])
        let told = try receipts().filter { $0["outcome"]?.text == "deleted" }
        #expect(told.count == 1, "\(told)")
        #expect(try kymo("ledger", "--verify", "--data", "data").end == .exit(0))
    }
}
