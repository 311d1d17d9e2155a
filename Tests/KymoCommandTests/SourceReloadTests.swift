import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Synchronization
import Testing
import TrialSupport

/// Sources that are added and removed by SIGHUP while `kymo run` works.
@Suite struct SourceReloadTests {
    /// What comes and goes, beside a source that stays.
    enum Kind: String, CaseIterable {
        case unix, tcp, udp, http
    }

    /// An instance, its configuration, and what it was sent.
    struct Scene {
        let run = StoredRun()
        private let ports = SourceReloadTests.freePorts()
        private(set) var instance: ChildProcess?
        private var changes = 0

        var base: String { "unix \(run.folder.file("base.sock"))" }
        var log: String { instance?.errorText ?? "" }

        /// The source that comes and goes, as the configuration has it and as `kymo run` names it.
        func written(_ kind: Kind) -> String {
            kind == .unix
                ? "{unix: \(run.folder.file("more.sock"))}" : "{\(kind.rawValue): '127.0.0.1:\(port(kind))'}"
        }
        func address(_ kind: Kind) -> String {
            kind == .unix ? "unix \(run.folder.file("more.sock"))" : "\(kind.rawValue) 127.0.0.1:\(port(kind))"
        }
        func port(_ kind: Kind) -> UInt16 { ports[kind == .tcp ? 0 : kind == .udp ? 1 : 2] }

        func configure(_ sources: [String], more: String = "") {
            run.folder.write(
                "kymo.yaml",
                """
                lanes: 2
                shards: 2
                ringSlots: 512
                window: 1m
                lateness: 0s
                data: data
                output: {to: out, format: ndjson}
                sources: [\((["{unix: \(run.folder.file("base.sock"))}"] + sources).joined(separator: ", "))]
                \(more)

                """)
        }

        mutating func start(_ count: Int = 1) throws {
            let instance = try Kymo.start(["run", "--config", "kymo.yaml"], directory: run.folder.path)
            _ = try instance.addresses(count)
            self.instance = instance
        }

        /// Has the configuration read again, and waits until the log has `words`, which it did not have before.
        func reload(_ words: String) throws {
            #expect(!log.contains(words), "\(words): \(log)")
            instance?.signal(SIGHUP)
            try Waiting.until("'\(words)' in \(log)") { log.contains(words) }
        }

        /// Has these sources read, besides the one that stays. Each time another setting changes, too, so that each
        /// message is written.
        mutating func read(_ sources: [String]) throws {
            changes += 1
            configure(sources, more: "drain: \(30 + changes)s")
            try reload("→ \(30 + changes)s")
        }

        func end() throws -> Kymo.Finished { try #require(try instance?.terminate()) }

        /// How many readings the store has, each once.
        func stored() throws -> (all: Int, times: Int) {
            let found = try Kymo.run(["query", "--readings", "--limit", "100000", "--data", run.data]).lines
            let keys = try found.map { line in
                let reading = try JSONTree(parsing: Array(line.utf8))
                return "\(reading["DeviceId"]?.text ?? "") \(reading["OccurrenceTimeUtc"]?.text ?? "")"
            }
            return (found.count, Set(keys).count)
        }
    }

    /// Three ports of 127.0.0.1 that no process had a moment ago.
    static func freePorts() -> [UInt16] {
        let sources = (0..<3).flatMap { _ in ["--tcp", "127.0.0.1:0"] }
        guard let run = try? Kymo.start(["run", "--ephemeral"] + sources) else { return [0, 0, 0] }
        let ports = (try? run.addresses(3).map(PostClient.port)) ?? [0, 0, 0]
        _ = try? run.terminate()
        return ports
    }

    /// Sends `lines` to the source `address` of `kind`; those of which the sender hears are heard of.
    func send(_ lines: [String], _ kind: Kind, to address: String) throws {
        switch kind {
        case .http:
            for start in stride(from: 0, to: lines.count, by: 100) {
                let part = Array(lines[start..<min(start + 100, lines.count)])
                let answer = try PostClient(address).exchange(PostClient.request(Readings.ndjson(part)))
                #expect(answer?.status == 200, "\(answer?.body ?? "no answer")")
            }
        case .unix, .tcp, .udp: try Sending.send(lines: lines, to: address)
        }
    }

    /// A source is removed while it is ready to be read: datagrams come, or clients connect, all the time.
    @Test(arguments: [Kind.udp, .tcp]) func removedWhileItIsBusy(kind: Kind) throws {
        var scene = Scene()
        scene.configure([scene.written(kind)])
        try scene.start(2)
        let file = scene.run.folder.file("many.ndjson")
        Files.write(Readings.ndjson(Readings.heartRates(20_000)), to: file)
        let port = scene.port(kind)
        let isOver = Mutex(false)
        let connecting = Thread {
            while kind == .tcp, !isOver.withLock({ $0 }) { _ = try? RawConnection(port: port) }
        }
        connecting.start()
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<6 {
            let sending = try Kymo.start(
                ["replay", file, "--\(kind.rawValue)", "127.0.0.1:\(port)", "--rate", "20000"])
            try scene.read([])
            _ = try? sending.finish()
            try scene.read([scene.written(kind)])
        }
        let done = try scene.end()
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
    }

