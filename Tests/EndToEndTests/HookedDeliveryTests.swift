import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// What a program's hook, or a rule, decides on resources, as a FHIR server hears of it.
@Suite(.serialized) struct HookedDeliveryTests {
    private let folder = TemporaryFolder()

    /// Sends nothing of devices on a bench, and has nothing deleted of those that are to be kept.
    private struct Hook: EntryHook {
        var name: String { "bench" }

        func isVetoed(_ resource: [UInt8]) -> Bool { Self.names("bench-", resource) }

        func isDeletionVetoed(_ resource: [UInt8]) -> Bool { Self.names("kept-", resource) }

        private static func names(_ devices: String, _ resource: [UInt8]) -> Bool {
            String(decoding: resource, as: UTF8.self).contains(devices)
        }
    }

    /// A run of a program that submits `payloads`.
    private func run(_ configuration: EngineConfiguration, _ payloads: [String]) async throws -> EngineSummary {
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for payload in payloads { _ = try await engine.submit(Array(payload.utf8)) }
        engine.stop()
        return try await summary
    }

    private func configuration(_ text: String, _ hook: (any EntryHook)?) -> EngineConfiguration {
        var configuration = EngineConfiguration(text, storage: .directory(folder.file("data")))
        configuration.entryHook = hook
        return configuration
    }

    /// What a server says at `path`.
    private func told(_ server: TestServer, _ path: String) async throws -> JSONTree {
        try await CurlTransport().send(HTTPRequest("GET", server.url(path))).get().json
    }

    private func texts(_ server: TestServer, _ path: String) async throws -> [String] {
        try await told(server, path).elements?.compactMap(\.text) ?? []
    }

    /// The status of the Observations that a server has, by which of `devices` they are of.
    private func statuses(_ server: TestServer, _ devices: [String]) async throws -> [String: String] {
        guard case .object(let all) = try await told(server, "/_all") else { return [:] }
        var found: [String: String] = [:]
        for resource in all.values where resource["resourceType"]?.text == "Observation" {
            let identifier = resource["identifier"]?.elements?.first?["value"]?.text ?? ""
            found[devices.first(where: identifier.contains) ?? identifier] = resource["status"]?.text
        }
        return found
    }

    /// What has something deleted or not.
    enum Decider: CaseIterable {
        case nothing, hook, rule, ruleThatFails
    }

