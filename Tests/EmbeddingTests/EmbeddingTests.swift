import Foundation
import Glibc
import Kymograph
import Testing

/// docs/embedding.md: its code is what these tests compile and run. This target sees what is public, and nothing else.
@Suite struct EmbeddingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func read(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: root.appending(path: path).path) ?? Data(), as: UTF8.self)
    }

    /// The code of the page, block by block.
    private static let blocks = read("docs/embedding.md").components(separatedBy: "```swift\n").dropFirst().map {
        $0.components(separatedBy: "```")[0]
    }

    @Test(arguments: ["Ward", "Chart", "DescriptorSource", "Relay", "StudyHook"])
    func thePageShowsWhatIsCompiled(file: String) {
        let code = Self.read("Tests/EmbeddingTests/\(file).swift")
        #expect(code.count > 100 && Self.blocks.contains(code), "docs/embedding.md lacks \(file).swift as it is")
    }

    @Test func thePageShowsNothingElse() {
        #expect(Self.blocks.count == 5)
    }

    @Test func theFirstExampleIsShort() {
        #expect(Self.read("Tests/EmbeddingTests/Ward.swift").split(separator: "\n").count <= 20)
    }

    /// The first example: three readings of two devices, and what is none.
    @Test func readingsBecomeObservations() async throws {
        let folder = Folder()
        let chart = Chart()
        let (payloads, feed) = AsyncStream.makeStream(of: [UInt8].self)
        for payload in [heartRate(0), heartRate(1), heartRate(2, device: "watch-2"), Array("{".utf8)] {
            feed.yield(payload)
        }
        feed.finish()
        let summary = try await runWard(payloads, data: folder.path("data"), chart: chart)
        #expect(summary.received == 4 && summary.accepted == 3 && summary.rejections == [.invalidJSON: 1])
        #expect(summary.inFlight == 0 && summary.duplicate == 0 && summary.observations == 2)
        let resources = await chart.resources.values
        #expect(resources.count == 2 && resources.allSatisfy { $0.resourceType == "Observation" })
        #expect(Set(resources.map(\.device?.value)) == ["watch-1", "watch-2"])
        for resource in resources {
            let json = try #require(try JSONSerialization.jsonObject(with: Data(resource.json)) as? [String: Any])
            #expect(json["id"] as? String == resource.id && json["resourceType"] as? String == "Observation")
            let identifiers = try #require(json["identifier"] as? [[String: Any]])
            #expect(identifiers.first?["value"] as? String == resource.identifier.value.text)
        }
    }

    /// The second example: a source and a sink of one's own beside those of the configuration.
    @Test func aDescriptorIsReadToItsEnd() async throws {
        let folder = Folder()
        let chart = Chart()
        let pipe = Pipe()
        let output = folder.path("out")
        async let summary = relay(pipe.fileHandleForReading.fileDescriptor, to: output, and: chart)
        let steps =
            #"{"deviceId":"watch-1","type":"steps","timestamp":"2026-03-01T08:01:00Z","#
            + #""start":"2026-03-01T08:00:00Z","value":50,"unit":"{steps}"}"#
        let lines = [heartRate(0), Array(steps.utf8), Array("nonsense".utf8)]
        pipe.fileHandleForWriting.write(Data(lines.flatMap { $0 + [0x0A] }))
        try pipe.fileHandleForWriting.close()
        let ended = try await summary
        #expect(ended.received == 3 && ended.rejected == 1 && ended.accepted == 2 && ended.inFlight == 0)
        let charted = await chart.resources.values.map(\.patient?.value)
        #expect(charted == ["p-7"])
        let files = try FileManager.default.contentsOfDirectory(atPath: output)
        let written = files.map { Self.lines("\(output)/\($0)") }.reduce(0, +)
        #expect(written == 2)
    }

    private static func lines(_ path: String) -> Int {
        (FileManager.default.contents(atPath: path) ?? Data()).count { $0 == 0x0A }
    }
}

