import KymographTestKit
import Synchronization

@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates

/// Delivery from an outbox to a server in memory, in a time that passes only here.
final class DeliveryRehearsal {
    /// The time; a date of 2026 at first.
    final class Time: Sendable {
        private let clock = Mutex(VirtualClock(start: Instant(seconds: 1_767_225_600)))

        var now: Instant { clock.withLock { $0.now } }
        func advance(to instant: Instant) { clock.withLock { $0.advance(to: instant) } }
        func advance(seconds: Double) { clock.withLock { $0.advance(by: Int64(seconds * 1e9)) } }
    }

    let outbox: MemoryOutbox
    let server = MemoryServer()
    let authorizer = TestAuthorizer()
    let time = Time()
    private(set) var engine: DeliveryEngine
    private let start: Instant
    private let settings: DeliverySettings
    private var seed: UInt64

    /// `checks`: the server is searched for Patients and Devices before bundles bring them.
    init(
        _ rows: [String] = [], identity: ResourceIdentityMode = .create, seed: UInt64 = 1, checks: Bool = false,
        _ change: (inout DeliverySettings) -> Void = { _ in }
    ) throws {
        outbox = MemoryOutbox(rows)
        var settings = DeliverySettings(base: "http://server/fhir/", identity: identity)
        settings.checksIdentifiers = checks
        change(&settings)
        (self.settings, self.seed) = (settings, seed)
        engine = try Self.engine(settings, outbox, server, authorizer, time, seed)
        start = time.now
    }

    private static func engine(
        _ settings: DeliverySettings, _ outbox: MemoryOutbox, _ server: MemoryServer, _ authorizer: TestAuthorizer,
        _ time: Time, _ seed: UInt64
    ) throws -> DeliveryEngine {
        DeliveryEngine(
            settings, queue: outbox, transport: server, authorizer: authorizer,
            clock: DeliveryClock(elapsed: { time.now }, civil: { time.now }), random: SeededGenerator(seed: seed),
            inbox: try DeliveryInbox())
    }

    /// Ends as SIGKILL does, and begins again behind what is settled.
    func restart() throws {
        engine.channel.abandon()
        seed += 1
        engine = try Self.engine(settings, outbox, server, authorizer, time, seed)
    }

    deinit { engine.channel.abandon() }

    /// Seconds since the begin.
    var seconds: Double { Double(time.now.nanoseconds - start.nanoseconds) / 1e9 }

    /// Does what can be done without waiting.
    func turn() { engine.turn() }

    /// Lets time pass until all is settled, or `seconds` since the begin; how often the engine woke.
    @discardableResult
    func run(seconds limit: Double = 86_400) -> Int {
        var wakes = 0
        while true {
            engine.turn()
            wakes += 1
            if engine.rows.count == 0 && outbox.isSettled { return wakes }
            guard let wake = engine.nextWake else { return wakes }
            let end = start.advanced(by: Int64(limit * 1e9))
            if wake > end {
                time.advance(to: end)
                return wakes
            }
            time.advance(to: max(wake, time.now.advanced(by: 1)))
        }
    }

    /// Values of the Observations on the server, by id.
    var values: [String: Int] {
        var values: [String: Int] = [:]
        for (key, resource) in server.resources where key.hasPrefix("Observation/") {
            let quantity = resource["valueQuantity"] as? [String: Any]
            let identifier = (resource["identifier"] as? [[String: String]])?.first?["value"] ?? ""
            values[String(identifier.dropFirst())] = quantity?["value"] as? Int
        }
        return values
    }

    /// Entries of a request's bundle, as method and URL.
    static func entries(_ request: HTTPRequest) -> [String] {
        let entries = JSONNode.answer(request.body)?.child("entry")?.elements ?? []
        return entries.compactMap { entry in
            let request = entry.child("request")
            return request.map { "\($0.child("method")?.string ?? "") \($0.child("url")?.string ?? "")" }
        }
    }
}