    /// What is kept goes out as an error, and is not deleted; of the others, everything is as it is set. By a rule
    /// whose expression fails it is kept, too: nobody could tell whether it may be deleted.
    @Test(arguments: Decider.allCases) func whatIsKeptIsAnErrorAndNotDeleted(by decider: Decider) async throws {
        let server = try TestServer("fhir_store.py")
        let condition = decider == .rule ? "status == 'entered-in-error'" : "multiply(status, `2`)"
        let rules = folder.write(
            "rules.yaml",
            "resources:\n  - {name: kept, then: keep, devices: [\"kept-*\"], when: \"\(condition)\"}\n")
        let isByRule = decider == .rule || decider == .ruleThatFails
        let configuration = configuration(
            """
            server: {url: '\(server.url("/fhir"))', identity: create, emptied: delete}
            \(isByRule ? "rules: '\(rules)'" : "")
            """, decider == .hook ? Hook() : nil)
        let devices = ["kept-1", "gone-1"]
        let readings = devices.map { device in
            """
            {"deviceId":"\(device)","id":"s-1","type":"heartRate","timestamp":"2026-03-01T08:00:00Z","value":60,\
            "unit":"/min"}
            """
        }
        #expect(try await run(configuration, readings).accepted == 2)
        #expect(try await statuses(server, devices) == ["kept-1": "final", "gone-1": "final"])
        let taken = devices.map { #"{"deviceId":"\#($0)","deleted":"heartRate","id":"s-1"}"# }
        #expect(try await run(configuration, taken).retractions == 2)
        let left = try await statuses(server, devices)
        #expect(left == (decider == .nothing ? [:] : ["kept-1": "entered-in-error"]), "\(left)")
        let deleted = try await texts(server, "/_writes").filter { $0.hasPrefix("DELETE Observation/") }
        #expect(deleted.count == (decider == .nothing ? 2 : 1), "\(deleted)")
        // It stays so: the server hears nothing more of it.
        #expect(try await run(configuration, []).received == 0)
        #expect(try await statuses(server, devices) == left)
    }

    /// The runs in which resources are vetoed.
    enum Vetoing: CaseIterable {
        case first, second, both
    }

    /// Of what was kept from a server, this does not hear either when its reading is taken back; of what it has got, it
    /// does, whatever is vetoed by then.
    @Test(arguments: Vetoing.allCases, [true, false])
    func whatWasVetoedIsNoErrorEither(in runs: Vetoing, byRule: Bool) async throws {
        let server = try TestServer("fhir_store.py")
        let rules = folder.write(
            "rules.yaml", "resources:\n  - {name: bench, then: veto, patients: [bench-*]}\n")
        func configuration(isVetoing: Bool) -> EngineConfiguration {
            self.configuration(
                """
                server: {url: '\(server.url("/fhir"))', identity: create}
                \(isVetoing && byRule ? "rules: '\(rules)'" : "")
                """, isVetoing && !byRule ? Hook() : nil)
        }
        let reading = """
            {"deviceId":"bench-1","patientId":"bench-p","id":"s-1","type":"heartRate","value":60,"unit":"/min",\
            "timestamp":"2026-03-01T08:00:00Z"}
            """
        #expect(try await run(configuration(isVetoing: runs != .second), [reading]).accepted == 1)
        let taken = #"{"deviceId":"bench-1","deleted":"heartRate","id":"s-1"}"#
        #expect(try await run(configuration(isVetoing: runs != .first), [taken]).retractions == 1)
        let (searches, writes) = (try await texts(server, "/_searches"), try await texts(server, "/_writes"))
        #expect((searches + writes).isEmpty == (runs != .second), "\(searches) \(writes)")
        let left = try await statuses(server, ["bench-1"])
        #expect(left == (runs == .second ? ["bench-1": "entered-in-error"] : [:]), "\(left)")
    }

    /// The veto comes before every request about the resource: no search, nothing that is made, and no Patient or
    /// Device on its behalf, also where Observations are searched for before they are written.
    @Test(arguments: ["none", "iomt-fhir"], [true, false])
    func whatIsVetoedIsNotAskedFor(compatibility: String, byRule: Bool) async throws {
        let server = try TestServer("fhir_store.py")
        let rules = folder.write(
            "rules.yaml", "resources:\n  - {name: bench, then: veto, devices: [\"bench-*\"]}\n")
        folder.write(
            "glucose/device.json",
            #"{"templateType":"CollectionContent","compatibility":"iomt-fhir","template":[{"#
                + #""templateType":"JsonPathContent","template":{"typeName":"glucose","#
                + #""typeMatchExpression":"$..[?(@glucose)]","deviceIdExpression":"$.deviceId","#
                + #""patientIdExpression":"$.patientId","timestampExpression":"$.t","values":[{"#
                + #""valueName":"glucose","valueExpression":"$.glucose","required":true}]}}]}"#)
        folder.write(
            "glucose/fhir.json",
            #"{"templateType":"CollectionFhir","template":[{"templateType":"CodeValueFhir","template":{"#
                + #""typeName":"glucose","codes":[{"system":"http://loinc.org","code":"2339-0"}],"#
                + #""value":{"valueType":"SampledData","valueName":"glucose","defaultPeriod":60000,"unit":"mg/dL"},"#
                + #""periodInterval":60}}]}"#)
        var configuration = configuration(
            """
            compatibility: \(compatibility)
            server: {url: '\(server.url("/fhir"))', identity: create}
            \(byRule ? "rules: '\(rules)'" : "")
            """, byRule ? nil : Hook())
        configuration.mappings = [folder.file("glucose") + "/"]
        func reading(_ device: String) -> String {
            #"{"deviceId":"\#(device)","patientId":"p-\#(device)","t":"2026-03-01T08:00:00Z","glucose":104}"#
        }
        #expect(try await run(configuration, [reading("bench-1")]).accepted == 1)
        let asked = (try await texts(server, "/_searches"), try await texts(server, "/_writes"))
        #expect(asked.0.isEmpty && asked.1.isEmpty, "\(asked)")
        #expect(try await run(configuration, [reading("bench-2"), reading("ward-1")]).accepted == 2)
        let (searches, writes) = (try await texts(server, "/_searches"), try await texts(server, "/_writes"))
        #expect(!(searches + writes).contains { $0.contains("bench-") }, "\(searches) \(writes)")
        // The others are searched for, so that this could be seen.
        #expect(searches.contains { $0.contains("ward-1") }, "\(searches)")
        #expect(searches.contains { $0.hasPrefix("Observation?") } == (compatibility == "iomt-fhir"), "\(searches)")
        let all = "\(try await told(server, "/_all"))"
        #expect(all.contains("ward-1") && !all.contains("bench-"), "\(all)")
    }
}