    /// Added, used and removed again while another source is under load, and once more; a restart reads the same.
    @Test(arguments: Kind.allCases) func comesAndGoesUnderLoad(kind: Kind) throws {
        var scene = Scene()
        scene.configure([])
        try scene.start()
        let steady = 20_000
        let lines = scene.run.folder.write(
            "lines.ndjson", Readings.heartRates(steady).map { $0 + "\n" }.joined())
        let sender = try Kymo.start(["replay", lines, "--rate", "4000", "--unix", scene.run.folder.file("base.sock")])
        let rounds = 4
        let each = 300
        for round in 0..<rounds {
            try scene.read([scene.written(kind)])
            #expect(scene.log.contains("listening on \(scene.address(kind)), mapping reading"), "\(scene.log)")
            let readings = Readings.heartRates(each, device: "\(kind)-\(round)")
            try send(readings, kind, to: scene.address(kind))
            try scene.read([])
            #expect(throws: (any Error).self) {
                // Of datagrams, the second is refused.
                try send(Readings.heartRates(3), kind == .http ? .tcp : kind, to: gone(scene, kind))
            }
        }
        #expect(try sender.wait() == .exit(0))
        let done = try scene.end()
        let balance = try #require(done.balance)
        let sent = steady + rounds * each
        #expect(done.end == .exit(0) && balance.isClosed && balance.kernelDropped == 0, "\(done.error)")
        #expect(balance.received == sent && balance.accepted == sent, "\(done.error)")
        #expect(done.error.contains("reloads \(2 * rounds), failed 0"), "\(done.error)")
        #expect(try scene.stored() == (sent, sent))
        #expect(try scene.run.command("ledger", "--verify").end == .exit(0))
        try checkRestart(&scene, kind, sent)
    }

    /// Where the source was, for a client that only connects.
    func gone(_ scene: Scene, _ kind: Kind) -> String {
        kind == .http ? "tcp 127.0.0.1:\(scene.port(.http))" : scene.address(kind)
    }

    /// A start with the added source has it under the name that the reload gave it.
    private func checkRestart(_ scene: inout Scene, _ kind: Kind, _ sent: Int) throws {
        let names = "SELECT count(*) FROM source"
        let before = try scene.run.value(names)
        scene.configure([scene.written(kind)])
        try scene.start(2)
        try send(Readings.heartRates(1, device: "after"), kind, to: scene.address(kind))
        try Waiting.until("the reading") {
            try scene.run.json("status", "--format", "json")["sources"]?.elements?.last?["received"]?.integer == 1
        }
        let status = try scene.run.command("status").text
        #expect(try scene.end().end == .exit(0))
        #expect(try scene.run.value(names) == before, "\(status)")
        #expect(try scene.stored() == (sent + 1, sent + 1))
        let sources = try scene.run.command("sources").text
        #expect(sources.contains(scene.base) && sources.contains(scene.address(kind)), "\(sources)")
    }

    /// An address that cannot be opened refuses the whole, and says where it stands and what to do.
    @Test(arguments: Kind.allCases) func aBadAddressRefusesAll(kind: Kind) throws {
        var scene = Scene()
        scene.configure([])
        try scene.start()
        // Another instance has the address.
        let other = try Kymo.start(
            ["run", "--ephemeral", "--\(kind)", String(scene.address(kind).split(separator: " ")[1])])
        _ = try other.addresses()
        scene.configure(["{unix: good.sock}", scene.written(kind)], more: "maxFuture: 9m\ndrain: 9s")
        try scene.reload("nothing was changed")
        #expect(scene.log.contains(/SIGHUP: kymo\.yaml:8:[0-9]+: cannot (listen to|bind)/), "\(scene.log)")
        #expect(scene.log.contains("in use by another process or source"), "\(scene.log)")
        #expect(!Files.exists(scene.run.folder.file("good.sock")) && !scene.log.contains("took over"))
        try send(Readings.heartRates(5), .unix, to: scene.base)
        _ = try other.terminate()
        try scene.reload("SIGHUP: took over")
        try send(Readings.heartRates(5, device: "b"), kind, to: scene.address(kind))
        try send(Readings.heartRates(5, device: "c"), .unix, to: "unix \(scene.run.folder.file("good.sock"))")
        let done = try scene.end()
        #expect(done.end == .exit(0) && done.balance?.accepted == 15, "\(done.error)")
        #expect(done.error.contains("reloads 1, failed 1"), "\(done.error)")
    }

