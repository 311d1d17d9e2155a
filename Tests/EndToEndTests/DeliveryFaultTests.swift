import CommandSupport
import Foundation
import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Delivery to a server that checks every resource and makes every fault it can: what it holds in the end is what it
/// holds without faults, and nothing twice.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no server that runs"))
struct DeliveryFaultTests {
    /// A fault, and the share of requests or entries that it takes.
    private static let faults: [(kind: String, share: Double)] =
        ["400", "401", "403", "404", "409", "413", "422", "429", "500", "502", "503", "504"].map { ($0, 0.5) }
        + ["reset", "reset-mid", "lost", "bad-json", "slow", "stall", "html503"].map { ($0, 0.5) }

    @Test(arguments: ["transaction", "batch"]) func everyFaultEndsWell(form: String) async throws {
        let server = try FHIRServer(arguments: ["--slow-ms", "50"])
        try await server.waitUntilReady()
        let rows = try rows(form)
        try await deliver(rows, to: server, form: form)
        let oracle = try await content(of: server)
        let counts = try await stats(of: server)
        #expect(oracle.count > 50 && counts["identifier_dups"] == .number("0"))
        var silent: [String] = []
        let entryFaults = form == "batch" ? ["entry-500", "entry-429", "entry-422"].map { ($0, 0.2) } : []
        for (kind, share) in Self.faults + entryFaults {
            try await server.reset()
            try await server.makeFaults([kind: share])
            let outbox = try await deliver(rows, to: server, form: form, clears: kind)
            #expect(outbox.isSettled, "\(form) \(kind)")
            let found = try await content(of: server)
            #expect(found == oracle, "\(form) \(kind): \(Set(oracle.keys).symmetricDifference(found.keys).prefix(3))")
            let stats = try await stats(of: server)
            let name = kind.hasPrefix("entry-") ? kind.replacing("entry-", with: "entry_fault_") : "fault_\(kind)"
            if stats[name] == nil { silent.append(kind) }
            #expect(stats["identifier_dups"] == .number("0"), "\(form) \(kind)")
            #expect(stats["observation_key_dups"] == counts["observation_key_dups"], "\(form) \(kind)")
            #expect(stats["resources"] == counts["resources"], "\(form) \(kind)")
        }
        // Chance may spare a few requests, but not those of several runs.
        #expect(silent.count <= 2, "no faults were made of \(silent)")
    }

    /// A server that is not there for a while, with a date in Retry-After.
    @Test func outage() async throws {
        let server = try FHIRServer(arguments: ["--outage", "0,4", "--retry-after", "-1"])
        try await server.waitUntilReady()
        let outbox = try await deliver(try rows("transaction"), to: server, form: "transaction")
        let stats = try await stats(of: server)
        #expect(outbox.isSettled && outbox.undeliverable.isEmpty)
        #expect(stats["identifier_dups"] == .number("0") && stats["observation_key_dups"] == .number("0"))
    }

