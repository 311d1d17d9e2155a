import CommandSupport
import Glibc
import KymographTestKit
import Testing
import TrialSupport

/// kymo is killed, again and again, while several clients of one door send as fast as they hear of it, and send again
/// what was not acknowledged: nothing that was acknowledged is lost, nothing is there twice, and what comes out in the
/// end is what comes out of a run without crashes.
@Suite(.serialized) struct DoorCrashTests {
    /// A door that acknowledges.
    enum Door: String, CaseIterable {
        case unix, tcp, tls, http, eventHubs, mllp, mqtt
    }

    private static let clients = 4
    private let folder = TemporaryFolder()

    @Test(arguments: Door.allCases) func killedUnderLoad(_ door: Door) throws {
        let seed = Trials.seed(40)
        let rounds = CrashTests.rounds
        let messages = (0..<Self.clients).map { Self.messages(door, client: $0, seed: seed, count: rounds * 200) }
        let scene = try Scene(door, folder)
        var random = SeededBytes(seed: seed)
        var acknowledged = [Int](repeating: 0, count: Self.clients)
        var busy = 0
        // Each round has its share of the messages, however fast the door is, so that the last one has something to send.
        let share = messages[0].count / rounds - ResendingClient.ahead
        for _ in 0..<rounds {
            let moment = (milliseconds: 5 + random.next(upTo: 120), count: 1 + random.next(upTo: share))
            let heard = try scene.crash(at: moment, messages, from: acknowledged)
            for (place, count) in heard.acknowledged.enumerated() { acknowledged[place] += count }
            busy += heard.isBusy ? 1 : 0
        }
        // Killed while it reads, commits or answers, and not while it waits.
        #expect(busy > rounds / 2, "seed \(seed): \(busy) of \(rounds) under load")
        try scene.finish(messages, from: acknowledged)
        try compare(door, messages.flatMap(\.self), seed: seed)
    }

    /// What one client sends: of devices of its own, mostly in order, some twice, some late.
    private static func messages(_ door: Door, client: Int, seed: UInt64, count: Int) -> [String] {
        guard door == .mllp else {
            return CrashTests.lines(seed: seed + UInt64(client), count: count).map {
                $0.replacing("watch-", with: "watch-\(client)-")
            }
        }
        var random = SeededBytes(seed: seed + UInt64(client))
        return (0..<count / 2).map { index in
            let second = random.next(upTo: 12) == 0 ? max(0, index - random.next(upTo: 30)) : index
            let results = [
                MonitorMessages.heartRate("\(50 + random.next(upTo: 90))", status: second < index ? "C" : "R"),
                MonitorMessages.saturation("\(90 + random.next(upTo: 10))"),
            ]
            let device = "monitor-\(client)-\(second % 5)"
            return MonitorMessages.message(id: index, second: second, results: results, device: device)
        }
    }

    private func compare(_ door: Door, _ messages: [String], seed: UInt64) throws {
        let expected: BundleReader
        if door == .mllp {
            let whole = TemporaryFolder()
            try Scene(door, whole).finish([messages], from: [0])
            expected = try Self.read(whole)
        } else {
            let oracle = try Kymo.run(
                ["run", "--stdin", "--ephemeral"] + CrashTests.windows, input: .bytes(Readings.ndjson(messages)))
            var reader = BundleReader()
            try reader.read(ndjson: oracle.output)
            expected = reader
        }
        let differences = try Self.read(folder).differences(from: expected, ignoring: ["status"])
        #expect(differences.isEmpty, "\(door), seed \(seed): \(differences.prefix(5))")
        #expect(expected.observations.count > 200)
    }