    /// A mapping with errors closes what was opened for the reload.
    @Test func aBadMappingRefusesAll() throws {
        var scene = Scene()
        scene.configure([])
        try scene.start()
        scene.configure(["{unix: \(scene.run.folder.file("more.sock")), mappings: [./none]}"])
        try scene.reload("the mappings have errors")
        #expect(!Files.exists(scene.run.folder.file("more.sock")))
        scene.configure([scene.written(.unix)])
        try scene.reload("SIGHUP: took over")
        try send(Readings.heartRates(5), .unix, to: scene.address(.unix))
        let done = try scene.end()
        #expect(done.end == .exit(0) && done.balance?.accepted == 5, "\(done.error)")
    }

    /// Clients of a removed source hear what was taken of theirs, and then that nothing more is read: what they have not
    /// heard of they send again, and nothing is there twice.
    @Test func acknowledgementsStayTrue() throws {
        var scene = Scene()
        scene.configure([scene.written(.unix)])
        try scene.start(2)
        let lines = Readings.heartRates(3_000)
        let client = try AckClient(scene.run.folder.file("more.sock"))
        client.send(Readings.ndjson(Array(lines[..<1_000])))
        scene.configure([])
        scene.instance?.signal(SIGHUP)
        // It goes on sending until it hears the end.
        for line in lines[1_000...] where client.isOpen { client.send(Readings.ndjson([line])) }
        try Waiting.until("the end of the connection") {
            client.receive()
            return !client.isOpen
        }
        let heard = client.acknowledged
        #expect(heard >= 1_000)
        // What it knows of is there, whatever happens now.
        scene.instance?.signal(SIGKILL)
        _ = try scene.instance?.wait()
        scene.configure([scene.written(.unix)])
        try scene.start(2)
        let again = try AckClient(scene.run.folder.file("more.sock"))
        again.send(Readings.ndjson(Array(lines[heard...])))
        try Waiting.until("all acknowledgements") {
            again.receive()
            return again.acknowledged == lines.count - heard
        }
        #expect(try scene.end().end == .exit(0))
        #expect(try scene.stored() == (3_000, 3_000))
    }

    /// Of a body that is not complete nothing is taken, and its sender hears that it is to send it again.
    @Test func anUnfinishedBody() throws {
        var scene = Scene()
        scene.configure([scene.written(.http)])
        try scene.start(2)
        let body = Readings.ndjson(Readings.heartRates(100))
        let request = PostClient.request(body)
        let (unfinished, finished) = (
            try RawConnection(port: scene.port(.http)), try RawConnection(port: scene.port(.http))
        )
        finished.send(request)
        try finished.wait("the first answer") { PostClient.answers(in: $0.received[...]).first?.status == 200 }
        unfinished.send(Array(request.dropLast(200)))
        // The lane has most likely seen the beginning before it hears of the removal; the answer is the same if not.
        usleep(300_000)
        try scene.read([])
        try unfinished.wait("the end") { $0.hasEnded }
        let answer = try #require(PostClient.answers(in: unfinished.received[...]).first)
        #expect(answer.status == 503 && answer.header.contains("close"), "\(unfinished.text)")
        try finished.wait("the end") { $0.hasEnded }
        #expect(throws: WaitError.self) { try RawConnection(port: scene.port(.http)) }
        try scene.read([scene.written(.http)])
        let more = PostClient.request(Readings.ndjson(Readings.heartRates(100, device: "again")))
        #expect(try PostClient(scene.address(.http)).exchange(more)?.status == 200)
        let done = try scene.end()
        #expect(done.end == .exit(0) && done.balance?.accepted == 200, "\(done.error)")
        #expect(try scene.stored() == (200, 200))
    }

    /// What is paused stays so when it goes and comes back, and what its senders have left in its socket is put aside.
    @Test func aPausedSourceStaysPaused() throws {
        var scene = Scene()
        scene.configure([scene.written(.unix)])
        try scene.start(2)
        let name = scene.address(.unix)
        try Waiting.until("the control socket") { try scene.run.command("status").text.contains("used by process") }
        #expect(try scene.run.command("pause", name).end == .exit(0))
        try send(Readings.heartRates(5), .unix, to: name)
        try scene.read([])
        try scene.read([scene.written(.unix)])
        try send(Readings.heartRates(7, device: "b"), .unix, to: name)
        #expect(try scene.run.command("status").text.contains("paused source \(name) for "))
        let resumed = try scene.run.command("resume", name)
        #expect(resumed.text.contains("5 dead letters put aside"), "\(resumed.text) \(resumed.error)")
        #expect(try scene.run.command("dead", "replay", "--all").end == .exit(0))
        try Waiting.until("12 accepted") { try scene.run.command("status").text.contains("accepted 12") }
        let done = try scene.end()
        #expect(done.end == .exit(0) && done.balance?.isClosed == true, "\(done.error)")
        #expect(done.balance?.reasons == ["sourcePaused": 5], "\(done.error)")
    }
}