    @Test(arguments: ["transaction", "batch"]) func observationsOfRegisteredDevices(form: String) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        for number in 1...3 {
            try await server.put("/Patient/p\(number)", #"{"resourceType":"Patient","id":"p\#(number)"}"#)
            try await server.put(
                "/Device/d\(number)",
                #"{"resourceType":"Device","id":"d\#(number)","patient":{"reference":"Patient/p\#(number)"},"#
                    + #""identifier":[{"system":"urn:kymograph:device","value":"sim-000\#(number)"}]}"#)
        }
        let outbox = try await deliver(try rows(form), to: server, form: form, identity: .lookup)
        #expect(outbox.isSettled)
        #expect(outbox.undeliverable.isEmpty, "\(outbox.undeliverable.first?.detail ?? "")")
        let found = try await content(of: server)
        let isLiteral = found.values.allSatisfy {
            // References to Devices show the Device's identifier here.
            $0.contains(#""device":{"reference":"sim-000"#) && $0.contains(#""subject":{"reference":"Patient/p"#)
        }
        #expect(found.count > 50 && isLiteral)
        let stats = try await stats(of: server)
        #expect(stats["observation_key_dups"] == .number("0"))
        #expect(stats["resources"]?["Patient"] == .number("3") && stats["resources"]?["Device"] == .number("3"))
    }

    // MARK: Delivering

    /// Bundles of three devices, with windows that are amended later.
    private func rows(_ form: String) throws -> [[UInt8]] {
        let readings = try Kymo.run([
            "simulate", "--stdout", "--devices", "3", "--duration", "4m", "--rate", "0.3", "--speed", "max", "--start",
            "2026-03-01T08:00:00Z", "--late", "0.1", "--max-late", "2m",
        ])
        let done = try Kymo.run(
            ["run", "--stdin", "--window", "1m"],
            environment: ["KYMO_OUTPUT_BUNDLE": form, "KYMO_OUTPUT_MAX_ENTRIES": "12"], input: .bytes(readings.output))
        #expect(done.end == .exit(0), "\(done.error)")
        return done.output.split(separator: 0x0A).map(Array.init)
    }

    /// Delivers `rows`; then, without faults, what the server had refused.
    @discardableResult
    private func deliver(
        _ rows: [[UInt8]], to server: FHIRServer, form: String, identity: ResourceIdentityMode = .create,
        clears kind: String? = nil
    ) async throws -> MemoryOutbox {
        let outbox = MemoryOutbox()
        for row in rows { outbox.add(row) }
        var settings = DeliverySettings(base: server.base, identity: identity)
        settings.maxEntries = 10
        settings.maxConcurrency = 4
        settings.firstBackoff = 2_000_000
        settings.longestBackoff = 50_000_000
        settings.longestRetryAfter = 50_000_000
        settings.timeout = kind == "stall" ? 400 : 20_000
        // The server states nothing about ids: batches go by identifier, transactions by id.
        settings.updateCreate = form == "transaction" ? true : nil
        try await finish(settings, outbox)
        guard kind != nil else { return outbox }
        try await server.makeFaults([:])
        let refused = outbox.undeliverable
        let mayRefuse = ["400", "409", "413", "422", "403", "404", "entry-422"].contains(kind)
        #expect(refused.isEmpty || mayRefuse, "\(form) \(kind ?? ""): \(refused.first?.detail ?? "")")
        // What the server has in a newer version is not replaced by an older one.
        let receipts = outbox.receipts
        let latest = refused.sorted { $0.row < $1.row }.filter { entry in
            !receipts.contains { $0.resource == entry.resource && $0.row > entry.row }
        }
        for entry in latest { outbox.add(entry.bytes) }
        try await finish(settings, outbox)
        return outbox
    }

    private func finish(_ settings: DeliverySettings, _ outbox: MemoryOutbox) async throws {
        let delivery = try ServerDelivery(
            settings, queue: outbox, transport: CurlTransport(), authorizer: OpenAuthorizer(),
            random: SeededGenerator(seed: 7))
        delivery.start()
        delivery.finish()
        #expect(delivery.wait(milliseconds: 120_000), "\(delivery.status)")
    }

    // MARK: What the server holds

    private func stats(of server: FHIRServer) async throws -> JSONTree {
        let (body, _) = try await server.get("/_stats")
        return try JSONTree(parsing: Array(body))
    }

    /// Observations by identifier, without what the server made up: ids are replaced by identifiers.
    private func content(of server: FHIRServer) async throws -> [String: String] {
        var names: [String: String] = [:]
        for type in ["Patient", "Device"] {
            for resource in try await all(type, of: server) {
                guard let id = resource["id"] as? String, let name = Self.identifier(of: resource) else { continue }
                names["\(type)/\(id)"] = name
            }
        }
        var content: [String: String] = [:]
        for resource in try await all("Observation", of: server) {
            var resource = resource
            resource["id"] = nil
            resource["meta"] = nil
            let data = try JSONSerialization.data(
                withJSONObject: resource, options: [.sortedKeys, .withoutEscapingSlashes])
            var text = String(decoding: data, as: UTF8.self)
            for (reference, name) in names { text = text.replacing("\"\(reference)\"", with: "\"\(name)\"") }
            content[Self.identifier(of: resource) ?? ""] = text
        }
        return content
    }

    private static func identifier(of resource: [String: Any]) -> String? {
        (resource["identifier"] as? [[String: Any]])?.first?["value"] as? String
    }

    private func all(_ type: String, of server: FHIRServer) async throws -> [[String: Any]] {
        let (body, _) = try await server.get("/\(type)?_count=5000")
        let bundle = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        let entries = bundle?["entry"] as? [[String: Any]] ?? []
        return entries.compactMap { $0["resource"] as? [String: Any] }
    }
}
