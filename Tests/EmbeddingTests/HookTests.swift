import Foundation
import Kymograph
import Testing

/// What a program decides on readings and resources.
@Suite struct HookTests {
    private func reading(_ device: String, _ patient: String, _ value: Int, second: Int) -> [UInt8] {
        Array(
            """
            {"deviceId":"\(device)","patientId":"\(patient)","type":"heartRate","timestamp":"2026-03-01T00:00:0\(second)Z",\
            "value":\(value),"unit":"/min"}
            """.utf8)
    }

    @Test(arguments: [true, false]) func decidesOnEach(isKept: Bool) async throws {
        let folder = Folder()
        let chart = Chart()
        var configuration = EngineConfiguration(storage: isKept ? .directory(folder.path("data")) : .ephemeral)
        let hook = StudyHook(withdrawn: [IdentifierText("p-31")])
        (configuration.readingHook, configuration.entryHook) = (hook, hook)
        configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let rejected = Box<[RejectedPayload]>([])
        configuration.onRejection = { one in rejected.change { $0.append(one) } }
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for (device, patient, value, second) in [
            ("watch-1", "p-1", 60, 1), ("watch-1", "p-1", 0, 2), ("watch-2", "p-31", 60, 3), ("bench-1", "p-1", 60, 4),
            ("ward-1", "p-2", 60, 5),
        ] { _ = try await engine.submit(reading(device, patient, value, second: second)) }
        engine.stop()
        let counted = try await summary
        #expect(counted.received == 5 && counted.accepted == 4 && counted.inFlight == 0)
        #expect(counted.rejections.values.reduce(0, +) == 1)
        let detail = rejected.value.map(\.detail).joined()
        #expect(detail.contains("rule study: the patient has withdrawn"), "\(detail)")
        let texts = await chart.resources.values.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(texts.count == 2 && !texts.joined().contains("bench-"))
        let ofWatch = try #require(texts.first { $0.contains("watch-1") })
        #expect(ofWatch.contains(#""tag":[{"system":"urn:study","code":"s1"}]"#), "\(ofWatch)")
        // The reading of 0 has the value that the hook gave it: 60 and 1.
        #expect(ofWatch.contains(#""value":30.5"#) && !ofWatch.contains("Ward 3"), "\(ofWatch)")
        let ofWard = try #require(texts.first { $0.contains("ward-1") })
        #expect(ofWard.contains(#""note":[{"text":"Ward 3"}]"#), "\(ofWard)")
        #expect(ofWard.contains(#"{"system":"urn:study","code":"ward"}"#) && ofWard.contains(#""code":"s1"}"#))
    }

    /// What a hook drops is counted, and nothing is kept of it: no letter, no value, and no device that brought nothing
    /// else.
    @Test func dropsAndCounts() async throws {
        struct Dropping: ReadingHook {
            var name: String { "bench" }
            func decide(_ reading: HookedReading) -> ReadingDecision {
                reading.device.text.hasPrefix("bench-") ? .drop : .accept
            }
        }
        let chart = Chart()
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.readingHook = Dropping()
        configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let rejected = Box<[RejectedPayload]>([])
        configuration.onRejection = { one in rejected.change { $0.append(one) } }
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for (device, second) in [("watch-1", 1), ("bench-1", 2), ("bench-2", 3)] {
            _ = try await engine.submit(reading(device, "p-1", 60, second: second))
        }
        engine.stop()
        let counted = try await summary
        #expect(counted.received == 3 && counted.accepted == 1 && counted.inFlight == 0)
        #expect(counted.rejections.filter { $0.value > 0 }.map(\.key.name) == ["droppedByRule"])
        #expect(counted.rejected == 2 && rejected.value.allSatisfy { $0.reason == .droppedByRule })
        let texts = await chart.resources.values.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(texts.count == 1 && texts[0].contains("watch-1"))
    }

    private struct Patching: EntryHook {
        var name: String { "patching" }
        var patches: [String] = []
        var chosen: [Int] = []
        func isVetoed(_ resource: [UInt8]) -> Bool { false }
        func patches(for resource: [UInt8]) -> [Int] { chosen }
    }