/// What is submitted, and what is said of it.
@Suite struct SubmissionTests {
    @Test func receiptsSayWhatBecameOfEachPayload() async throws {
        let folder = Folder()
        let rejections = Box<[RejectedPayload]>([])
        var configuration = EngineConfiguration(storage: .directory(folder.path("data")))
        configuration.onRejection = { rejected in rejections.change { $0.append(rejected) } }
        configuration.sinks = [EntrySink("none") { _ in }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        let good = try await engine.submit(heartRate(0) + [0x0A] + heartRate(1))
        #expect(good.readings == 2 && good.rejected.isEmpty && good.isDurable)
        let mixed = try await engine.submit(heartRate(2) + Array("\n{\"deviceId\":7".utf8))
        #expect(mixed.readings == 1 && mixed.rejected.map(\.reason) == [.invalidJSON] && mixed.isDurable)
        #expect(mixed.rejected[0].source == "app main" && !mixed.rejected[0].isMapped)
        let again = try await engine.submit(heartRate(0))
        #expect(again.readings == 1 && again.rejected.isEmpty)
        let empty = try await engine.submit([])
        engine.stop()
        let ended = try await summary
        #expect(ended.received == 5 + empty.rejected.count && ended.accepted == 3 && ended.duplicate == 1)
        #expect(ended.inFlight == 0 && ended.rejected == rejections.value.count)
        #expect(rejections.value[0].bytes == mixed.rejected[0].bytes)
    }

    @Test func nothingIsDurableWithoutAStore() async throws {
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.sinks = [EntrySink("none") { _ in }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        let receipt = try await engine.submit(heartRate(0))
        #expect(receipt.readings == 1 && !receipt.isDurable)
        engine.stop()
        #expect(try await summary.accepted == 1)
    }

    @Test func whatCannotBeTaken() async throws {
        var configuration = EngineConfiguration("limits: {lineBytes: 128KiB}", storage: .ephemeral)
        configuration.sinks = [EntrySink("none") { _ in }]
        let engine = try KymographEngine(configuration)
        await #expect(throws: SubmissionError.unknownSource("ward")) { try await engine.submit([1], from: "ward") }
        await #expect(throws: SubmissionError.tooLong(limit: 131_072)) {
            try await engine.submit(Array(repeating: 1, count: 131_073))
        }
        // Taken before the run, and settled by it.
        let early = try engine.offer(heartRate(0))
        engine.stop()
        let summary = try await engine.run()
        #expect(try await early.receipt().readings == 1 && summary.accepted == 1)
        #expect(throws: SubmissionError.stopped) { try engine.offer(heartRate(0)) }
        #expect(SubmissionError.stopped.description.contains("takes no more"))
    }

    /// A program that is quicker than its own sink is told so; nothing that was taken is lost.
    @Test func aSlowSinkIsBackPressure() async throws {
        let isOpen = Box(false)
        var configuration = EngineConfiguration(
            "{output: {maxAge: 0s}, limits: {preliminaryEvery: 1}}", storage: .ephemeral)
        configuration.window = .seconds(1)
        configuration.sinks = [
            EntrySink("slow") { _ in while !isOpen.value { try await Task.sleep(for: .milliseconds(5)) } }
        ]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        var taken: [Submission] = []
        do throws(SubmissionError) {
            // A window each, which has to be handed over.
            while taken.count < 1_000_000 { taken.append(try engine.offer(heartRate(taken.count % 80_000))) }
        } catch {
            #expect(error == .full)
        }
        isOpen.change { $0 = true }
        engine.stop()
        var readings = 0
        for submission in taken { readings += try await submission.receipt().readings }
        let ended = try await summary
        #expect(taken.count < 1_000_000 && readings == taken.count && ended.received == taken.count)
        #expect(ended.inFlight == 0 && ended.undelivered == 0)
    }

    /// A program whose own function holds the lane up: the run is cut, and whoever waits hears so.
    @Test func afterACutEverySubmissionHasItsOutcome() async throws {
        let isOpen = Box(false)
        let isHeld = Box(false)
        var configuration = EngineConfiguration("drain: 1s", storage: .ephemeral)
        configuration.sinks = [EntrySink("none") { _ in }]
        configuration.onRejection = { _ in
            isHeld.change { $0 = true }
            while !isOpen.value { usleep(1_000) }
        }
        let engine = try KymographEngine(configuration)
        let submissions = [try engine.offer([0x7B]), try engine.offer(heartRate(0)), try engine.offer(heartRate(1))]
        let run = Task { () async throws(EngineError) in try await engine.run() }
        while !isHeld.value { try await Task.sleep(for: .milliseconds(5)) }
        engine.stop()
        guard case .failure(let error as EngineError) = await run.result else {
            Issue.record("it ended well")
            return
        }
        #expect(error.kind == .cut)
        for submission in submissions {
            await #expect(throws: SubmissionError.unconfirmed) { try await submission.receipt() }
        }
        isOpen.change { $0 = true }
    }

    /// `é` as one scalar and as two: names and identifiers are bytes.
    @Test func namesAndIdentifiersAreBytes() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let chart = Chart()
        var configuration = EngineConfiguration(storage: .ephemeral)
        configuration.sources = [composed, decomposed]
        configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        #expect(try await engine.submit(heartRate(0, device: composed), from: composed).readings == 1)
        #expect(try await engine.submit(heartRate(0, device: decomposed), from: decomposed).readings == 1)
        await #expect(throws: SubmissionError.unknownSource("cafe")) { try await engine.submit([1], from: "cafe") }
        engine.stop()
        #expect(try await summary.accepted == 2)
        let devices = await chart.resources.values.map { $0.device?.value.utf8 ?? [] }
        #expect(Set(devices) == [Array(composed.utf8), Array(decomposed.utf8)])
    }
}