    private static func read(_ folder: TemporaryFolder) throws -> BundleReader {
        var reader = BundleReader()
        for name in Files.names(folder.file("out")) { try reader.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        return reader
    }

    /// A door that is opened again and again, and its clients.
    private final class Scene {
        private let door: Door
        private let folder: TemporaryFolder
        private let authority: TestAuthority?
        private let broker: Mosquitto?
        private let arguments: [String]

        init(_ door: Door, _ folder: TemporaryFolder) throws {
            (self.door, self.folder) = (door, folder)
            authority = door == .tls ? try TestAuthority() : nil
            broker = door == .mqtt ? try Mosquitto("allow_anonymous true\nmax_inflight_messages 0") : nil
            let source: [String]
            switch door {
            case .unix: source = ["--unix", folder.file("k.sock")]
            case .tcp: source = ["--tcp", "127.0.0.1:0"]
            case .http, .eventHubs: source = ["--http", "127.0.0.1:0"]
            case .mllp: source = ["--mllp", "127.0.0.1:0", "--mapping", "pcd-01"]
            case .mqtt: source = ["--mqtt", broker?.url("ward/+") ?? ""]
            case .tls:
                let (certificate, key) = try authority?.issue("localhost") ?? ("", "")
                let file = folder.write(
                    "kymo.yaml",
                    "sources: [{tcp: '127.0.0.1:0', certificateFile: \(certificate), certificateKeyFile: \(key)}]\n")
                source = ["--config", file]
            }
            arguments = source
            // Once connected, the broker keeps its session.
            if door == .mqtt { _ = try start().terminate() }
        }

        private func start() throws -> ChildProcess {
            let windows = door == .mllp ? ["--idle", "1s"] : CrashTests.windows
            let run = try Kymo.start(
                ["run", "--data", folder.file("data"), "--out", folder.file("out")] + arguments + windows)
            _ = try run.addresses()
            if door == .mqtt { try run.waitForError(": connected") }
            return run
        }

        private func connect(_ run: ChildProcess, count: Int) throws -> [ResendingClient] {
            let address = try run.addresses()[0]
            return try (0..<count).map { number in
                switch door {
                case .unix, .tcp: try LineClient(address)
                case .tls: try TLSLineClient(address, try #require(authority))
                case .http, .eventHubs: try PostingClient(address, isHub: door == .eventHubs)
                case .mllp: try MLLPResendingClient(address)
                case .mqtt: try PublishingClient(try #require(broker), name: UInt8(number))
                }
            }
        }

        /// Starts, lets clients send their `messages` from `places` on, and kills it after some milliseconds, or when one
        /// of them has heard of as many messages as `moment` says; how many each of them has heard of, and whether
        /// something was on its way then.
        func crash(
            at moment: (milliseconds: Int, count: Int), _ messages: [[String]], from places: [Int]
        ) throws -> (acknowledged: [Int], isBusy: Bool) {
            let run = try start()
            let clients = try connect(run, count: messages.count)
            let end = ContinuousClock.now + .milliseconds(moment.milliseconds)
            repeat {
                for (client, place) in zip(clients, messages.indices) { client.goOn(messages[place][places[place]...]) }
                usleep(200)
            } while ContinuousClock.now < end && clients.allSatisfy { $0.acknowledged < moment.count }
            let isBusy = clients.contains { $0.sent > $0.acknowledged }
            run.signal(SIGKILL)
            #expect(try run.wait() == .signal(SIGKILL), "\(run.errorText)")
            // What it has said before it died counts.
            for client in clients { client.receive() }
            return (clients.map(\.acknowledged), isBusy)
        }

        /// Sends the rest of `messages`, from `places` on, and ends in order.
        func finish(_ messages: [[String]], from places: [Int]) throws {
            let run = try start()
            let clients = try connect(run, count: messages.count)
            let rests = zip(messages, places).map { $0[$1...] }
            try Waiting.until("all to be acknowledged; \(run.errorText)", seconds: 240) {
                for (client, rest) in zip(clients, rests) { client.goOn(rest, ahead: 210) }
                return zip(clients, rests).allSatisfy { $0.acknowledged == $1.count }
            }
            if let broker { try waitForAll(run, broker) }
            let done = try run.terminate()
            #expect(done.end == .exit(0), "\(done.error)")
        }

        /// The broker gives messages in the order in which it has taken them: with the last one all are there.
        private func waitForAll(_ run: ChildProcess, _ broker: Mosquitto) throws {
            try broker.publish(["{\"the\":\"end\"}"], to: "ward/1")
            try Waiting.until("the last message: \(run.errorText)", seconds: 120) {
                try Kymo.run(["dead", "list", "--data", folder.file("data")]).text.contains("noTemplate")
            }
        }
    }
}