    /// What a patch may not say is told before anything runs.
    @Test(arguments: [
        (#"{"status": "final"}"#, "patch 0: 'status' is not for a rule to set"), ("{}", "patch 0: it sets nothing"),
        (#"{"note": "#, "patch 0: "), (#"{"colour": "red"}"#, "patch 0: "),
    ])
    func patchesAreChecked(patch: String, message: String) {
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.sinks = [EntrySink("chart") { _ in }]
        configuration.entryHook = Patching(patches: [patch])
        let error = #expect(throws: EngineError.self) { try KymographEngine(configuration) }
        let messages = error?.problems.map(\.message) ?? []
        #expect(messages.contains { $0.contains(message) && $0.hasPrefix("entryHook: ") }, "\(messages)")
    }

    /// Both patches, and with a place that there is not none of the resource.
    @Test(arguments: [([0, 1], 1), ([2], 0)])
    func placesOfPatches(chosen: [Int], stored: Int) async throws {
        let chart = Chart()
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.entryHook = Patching(
            patches: [#"{"note": "one"}"#, #"{"category": [{"text": "two"}]}"#], chosen: chosen)
        configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        _ = try await engine.submit(reading("watch-1", "p-1", 60, second: 1))
        engine.stop()
        #expect(try await summary.accepted == 1)
        let texts = await chart.resources.values.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(texts.count == stored)
        for text in texts {
            #expect(text.contains(#""note":[{"text":"one"}]"#) && text.contains(#""text":"two""#), "\(text)")
        }
    }

    /// What is no Observation gets no patch, and none is counted for it.
    @Test func whatCannotBePatched() async throws {
        let chart = Chart()
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.mappings = ["pill-dispenser"]
        configuration.entryHook = Patching(patches: [#"{"note": "one"}"#], chosen: [0])
        configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        _ = try await engine.submit(
            Array(
                """
                {"dispenser":"PD-12","patient":"p-0042","time":"2026-03-01T08:02:10+01:00","event":"taken",\
                "medication":{"name":"Metformin 500 mg","rxnorm":"861007"},"tablets":2,"slot":14}
                """.utf8))
        engine.stop()
        #expect(try await summary.resources == 1)
        let texts = await chart.resources.values.map { String(decoding: $0.json, as: UTF8.self) }
        #expect(texts.count == 1 && texts.allSatisfy { !$0.contains(#""text":"one""#) }, "\(texts)")
    }

    /// The patient map is read again: `onNote` gets what changed of the past.
    @Test func notesOfPatients() async throws {
        let folder = Folder()
        let map = folder.path("patients.csv")
        func write(_ patient: String) throws {
            try Data("device,patient\nwatch-1,\(patient)\n".utf8).write(to: URL(filePath: map), options: .atomic)
        }
        try write("p-1")
        let notes = Box<[String]>([])
        var configuration = EngineConfiguration(
            "patients: '\(map)'\n", storage: .directory(folder.path("data")))
        configuration.sinks = [EntrySink("chart") { _ in }]
        configuration.onNote = { note in notes.change { $0.append(note) } }
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        _ = try await engine.submit(heartRate(0))
        try write("p-2")
        for _ in 0..<600 where !notes.value.contains(where: { $0.contains("of the past, 1 period (devices 1)") }) {
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(notes.value.contains { $0.contains("of the past, 1 period (devices 1)") }, "\(notes.value)")
        engine.stop()
        #expect(try await summary.accepted == 1)
    }

    /// The archive has what a hook vetoes, and the search would show it.
    @Test func noSearchBesideVetoes() throws {
        let folder = Folder()
        try FileManager.default.createDirectory(atPath: folder.path(""), withIntermediateDirectories: true)
        let isWritten = FileManager.default.createFile(
            atPath: folder.path("token"), contents: Data("a-token-of-a-client\n".utf8),
            attributes: [.posixPermissions: 0o600])
        #expect(isWritten)
        let peers = "peers:\n  - {name: emr, tokenFile: \(folder.path("token"))}\n"
        try Data(peers.utf8).write(to: URL(filePath: folder.path("peers.yaml")))
        var configuration = EngineConfiguration(
            "http: {admin: \"127.0.0.1:0\"}\nsearch: {peers: \(folder.path("peers.yaml"))}\n",
            storage: .directory(folder.path("data")))
        configuration.sinks = [EntrySink("chart") { _ in }]
        configuration.entryHook = StudyHook(withdrawn: [])
        let error = #expect(throws: EngineError.self) { try KymographEngine(configuration) }
        #expect(
            error?.problems.map(\.message) == ["entryHook: the search would show what it vetoes"], "\(error as Any)")
    }

    @Test func namesAreLabels() {
        struct Named: ReadingHook {
            var name: String { "a b" }
            func decide(_ reading: HookedReading) -> ReadingDecision { .accept }
        }
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.sinks = [EntrySink("chart") { _ in }]
        configuration.readingHook = Named()
        let error = #expect(throws: EngineError.self) { try KymographEngine(configuration) }
        #expect(error?.problems.map(\.message).contains { $0.contains("'a b' is no name") } == true)
    }
}
