import KymographCore
import Synchronization

/// One tap of a running pipeline: what it wants, and what waits for its client.
///
/// Lanes and shards offer events and never wait: without a permit, which the tap's own thread grants
/// ``TapRequest/rate`` times a second, or while the buffer is in use or full, an event is passed over and counted. A
/// client that does not read gets no further permits.
final class OpenTap: Sendable {
    private struct Buffer: Sendable {
        var events: [TapEvent] = []
        var byteCount = 0
    }

    let request: TapRequest
    /// The name of the type that is wanted.
    let type: [UInt8]?
    private let permits: Atomic<Int>
    private let passedOver = Atomic(0)
    private let buffer = Mutex(Buffer())

    /// Most bytes of events that wait for the client.
    private static let mostBytes = 1 << 20

    /// A tap that may take the events of a second at once.
    init(_ request: TapRequest) {
        self.request = request
        type = request.type.map { Array($0.utf8) }
        permits = Atomic(request.rate)
    }

    /// Whether events are wanted whatever their device and type.
    var wantsAll: Bool { request.device == nil && type == nil }

    /// Whether events of `device`, nil for none, are wanted: compared byte by byte, and in full.
    func wants(device: ByteView?) -> Bool {
        guard let wanted = request.device else { return true }
        return device?.equals(wanted.utf8) ?? false
    }

    /// Whether events of the type called `name` are wanted.
    func wants(type name: String) -> Bool { type.map { name.utf8.elementsEqual($0) } ?? true }

    // MARK: Lanes and shards

    /// Takes the event that `make` makes, or counts it as passed over. Never waits.
    func offer(_ make: () -> TapEvent) {
        guard takePermit() else { return pass() }
        let event = make()
        let isTaken = buffer.withLockIfAvailable { buffer in
            guard buffer.byteCount + event.byteCount <= OpenTap.mostBytes else { return false }
            buffer.events.append(event)
            buffer.byteCount += event.byteCount
            return true
        }
        if isTaken != true { pass() }
    }

    private func pass() { passedOver.add(1, ordering: .relaxed) }

    private func takePermit() -> Bool {
        var left = permits.load(ordering: .relaxed)
        while left > 0 {
            let (isTaken, seen) = permits.weakCompareExchange(
                expected: left, desired: left - 1, ordering: .relaxed)
            if isTaken { return true }
            left = seen
        }
        return false
    }

    // MARK: The tap's thread

    /// Lets lanes and shards take `count` further events, but no more than those of a second at once.
    func grant(_ count: Int) {
        let room = request.rate - permits.load(ordering: .relaxed)
        if count > 0, room > 0 { permits.add(min(count, room), ordering: .relaxed) }
    }

    /// The events that wait.
    func takeEvents() -> [TapEvent] {
        buffer.withLock { buffer in
            defer { buffer = Buffer() }
            return buffer.events
        }
    }

    /// How many events were passed over since the last time.
    func takePassedOver() -> Int { passedOver.exchange(0, ordering: .relaxed) }
}
