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
        ] { _ = try await engine.submit(reading(device, patient, value, second: second)) }
        engine.stop()
        let counted = try await summary
        #expect(counted.received == 4 && counted.accepted == 3 && counted.inFlight == 0)
        #expect(counted.rejections.values.reduce(0, +) == 1)
        let detail = rejected.value.map(\.detail).joined()
        #expect(detail.contains("rule study: the patient has withdrawn"), "\(detail)")
        let resources = await chart.resources.values
        #expect(resources.count == 1)
        let text = resources.map { String(decoding: $0.json, as: UTF8.self) }.joined()
        #expect(text.contains(#""tag":[{"system":"urn:study","code":"s1"}]"#) && !text.contains("bench-"), "\(text)")
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