/// Sinks of the program's own, and the end of a run.
@Suite struct EntrySinkTests {
    private struct Failure: Error {}

    @Test func entriesComeAgainUntilTheyAreTaken() async throws {
        let folder = Folder()
        let chart = Chart()
        let calls = Box(0)
        let notes = Box<[String]>([])
        var configuration = EngineConfiguration(storage: .directory(folder.path("data")))
        configuration.onNote = { note in notes.change { $0.append(note) } }
        configuration.sinks = [
            EntrySink("chart") { entries in
                calls.change { $0 += 1 }
                if calls.value < 3 { throw Failure() }
                await chart.store(entries)
            }
        ]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        _ = try await engine.submit(heartRate(0))
        engine.stop()
        #expect(try await summary.undelivered == 0)
        #expect(await chart.resources.count == 1 && calls.value == 3)
        #expect(notes.value.contains { $0.contains("sink chart has not taken an entry: Failure()") }, "\(notes.value)")
    }

    /// A sink that never takes anything cuts the run; the next run with the store brings everything.
    @Test func aStoreKeepsWhatASinkHasNotTaken() async throws {
        let folder = Folder()
        var configuration = EngineConfiguration("drain: 1s", storage: .directory(folder.path("data")))
        configuration.sinks = [EntrySink("chart") { _ in try await Task.sleep(for: .seconds(3_600)) }]
        let engine = try KymographEngine(configuration)
        let run = Task { () async throws(EngineError) in try await engine.run() }
        let receipt = try await engine.submit(heartRate(0))
        #expect(receipt.isDurable)
        run.cancel()
        let outcome = await run.result
        guard case .failure(let error as EngineError) = outcome else {
            Issue.record("it ended well")
            return
        }
        #expect(error.kind == .cut && error.summary?.received == 1 && error.message.contains("longer"), "\(error)")
        let chart = Chart()
        configuration.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let next = try KymographEngine(configuration)
        next.stop()
        _ = try await next.run()
        #expect(await chart.resources.values.map(\.device?.value) == ["watch-1"])
    }

    /// What a sink has taken does not come again after a run that was cut.
    @Test func whatWasTakenIsNoted() async throws {
        let folder = Folder()
        let taken = Box<[String]>([])
        let notes = Box<[String]>([])
        var configuration = EngineConfiguration(
            "{drain: 1s, output: {maxAge: 0s}, limits: {preliminaryEvery: 1}}",
            storage: .directory(folder.path("data")))
        configuration.window = .seconds(1)
        configuration.onNote = { note in notes.change { $0.append(note) } }
        configuration.sinks = [
            EntrySink("chart") { entries in
                if taken.value.count >= 3 { try await Task.sleep(for: .seconds(3_600)) }
                taken.change { $0 += entries.map(Self.summary) }
            }
        ]
        let engine = try KymographEngine(configuration)
        let run = Task { () async throws(EngineError) in try await engine.run() }
        for second in 0..<20 { _ = try await engine.submit(heartRate(second)) }
        while taken.value.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        run.cancel()
        guard case .failure(let error as EngineError) = await run.result else {
            Issue.record("it ended well")
            return
        }
        #expect(error.kind == .cut)
        #expect(notes.value.contains { $0.hasPrefix("sink chart was still at ") }, "\(notes.value)")
        let rest = Box<[String]>([])
        configuration.sinks = [EntrySink("chart") { entries in rest.change { $0 += entries.map(Self.summary) } }]
        let next = try KymographEngine(configuration)
        next.stop()
        _ = try await next.run()
        #expect(taken.value.count >= 3 && !rest.value.isEmpty)
        #expect(Set(rest.value).isDisjoint(with: taken.value))
    }

