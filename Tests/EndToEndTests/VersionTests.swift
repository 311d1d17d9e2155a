import CommandSupport
import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing

/// What comes out is FHIR in each of its versions, says somebody else.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct VersionTests {
    private static let versions = FHIRVersion.allCases.map(\.rawValue)

    /// Real readings and simulated ones, in every type of output.
    @Test(arguments: versions) func readingsAreValid(version: String) throws {
        let folder = TemporaryFolder()
        let real = Files.read("\(SharedMaterial.root ?? "")/data/fitbit_hr.ndjson")
        // Days of their own, so that no identity is in two files.
        let runs: [(name: String, environment: [String: String], input: [UInt8])] = [
            ("real", [:], real),
            ("transaction", ["KYMO_OUTPUT_WRITE": "conditional-update"], try SimulatedReadings.tenMinutes(seed: 1)),
            ("batch", ["KYMO_OUTPUT_BUNDLE": "batch"], try SimulatedReadings.tenMinutes(seed: 2, day: 2)),
            ("collection", ["KYMO_OUTPUT_BUNDLE": "collection"], try SimulatedReadings.tenMinutes(seed: 3, day: 3)),
            ("observations", ["KYMO_OUTPUT_FORMAT": "ndjson"], try SimulatedReadings.tenMinutes(seed: 4, day: 4)),
        ]
        for run in runs {
            // The validator takes what it reads for one moment of a server: of each window one version only.
            let done = try Kymo.run(
                ["run", "--stdin", "--fhir-version", version, "--lateness", "10m"], environment: run.environment,
                input: .bytes(run.input))
            #expect(done.end == .exit(0) && !done.output.isEmpty, "\(run.name): \(done.error)")
            Files.write(done.output, to: folder.file("\(run.name).ndjson"))
        }
        let findings = try Validator.findings(in: runs.map { folder.file("\($0.name).ndjson") }, version: version)
        #expect(findings.isEmpty, "\(findings.prefix(20))")
    }

    /// Readings of types that have one MDC code.
    private static let deviceReadings = [
        "\"type\":\"bodyMass\",\"value\":72.50,\"unit\":\"kg\"",
        "\"type\":\"oxygenSaturation\",\"value\":97,\"unit\":\"%\"",
        "\"type\":\"bloodPressure\",\"systolic\":122,\"diastolic\":78,\"unit\":\"mm[Hg]\"",
        "\"type\":\"interstitialGlucose\",\"value\":5.5,\"unit\":\"mmol/L\"",
    ].map { "{\"deviceId\":\"d-1\",\"timestamp\":\"2026-03-01T08:00:00.125Z\",\($0)}" }

    /// Observations in the shape of the Personal Health Devices guide, for which validators know FHIR R4 only.
    @Test(arguments: ["R4", "R4B"]) func personalHealthIsValid(version: String) throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--fhir-version", version, "--lateness", "10m"],
            environment: ["KYMO_OUTPUT_PROFILE": "phd", "KYMO_OUTPUT_GATEWAY": "FE-ED-AB-EE-DE-AD-77-C3"],
            input: .bytes(Readings.ndjson(Self.deviceReadings) + (try SimulatedReadings.tenMinutes(seed: 5))))
        #expect(done.end == .exit(0) && done.error.contains("[type heartRate, no-device-code]"), "\(done.error)")
        Files.write(done.output, to: folder.file("phd.ndjson"))
        let text = String(decoding: done.output, as: UTF8.self)
        #expect(text.contains("PhdNumericObservation") && text.contains("observation-gatewayDevice"))
        let findings = try Validator.findings(in: [folder.file("phd.ndjson")], version: version)
        #expect(findings.isEmpty, "\(findings.prefix(20))")
    }

    /// Every example of the catalogue.
    @Test(arguments: FHIRVersion.allCases) func catalogueIsValid(version: FHIRVersion) throws {
        let folder = TemporaryFolder()
        var options = ObservationOptions()
        options.version = version
        var observations: [[UInt8]] = []
        var resources: [[UInt8]] = []
        for name in MappingCatalogue.names {
            let loaded = MappingSelection.load([name], fhirVersion: version)
            let set = try #require(loaded.set, "\(loaded.diagnostics.map(\.text))")
            for example in try #require(loaded.files.first).examples {
                let preview = PayloadPreview(
                    payload: try example.payload(), set: set, templates: set.templates(of: [name]),
                    context: SourceContext(), received: Instant(seconds: 4_102_444_800), options: options)
                observations += preview.observations
                resources += preview.resources
            }
        }
        #expect(observations.count > 100 && resources.count > 10)
        Files.write(Array((observations + resources).joined(separator: [0x0A])), to: folder.file("catalogue.ndjson"))
        // Examples have readings in common. The validator's list of units lacks dB[SPL] and {steps}/{session}.
        let findings = try Validator.findings(
            in: [folder.file("catalogue.ndjson")], version: version.rawValue, passing: ["dup-", "ucum-unknown"])
        #expect(findings.isEmpty, "\(findings.prefix(20))")
    }
}

