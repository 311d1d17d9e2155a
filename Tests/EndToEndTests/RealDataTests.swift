import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// Real readings of a wearable through every source give the same Observations, valid ones.
@Suite(.serialized, .enabled(if: SharedMaterial.root != nil, "KYMO_SHARED names no folder with the data"))
struct RealDataTests {
    private static let count = 8_418

    private var file: String { "\(SharedMaterial.root ?? "")/data/fitbit_hr.ndjson" }

    @Test func everySourceGivesTheSame() throws {
        let folder = TemporaryFolder()
        let fromInput = try Kymo.run(["run", "--stdin"], input: .bytes(Files.read(file)))
        let expected = try store(fromInput)
        #expect(expected.observations.count > 200)
        // A rate that this pipeline keeps up with by far: a datagram that is dropped is no fault of the mapping.
        let sources: [(flag: [String], rate: [String])] = [
            (["--udp", "127.0.0.1:0"], ["--rate", "3000"]), (["--udp", "[::1]:0"], ["--rate", "3000"]),
            (["--unix", folder.file("a.sock")], ["--speed", "max"]),
            (["--unixgram", folder.file("b.sock")], ["--speed", "max"]),
        ]
        for source in sources {
            let run = try Kymo.start(["run"] + source.flag)
            let address = try run.addresses()[0].split(separator: " ", maxSplits: 1).map(String.init)
            let replay = try Kymo.run(["replay", file, "--\(address[0])", address[1]] + source.rate)
            #expect(replay.end == .exit(0), "\(replay.error)")
            #expect(replay.error.contains("sent \(RealDataTests.count) lines"))
            let differences = try store(try run.terminate()).differences(from: expected, ignoring: ["status"])
            #expect(differences.isEmpty, "\(source.flag): \(differences.prefix(5))")
        }
    }

    /// All that came in is accounted for, and what came out counts as many readings.
    private func store(_ done: Kymo.Finished) throws -> BundleReader {
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.received == RealDataTests.count && balance.accepted == RealDataTests.count, "\(done.error)")
        #expect(balance.isClosed && balance.kernelDropped == 0)
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        return reader
    }

    /// In any order, with duplicates, and with a file of Observations instead of bundles: the same again.
    @Test func orderAndDuplicatesDoNotMatter() throws {
        let lines = Files.text(file).split(separator: "\n").map(String.init)
        let expected = try store(try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(lines))))
        for seed in Trials.seeds(3) {
            var generator = SeededGenerator(seed: seed)
            // Times are up to 15 s apart, so neighbours may change places within the lateness.
            var shuffled = lines
            for start in stride(from: 0, to: lines.count - 2, by: 2) where Bool.random(using: &generator) {
                shuffled.swapAt(start, start + 1)
            }
            let again = (0..<500).map { _ in lines[Int.random(in: 0..<lines.count, using: &generator)] }
            let done = try Kymo.run(["run", "--stdin"], input: .bytes(Readings.ndjson(shuffled + again)))
            let balance = try #require(done.balance)
            #expect(balance.received == lines.count + 500 && balance.duplicate == 500 && balance.isClosed)
            var reader = BundleReader()
            try reader.read(ndjson: done.output)
            let differences = reader.differences(from: expected, ignoring: ["status"])
            #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
        }
    }
}

/// What comes out is FHIR, says somebody else.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct ValidationTests {
    private var root: String { SharedMaterial.root ?? "" }

    /// Real readings, simulated ones of all kinds with late ones and duplicates, and every other way of writing them.
    @Test func everythingIsValid() throws {
        let folder = TemporaryFolder()
        let simulated = try SimulatedReadings.tenMinutes(seed: 5)
        let real = Files.read("\(root)/data/fitbit_hr.ndjson")
        let configuration = folder.write(
            "kymo.yaml",
            """
            output: {bundle: batch, write: conditional-create, maxEntries: 7}
            sources: [{stdin: true}]
            window: 1m
            # A conditional create keeps what is there.
            lateness: 10m
            """)
        // The validator takes what it reads for one moment of a server: of each window one version only, however long
        // a pipe pauses.
        let runs: [(String, [String], [UInt8])] = [
            ("real", ["--stdin"], real), ("simulated", ["--stdin", "--lateness", "10m"], simulated),
            ("batch", ["--config", configuration], simulated),
            ("observations", ["--stdin", "--format", "ndjson", "--lateness", "10m"], simulated),
        ]
        for (name, arguments, input) in runs {
            let done = try Kymo.run(["run"] + arguments, input: .bytes(input))
            #expect(done.end == .exit(0) && !done.output.isEmpty)
            Files.write(done.output, to: folder.file("\(name).ndjson"))
            let result = try ChildProcess(
                SharedMaterial.python,
                ["-B", "\(root)/fhir/validate_bundle.py", folder.file("\(name).ndjson")]
            ).finish(seconds: 300)
            let report = String(decoding: result.output, as: UTF8.self)
            #expect(result.end == .exit(0), "\(name): \(report.suffix(1500)) \(result.error.suffix(500))")
        }
    }

    /// A server that checks every resource takes all bundles, twice and in any order, and holds nothing twice.
    @Test func aStrictServerTakesEverything() async throws {
        let server = try FHIRServer()
        let done = try Kymo.run(["run", "--stdin"], input: .bytes(try SimulatedReadings.tenMinutes(seed: 9)))
        #expect(done.end == .exit(0))
        try await server.waitUntilReady()
        let bundles = done.output.split(separator: 0x0A).map(Array.init)
        var generator = SeededGenerator(seed: Trials.seed(4))
        for bundle in bundles.shuffled(using: &generator) + bundles.shuffled(using: &generator) {
            let (answer, status) = try await server.post(bundle)
            #expect(status == 200, "\(String(decoding: answer.prefix(800), as: UTF8.self))")
        }
        let (stats, _) = try await server.get("/_stats")
        let tree = try JSONTree(parsing: Array(stats))
        var reader = BundleReader()
        try reader.read(ndjson: done.output)
        #expect(tree["identifier_dups"] == .number("0") && tree["observation_key_dups"] == .number("0"), "\(tree)")
        #expect(tree["resources"]?["Observation"] == .number("\(reader.observations.count)"))
        #expect(tree["resources"]?["Device"] == .number("4") && tree["resources"]?["Patient"] == .number("4"))
    }
}
