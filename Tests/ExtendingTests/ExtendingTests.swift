import CommandSupport
@testable import ExtendingExamples
import Foundation
import Glibc
import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// docs/extending.md: its code is what these tests run, and what `ExtendingExamples` compiles with nothing but what is
/// public.
@Suite struct ExtendingTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func read(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: root.appending(path: path).path) ?? Data(), as: UTF8.self)
    }

    /// The code of the document, block by block.
    private static let blocks = read("docs/extending.md").components(separatedBy: "```swift\n").dropFirst().map {
        $0.components(separatedBy: "```")[0]
    }

    @Test(arguments: ["FIFOSource", "NetstringProtocol", "ExtendedConfiguration", "IndexFile"])
    func theDocumentShowsWhatIsCompiled(file: String) {
        // A kind of sink is not public: programs have EntrySink.
        let folder = file == "IndexFile" ? "ExtendingTests" : "ExtendingExamples"
        let code = Self.read("Tests/\(folder)/\(file).swift")
        #expect(code.count > 100 && Self.blocks.contains(code), "docs/extending.md lacks \(file).swift as it is")
    }

    @Test func theDocumentShowsNothingElse() {
        #expect(Self.blocks.count == 4)
    }

    /// A configuration that may name them, as the loader reads it.
    private func extendedSettings(_ yaml: String) -> (settings: PipelineSettings, diagnostics: [Diagnostic]) {
        var input = ConfigurationInput(file: (name: "kymo.yaml", bytes: Array(yaml.utf8)))
        input.kinds = .builtIn.adding(sources: [FIFOSource.descriptor], framings: [NetstringProtocol.descriptor])
        input.sinkKinds = .builtIn.adding([IndexFile.descriptor])
        return ConfigurationLoader.load(input)
    }

    /// An engine reads a pipe of netstrings by nothing but the page's code.
    @Test func anEngineReadsThem() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("readings")
        let engine = try KymographEngine(
            extendedConfiguration(
                """
                sources:
                - fifo: \(path)
                  framing: netstring
                ephemeral: true
                output: {to: \(folder.file("out"))}
                """))
        async let summary = engine.run()
        Self.write(Readings.heartRates(20).map { "\($0.utf8.count):\($0)," }.joined(), to: path)
        try Waiting.until("20 readings") { engine.summary.accepted == 20 }
        engine.stop()
        #expect(try await summary.received == 20)
        #expect(engine.sources == ["fifo \(path), mapping reading"])
    }

    @Test func theConfigurationKnowsThem() {
        let folder = TemporaryFolder()
        let path = folder.file("readings")
        let (settings, diagnostics) = extendedSettings("sources:\n- fifo: \(path)\n  framing: netstring\n")
        #expect(diagnostics.map(\.text) == [])
        #expect(settings.sources.map(\.name) == ["fifo \(path)"])
        let wrong = extendedSettings("sources:\n- fifo: a\n- fifo: a\n- fifo: b\n  framing: netstrin\n")
        #expect(
            wrong.diagnostics.map(\.text) == [
                "kymo.yaml:5:12: error: sources[2].framing: 'netstrin' is not one of lines, nul, delimiter, length, "
                    + "slip, cobs, fixed, capture, json, csv, hl7v2, apple-health, netstring; did you mean 'netstring'?",
                "kymo.yaml:3:9: error: sources[1].fifo: two sources have fifo a; remove one, or choose another address",
            ])
        let builtIn = ConfigurationLoader.load(
            ConfigurationInput(file: (name: "kymo.yaml", bytes: Array("sources: [{fifo: a}]".utf8))))
        #expect(builtIn.diagnostics.contains { $0.message.contains("unknown key 'fifo'") })
    }

    /// A whole pipeline reads a pipe of netstrings: two writers after each other, and what is no netstring.
    @Test func aPipelineReadsThem() throws {
        let folder = TemporaryFolder()
        let path = folder.file("readings")
        var (settings, _) = extendedSettings("sources:\n- fifo: \(path)\n  framing: netstring\n")
        settings.store.keeping = .nothing
        settings.destination = .directory(folder.file("out"))
        let set = try #require(ConfigurationLoader.checkMappings(settings).set)
        let pipeline = try Pipeline(settings, set: set, notes: { _ in })
        let runner = Thread { Self.outcome.set(pipeline.run(signals: nil)) }
        runner.start()
        let lines = Readings.heartRates(40)
        for half in [lines[..<20], lines[20...]] {
            Self.write(half.map { "\($0.utf8.count):\($0)," }.joined(), to: path)
        }
        try Waiting.until("40 readings") { pipeline.summary.accepted == 40 }
        Self.write("3:{},,", to: path)
        try Waiting.until("the netstring that is none") { pipeline.summary.rejectedTotal == 1 }
        pipeline.stop()
        try Waiting.until("the end") { Self.outcome.value != nil }
        let outcome = try #require(Self.outcome.value)
        #expect(outcome.exitCode == ExitStatus.success && outcome.message.isEmpty, "\(outcome.message)")
        #expect(outcome.summary.received == 41 && outcome.summary.accepted == 40)
    }

    @Test func theConfigurationKnowsTheSink() throws {
        let (settings, diagnostics) = extendedSettings("sinks:\n- separator: tab\n  index: a.csv\n- to: out\n")
        #expect(diagnostics.map(\.text) == [])
        #expect(settings.outgoingSinks.map(\.name) == ["index a.csv", "files out"])
        #expect(settings.sinks[0].address as? IndexFile == IndexFile(path: "a.csv", separator: "\t"))
        let wrong = extendedSettings(
            """
            sinks:
            - {index: a.csv, separator: dot}
            - {index: a.csv, name: b}
            - {to: out, separator: tab}
            - {index: ""}
            - {to: none}
            - {types: x}
            """)
        #expect(
            wrong.diagnostics.map(\.text) == [
                "kymo.yaml:2:29: error: sinks[0].separator: 'dot' is not one of comma, tab; write one of them",
                "kymo.yaml:5:11: error: sinks[3].index: the value is empty; write a path, such as ./index.csv",
                "kymo.yaml:7:3: error: sinks[5]: it says neither where bundles go nor to which server; add one of to, "
                    + "server, eventhub, postgres, kafka, index",
                "kymo.yaml:3:11: error: sinks[1].index: two sinks write to one place; make one of them",
                "kymo.yaml:4:24: warning: sinks[2].separator: it has no effect without an index; remove it",
                "kymo.yaml:6:8: error: sinks[4].to: bundles would go nowhere; name a directory or stdout, or remove it",
            ])
        let builtIn = ConfigurationLoader.load(
            ConfigurationInput(file: (name: "kymo.yaml", bytes: Array("sinks: [{index: a.csv}]".utf8))))
        #expect(builtIn.diagnostics.contains { $0.message.contains("unknown key 'index'") })
    }

    /// The index has a line for each Observation of the files beside it, with a store and without.
    @Test(arguments: [StoreSettings.Keeping.nothing, .everything])
    func aPipelineWritesToTheSink(keeping: StoreSettings.Keeping) throws {
        let folder = TemporaryFolder()
        let (index, out, path) = (folder.file("index.csv"), folder.file("out"), folder.file("readings"))
        try Data(Readings.ndjson(Readings.heartRates(40) + Readings.heartRates(9, device: "b"))).write(
            to: URL(filePath: path))
        var (settings, diagnostics) = extendedSettings("sinks: [{index: \(index)}, {to: \(out)}]")
        #expect(diagnostics.map(\.text) == [])
        let file = unsafe open(path, O_RDONLY)
        defer { close(file) }
        settings.sources = [PipelineSettings.Source(.standardInput(descriptor: file))]
        settings.store.keeping = keeping
        settings.store.directory = folder.file("store")
        let set = try #require(ConfigurationLoader.checkMappings(settings).set)
        let outcome = try Pipeline(settings, set: set, notes: { _ in }).run(signals: nil)
        #expect(outcome.exitCode == ExitStatus.success && outcome.message.isEmpty, "\(outcome.message)")
        let lines = String(decoding: FileManager.default.contents(atPath: index) ?? Data(), as: UTF8.self)
            .split(separator: "\n").map { $0.split(separator: ",") }
        #expect(lines.count > 1 && lines.allSatisfy { $0.count == 3 && $0[0] == "Observation" }, "\(lines)")
        let names = try FileManager.default.contentsOfDirectory(atPath: out).filter { $0.hasSuffix(".ndjson") }
        let text = names.map {
            String(decoding: FileManager.default.contents(atPath: "\(out)/\($0)") ?? Data(), as: UTF8.self)
        }
        .joined()
        for line in lines { #expect(text.contains("\"id\":\"\(line[1])\""), "\(line)") }
        #expect(lines.count == text.components(separatedBy: "\"resourceType\":\"Observation\"").count - 1)
        guard keeping == .everything else { return }
        let status = try StoreReader(directory: folder.file("store")).status(limitBytes: 1)
        #expect(status.sinks.map(\.name) == ["files \(out)", "index \(index)"])
        #expect(status.sinks.allSatisfy { $0.waiting == 0 && $0.settledThrough > 0 })
    }

    private static let outcome = Shared<Pipeline.Outcome>()

    private static func write(_ text: String, to path: String) {
        let file = unsafe open(path, O_WRONLY)
        let bytes = Array(text.utf8)
        var start = 0
        while start < bytes.count {
            let size = unsafe bytes[start...].withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            guard size > 0 else { break }
            start += size
        }
        close(file)
    }

    /// However the bytes come, the payloads are the same.
    @Test func netstringsInPieces() throws {
        let whole = Array("5:hello,0:,12:hello, world,2:{},".utf8)
        for size in [1, 2, 3, 5, 7, 11, whole.count] {
            let folder = TemporaryFolder()
            let path = folder.file("readings")
            var configuration = SourceConfiguration(FIFOSource(path: path))
            configuration.framing = try NetstringProtocol.descriptor.parse([])
            let lane = try Lane([configuration])
            let writer = Thread {
                for start in stride(from: 0, to: whole.count, by: size) {
                    Self.write(String(decoding: whole[start..<min(start + size, whole.count)], as: UTF8.self), to: path)
                    usleep(1_000)
                }
                lane.stop()
            }
            writer.start()
            var consumer = TextConsumer()
            _ = try lane.run(&consumer)
            #expect(consumer.texts == ["hello", "hello, world", "{}"] && consumer.rejects.isEmpty, "\(size)")
        }
    }

    @Test(arguments: [
        ("x", Rejection.frameMalformed), ("01:a,", .frameMalformed), ("3:abcd", .frameMalformed),
        ("9999999999:", .frameMalformed), ("2000000:", .frameTooLong), (":", .frameMalformed), ("3:ab", .shutdown),
    ])
    func whatIsNone(text: String, reason: Rejection) throws {
        let folder = TemporaryFolder()
        let path = folder.file("readings")
        var configuration = SourceConfiguration(FIFOSource(path: path))
        configuration.framing = try NetstringProtocol.descriptor.parse([])
        let lane = try Lane([configuration])
        Self.write("1:a,\(text)", to: path)
        lane.stop()
        var consumer = TextConsumer()
        _ = try lane.run(&consumer)
        #expect(consumer.texts == ["a"] && consumer.rejects == [reason])
    }
}

/// A value that a thread leaves for another.
private final class Shared<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value?

    var value: Value? { lock.withLock { stored } }

    func set(_ value: Value) { lock.withLock { stored = value } }
}

/// Keeps payloads, and why others are none.
private struct TextConsumer: PayloadConsumer {
    var texts: [String] = []
    var rejects: [Rejection] = []

    mutating func line(_ bytes: ByteView, source: Int, received: Instant) { texts.append(bytes.string) }
    mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { texts.append(bytes.string) }
    mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {
        rejects.append(reason)
    }
    mutating func batchEnd() {}
}