    /// Start of the window, and status.
    @Sendable
    private static func summary(_ entry: ResourceEntry) -> String {
        let object = try? JSONSerialization.jsonObject(with: Data(entry.json)) as? [String: Any]
        return "\(entry.identifier.value.text.suffix(40)) \(object?["status"] as? String ?? "")"
    }

    @Test func sinksGetWhatTheyAskFor() async throws {
        let (first, second) = (Chart(), Chart())
        var configuration = EngineConfiguration(storage: .ephemeral)
        var one = EntrySink("one") { entries in await first.store(entries) }
        one.devices = ["watch-1"]
        configuration.sinks = [one, EntrySink("all") { entries in await second.store(entries) }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for device in ["watch-1", "watch-2"] { _ = try await engine.submit(heartRate(0, device: device)) }
        engine.stop()
        #expect(try await summary.accepted == 2)
        #expect(await first.resources.count == 1)
        #expect(await second.resources.count == 2)
    }
}

/// What is wrong with a configuration is told as the command line tells it.
@Suite struct EngineErrorTests {
    private func fault(of configuration: EngineConfiguration) -> EngineError? {
        do throws(EngineError) {
            _ = try KymographEngine(configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test func problemsHavePlaces() throws {
        let text = "window: 5 minutes\nmapping: x\n"
        let error = try #require(fault(of: EngineConfiguration(text, name: "ward.yaml", storage: .ephemeral)))
        #expect(error.kind == .configuration && error.summary == nil)
        #expect(
            error.problems.map(\.description) == [
                "ward.yaml:1:9: error: window: '5 minutes' is not a length of time; write a whole number and a unit, "
                    + "such as 500ms, 30s, 5m, 1h, 1d or 1h30m",
                "ward.yaml:2:1: error: unknown key 'mapping'; did you mean 'mappings'?",
                "parameters:1:1: error: sinks: nobody gets the entries; give a sink, or name one in the configuration",
            ])
        #expect(error.message == error.problems[0].description + " (and 2 more)")
    }

    @Test func parametersAreChecked() throws {
        var configuration = EngineConfiguration()
        configuration.mappings = ["wristbanb"]
        configuration.window = .zero
        configuration.sources = ["a", "a", ""]
        configuration.sinks = [EntrySink("x") { _ in }, EntrySink("x") { _ in }]
        let messages = try #require(fault(of: configuration)).problems.map(\.description)
        for part in [
            "window: ", "two sources have app a; ", "'' is no name", "nothing says where readings are kept",
            "two sinks are called 'x'", "did you mean 'wristband'?",
        ] {
            #expect(messages.contains { $0.hasPrefix("parameters:1:1: error: ") && $0.contains(part) }, "\(messages)")
        }
        for window in [Duration.seconds(10_000_000_000), .microseconds(1), .seconds(Int64.max)] {
            configuration.window = window
            let found = try #require(fault(of: configuration)).problems.map(\.description)
            #expect(found.contains { $0.contains("window: it is no whole number of milliseconds") }, "\(found)")
        }
        configuration.sourceKinds = [DescriptorSource.descriptor, DescriptorSource.descriptor]
        #expect(fault(of: configuration)?.message.contains("two are called 'descriptor'") == true)
        #expect(throws: EngineError.self) { try EngineConfiguration(contentsOf: "/nowhere.yaml") }
    }

    /// Two types of the store that mean something else now: the error has both.
    @Test func mappingsThatDoNotFitTheStoreAreProblems() async throws {
        let folder = Folder()
        func configuration(unit: String) throws -> EngineConfiguration {
            let mapping = folder.path("meter-\(unit)")
            try Self.writeMapping(to: mapping, unit: unit)
            var configuration = EngineConfiguration(storage: .directory(folder.path("data")))
            configuration.mappings = [mapping + "/"]
            configuration.sinks = [EntrySink("x") { _ in }]
            return configuration
        }
        let engine = try KymographEngine(configuration(unit: "mg"))
        async let summary = engine.run()
        for name in ["a", "b"] {
            let reading = #"{"d":"m-1","t":"2026-03-01T08:00:00Z","\#(name)":1}"#
            #expect(try await engine.submit(Array(reading.utf8)).readings == 1)
        }
        engine.stop()
        _ = try await summary
        let error = try #require(fault(of: configuration(unit: "g")))
        #expect(error.kind == .configuration && error.problems.count { $0.isError } == 2, "\(error)")
        #expect(error.problems.allSatisfy { $0.file.hasSuffix("fhir.json") && $0.line > 0 }, "\(error.problems)")
    }

    /// A mapping of two types, `a` and `b`, each with one value in `unit`.
    private static func writeMapping(to folder: String, unit: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let device = ["a", "b"].map { name in
            #"""
            {"templateType":"JsonPathContent","template":{"typeName":"\#(name)","typeMatchExpression":"$..[?(@\#(name))]",
            "deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[{"valueName":"x","valueExpression":"$.\#(name)"}]}}
            """#
        }
        let fhir = ["a", "b"].map { name in
            #"""
            {"templateType":"CodeValueFhir","template":{"typeName":"\#(name)","period":"instance",
            "codes":[{"code":"\#(name)"}],"value":{"valueType":"Quantity","valueName":"x","unit":"\#(unit)",
            "code":"\#(unit)"}}}
            """#
        }
        for (name, type, templates) in [("device", "CollectionContent", device), ("fhir", "CollectionFhir", fhir)] {
            let text = #"{"templateType":"\#(type)","template":[\#(templates.joined(separator: ","))]}"#
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name).json"))
        }
    }

    @Test func whatIsTakenIsUnavailable() async throws {
        let folder = Folder()
        var configuration = EngineConfiguration(storage: .directory(folder.path("data")))
        configuration.sinks = [EntrySink("x") { _ in }]
        let engine = try KymographEngine(configuration)
        let second = try #require(fault(of: configuration))
        #expect(second.kind == .unavailable && second.message.contains(folder.path("data")), "\(second)")
        engine.stop()
        _ = try await engine.run()
    }
}

/// What FHIR servers answer.
@Suite struct DeliveryReportTests {
    /// A server that refuses what contains `refused`; with its port.
    private func server(_ folder: Folder, refusing refused: String) throws -> (Process, port: String) {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Servers/fhir_recorder.py")
        let process = Process()
        let python = ProcessInfo.processInfo.environment["KYMO_PYTHON"] ?? "/usr/bin/python3"
        process.executableURL = URL(filePath: python)
        process.arguments = [script.standardized.path, folder.path("bundles"), refused]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        return (process, port.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test func whatServersStoreAndRefuse() async throws {
        let folder = Folder()
        let (process, port) = try server(folder, refusing: "watch-2")
        // What the test runner blocks, its children block too.
        defer { kill(process.processIdentifier, SIGKILL) }
        let reports = Box<[DeliveryReport]>([])
        var configuration = EngineConfiguration(
            "server: {url: 'http://127.0.0.1:\(port)/fhir', identity: create}",
            storage: .directory(folder.path("data")))
        configuration.onDelivery = { delivered in reports.change { $0 += delivered } }
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for device in ["watch-1", "watch-2"] { _ = try await engine.submit(heartRate(0, device: device)) }
        engine.stop()
        #expect(try await summary.accepted == 2)
        let observations = reports.value.filter { $0.resource.hasPrefix("Observation/") }
        #expect(observations.count == 2 && reports.value.allSatisfy { $0.sink.hasPrefix("server http") })
        #expect(observations.count { $0.outcome == .stored && $0.refused.isEmpty } == 1)
        let refused = try #require(observations.first { $0.outcome == .refused(.serverRefused) })
        #expect(refused.detail.contains("422") && refused.refused.map(\.device?.value) == ["watch-2"])
        #expect(refused.resource == "Observation/\(refused.refused[0].id)")
    }
}
