import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// kymo is killed, and the broker ended, again and again, while a client publishes at QoS 1 and sends again what was not
/// acknowledged: nothing that the broker has acknowledged is lost, and what comes out in the end is what comes out of a
/// run without crashes.
@Suite(.serialized, .enabled(if: Mosquitto.isInstalled, "needs the packages mosquitto and mosquitto-clients"))
struct MQTTCrashTests {
    private let folder = TemporaryFolder()

    private func start(_ broker: Mosquitto) throws -> ChildProcess {
        let process = try Kymo.start(
            [
                "run", "--mqtt", broker.url("ward/+"), "--data", folder.file("data"), "--out", folder.file("out"),
            ] + CrashTests.windows)
        _ = try process.addresses()
        return process
    }

    @Test func bothEndAtAnyMoment() throws {
        let seed = Trials.seed(31)
        let lines = CrashTests.lines(seed: seed, count: max(3_000, CrashTests.rounds * 150))
        var random = SeededBytes(seed: seed)
        let broker = try Mosquitto("allow_anonymous true\nmax_inflight_messages 0")
        // Once connected, the broker keeps its session.
        var process = try start(broker)
        try process.waitForError(": connected")
        var acknowledged = 0
        for round in 0..<CrashTests.rounds {
            let share = lines.count * (round + 1) / CrashTests.rounds
            let end = ContinuousClock.now + .milliseconds(5 + random.next(upTo: 700))
            let endsBroker = round % 3 == 2
            acknowledged += try publish(lines[acknowledged..<max(acknowledged, share)], to: broker) {
                guard ContinuousClock.now >= end else { return }
                if endsBroker { try broker.stop() } else { process.signal(SIGKILL) }
            }
            if endsBroker {
                try broker.stop()
                try broker.start()
            } else {
                process.signal(SIGKILL)
                #expect(try process.wait() == .signal(SIGKILL), "\(process.errorText)")
                process = try start(broker)
            }
        }
        let last = Readings.heartRate(second: 9_000, device: "last")
        let rest = lines[acknowledged...] + [last]
        #expect(try publish(rest, to: broker) == rest.count)
        try Waiting.until("the last reading: \(process.errorText)") { written.contains { $0.contains("\"last\"") } }
        #expect(try process.terminate().end == .exit(0))
        try compare(lines + [last], seed: seed)
    }

    private var written: [String] {
        Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }
    }

    private func compare(_ lines: [String], seed: UInt64) throws {
        let oracle = try Kymo.run(
            ["run", "--stdin", "--ephemeral"] + CrashTests.windows, input: .bytes(Readings.ndjson(lines)))
        var (expected, found) = (BundleReader(), BundleReader())
        try expected.read(ndjson: oracle.output)
        for text in written { try found.read(ndjson: Array(text.utf8)) }
        let differences = found.differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "seed \(seed): \(differences.prefix(5))")
        #expect(expected.observations.count > 50)
    }

    /// Publishes `lines`, a few at a time, until all are acknowledged or the broker has gone; how many were.
    private func publish(
        _ lines: ArraySlice<String>, to broker: Mosquitto, meanwhile: () throws -> Void = {}
    ) throws -> Int {
        let connection = try RawConnection(port: broker.port)
        connection.send([0x10, 13, 0, 4] + Array("MQTT".utf8) + [4, 2, 0, 0, 0, 1, 0x70])
        var place = lines.startIndex
        var heard = 4
        while place < lines.endIndex {
            let batch = lines[place..<min(place + 7, lines.endIndex)]
            for (number, line) in batch.enumerated() { connection.send(Self.publish(line, number: number + 1)) }
            heard += 4 * batch.count
            try Waiting.until("acknowledgements") {
                try meanwhile()
                connection.receive()
                return connection.hasEnded || connection.received.count >= heard
            }
            guard connection.received.count >= heard else { break }
            place += batch.count
        }
        return place - lines.startIndex
    }

    private static func publish(_ line: String, number: Int) -> [UInt8] {
        let body = [0, 6] + Array("ward/1".utf8) + [0, UInt8(number)] + Array(line.utf8)
        return [0x32, UInt8(body.count & 0x7F | 0x80), UInt8(body.count >> 7)] + body
    }
}