/// A server that checks every resource takes all bundles, in whatever order and however often they come.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no server that runs"))
struct StrictServerTests {
    @Test func everyFormIsTakenThreeTimes() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        for bundle in ["transaction", "batch"] {
            for write in ["put", "conditional-create", "conditional-update"] {
                try await server.reset()
                try await send(to: server, version: "R4", bundle, write)
            }
        }
    }

    @Test(arguments: ["STU3", "R5"]) func otherVersionsAreTakenThreeTimes(version: String) async throws {
        let server = try FHIRServer(version: version)
        try await server.waitUntilReady()
        try await send(to: server, version: version, "transaction", "conditional-update")
    }

    private func send(to server: FHIRServer, version: String, _ bundle: String, _ write: String) async throws {
        let done = try Kymo.run(
            ["run", "--stdin", "--fhir-version", version],
            environment: ["KYMO_OUTPUT_BUNDLE": bundle, "KYMO_OUTPUT_WRITE": write],
            input: .bytes(try SimulatedReadings.tenMinutes(seed: 11)))
        #expect(done.end == .exit(0))
        let form = "\(version) \(bundle) \(write)"
        try await server.postThreeTimes(done.output.split(separator: 0x0A).map(Array.init), form)
        let stats = try await check(server, observations: identities(done.output), form)
        // What the server compares are references to resources, which Observations of a batch do not have.
        #expect(bundle == "batch" || stats["observation_key_dups"] == .number("0"), "\(form): \(stats)")
    }

    private func check(_ server: FHIRServer, observations: Int, _ form: String) async throws -> JSONTree {
        let stats = try await server.stats()
        #expect(stats["identifier_dups"] == .number("0"), "\(form): \(stats)")
        #expect(stats["resources"]?["Observation"] == .number("\(observations)"), "\(form): \(stats)")
        #expect(stats["resources"]?["Device"] == .number("4"), "\(form): \(stats)")
        #expect(stats["resources"]?["Patient"] == .number("4"), "\(form): \(stats)")
        return stats
    }

    /// A Device that is described after, between and before Observations of it stays one Device, and keeps what was said.
    @Test(arguments: ["put", "conditional-create", "conditional-update"])
    func describedDevicesAreThoseOfObservations(write: String) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        var lines: [String] = []
        for second in 0..<30 {
            let device = "pump-\(second % 3)"
            lines.append(Readings.heartRate(second: second, device: device))
            guard second % 5 == 0 else { continue }
            lines.append(
                """
                {"deviceId":"\(device)","timestamp":"2026-03-01T08:00:\(second + 10)Z","registration":\
                {"serialNumber":"S-\(second % 3)","firmware":"1.\(second)"}}
                """)
        }
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", "reading", "--mapping", "device-registration"],
            environment: ["KYMO_OUTPUT_WRITE": write], input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0) && done.error.contains("other resources 6"), "\(done.error)")
        try await server.postThreeTimes(done.output.split(separator: 0x0A).map(Array.init), write)
        let stats = try await server.stats()
        #expect(stats["identifier_dups"] == .number("0") && stats["resources"]?["Device"] == .number("3"), "\(stats)")
        guard write != "conditional-create" else { return }
        let (found, _) = try await server.get("/Device?identifier=urn:kymograph:device%7Cpump-1")
        let device = try JSONTree(parsing: Array(found))["entry"]?.elements?.first?["resource"]
        #expect(device?["serialNumber"]?.text == "S-1", "\(String(decoding: found, as: UTF8.self))")
    }

    /// The number of different Observations in `output`.
    private func identities(_ output: [UInt8]) throws -> Int {
        var values: Set<String> = []
        for line in output.split(separator: 0x0A) {
            for entry in try JSONTree(parsing: Array(line))["entry"]?.elements ?? [] {
                guard entry["resource"]?["resourceType"]?.text == "Observation" else { continue }
                values.insert(entry["resource"]?["identifier"]?.elements?.first?["value"]?.text ?? "")
            }
        }
        return values.count
    }

    /// Identifiers with characters that a URL gives a meaning are found again. (Those that a search gives one are not
    /// here, because this server does not know the backslash of FHIR's search.)
    @Test func strangeIdentifiersAreFound() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let names = [" ", "+", "&", "%", "#", "é", "日本", "?", "=", ";", "/", "%7C", "."]
        let lines = names.map { Readings.heartRate(second: 0, device: "a\($0)b") }
        for write in ["put", "conditional-create", "conditional-update"] {
            try await server.reset()
            let done = try Kymo.run(
                ["run", "--stdin"], environment: ["KYMO_OUTPUT_WRITE": write], input: .bytes(Readings.ndjson(lines)))
            #expect(done.end == .exit(0))
            try await server.postThreeTimes(done.output.split(separator: 0x0A).map(Array.init), write)
            let stats = try await server.stats()
            #expect(stats["identifier_dups"] == .number("0"), "\(write)")
            for type in ["Observation", "Device", "Patient"] {
                #expect(stats["resources"]?[type] == .number("\(names.count)"), "\(write): \(stats)")
            }
        }
    }
}
