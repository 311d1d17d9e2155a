import KymographCore
import Synchronization

/// What delivers the rows of an outbox; all of it but the thread. Belongs to one thread.
protocol DeliveryWork: AnyObject {
    /// Does everything that can be done now.
    func turn()

    /// Whether rows may be taken.
    var hasRoom: Bool { get }

    /// Takes rows, for which it waits up to `milliseconds`; whether there were any.
    @discardableResult func take(waiting milliseconds: Int) -> Bool

    /// Whether nothing is under way, waiting or in hand.
    var isIdle: Bool { get }

    /// Whether rows are in hand.
    var hasRows: Bool { get }

    /// When there is something to do next, unless it is woken before; now at the earliest.
    var nextWake: Instant? { get }

    /// How things stand.
    var status: DeliveryStatus { get }

    /// Forgets what it has learnt by asking. Default: ignored.
    func forgetLookups()

    /// Sends nothing from here on; what has been sent is still answered.
    func cease()

    /// Whether the answer to something that was sent is still to come, so that the server may store it later than
    /// what others send.
    var isUnderWay: Bool { get }

    /// Forgets what is under way; answers that still come are not looked at.
    func abandon()
}

extension DeliveryWork {
    func forgetLookups() {}
}

/// Delivers the rows of an outbox to one server, on a thread of its own.
///
/// At least once, and idempotent by identity: what may have been stored is sent again as the same bundle. Nothing is
/// settled before the server has stored it or will never take it. One bundle of a device is under way at a time.
///
/// Call ``start()`` once; then ``finish()`` to end when the outbox is empty, ``cease()`` to end when what was sent is
/// answered, or ``stop()`` to end at once; ``wait`` for the end. Answers that come after a stop are lost, and what they
/// were for is delivered again by the next run.
package final class ServerDelivery: Sendable {
    private enum Phase {
        /// Delivers what there is, and waits for more.
        case running
        /// Ends when the outbox is empty.
        case finishing
        /// Sends nothing more, and ends when what it has sent is answered.
        case ceasing
        /// Ends at once.
        case stopping
        /// Its thread has ended.
        case done
    }

    private struct Shared {
        var status: DeliveryStatus
        var phase = Phase.running
        var hasStarted = false
        var forgetsLookups = false
    }

    /// How long the thread sleeps at most while rows may come, in milliseconds.
    private static let pollInterval = 50
    private static let idleInterval = 200

    private let makeWork: @Sendable (DeliveryInbox) -> any DeliveryWork
    private let clock: DeliveryClock
    private let inbox: DeliveryInbox
    private let shared: Mutex<Shared>

    /// Delivers to the server at `base` as `work` does, which is made on the thread.
    ///
    /// - Throws: when the system gives no event to wake the thread with.
    init(
        base: String, clock: DeliveryClock = .system, work: @escaping @Sendable (DeliveryInbox) -> any DeliveryWork
    ) throws(SystemError) {
        self.clock = clock
        makeWork = work
        inbox = try DeliveryInbox()
        var status = DeliveryStatus()
        status.base = base
        shared = Mutex(Shared(status: status))
    }

    /// Delivers from `queue` to a FHIR server by `transport`. Waits after failures are drawn from `random`.
    ///
    /// - Throws: when the system gives no event to wake the thread with.
    package convenience init(
        _ settings: DeliverySettings, queue: any OutboxQueue, transport: any HTTPTransport,
        authorizer: any RequestAuthorizer, clock: DeliveryClock = .system,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) throws(SystemError) {
        try self.init(base: settings.base, clock: clock) { inbox in
            DeliveryEngine(
                settings, queue: queue, transport: transport, authorizer: authorizer, clock: clock, random: random,
                inbox: inbox)
        }
    }

    /// How delivery stands; at most about a second old.
    package var status: DeliveryStatus { shared.withLock { $0.status } }

    /// Whether the thread has ended.
    package var isDone: Bool { phase == .done }

    private var phase: Phase { shared.withLock { $0.phase } }

    /// Begins, on a thread of its own; not after ``stop()``.
    package func start() {
        let begins = shared.withLock { shared in
            shared.hasStarted = shared.phase != .done
            return shared.hasStarted
        }
        if begins { WorkerThread.start("delivery") { self.run() } }
    }

    /// Ends when everything in the outbox is settled. Rows that come meanwhile are delivered too.
    package func finish() {
        shared.withLock { if $0.phase == .running { $0.phase = .finishing } }
        inbox.wake()
    }

    /// Sends nothing more, and ends when what was sent is answered, or its time is over. Others that go on where this
    /// ends would otherwise be overtaken by it: a server goes on with what it has, whether or not the connection
    /// stands.
    package func cease() {
        shared.withLock { shared in
            guard [.running, .finishing].contains(shared.phase) else { return }
            shared.phase = shared.hasStarted ? .ceasing : .done
        }
        inbox.cease()
    }

    /// Ends at once.
    package func stop() {
        shared.withLock { if $0.phase != .done { $0.phase = $0.hasStarted ? .stopping : .done } }
        inbox.end()
    }

    /// Asks the server anew for every Device, Patient and Encounter from here on.
    package func forgetLookups() {
        shared.withLock { $0.forgetsLookups = true }
        inbox.wake()
    }

    /// Waits for the end, up to `milliseconds`; whether it came.
    package func wait(milliseconds: Int) -> Bool {
        let end = clock.elapsed().advanced(by: Int64(milliseconds) * 1_000_000)
        while !isDone {
            if clock.elapsed() >= end { return false }
            Wait.milliseconds(5)
        }
        return true
    }

    // MARK: The thread

    private func run() {
        let engine = makeWork(inbox)
        while phase != .stopping {
            let forgetsLookups = shared.withLock { shared in
                defer { shared.forgetsLookups = false }
                return shared.forgetsLookups
            }
            if forgetsLookups { engine.forgetLookups() }
            let isCeasing = phase == .ceasing
            if isCeasing { engine.cease() }
            engine.turn()
            shared.withLock { $0.status = engine.status }
            if isCeasing {
                guard engine.isUnderWay else { break }
                pause(engine)
                continue
            }
            let isFinishing = phase == .finishing
            guard engine.isIdle || isFinishing && !engine.hasRows else {
                pause(engine)
                continue
            }
            // Nothing is under way: the outbox may hold the thread.
            if !engine.take(waiting: isFinishing ? 0 : Self.idleInterval), isFinishing { break }
        }
        engine.abandon()
        shared.withLock { $0.phase = .done }
    }

    private func pause(_ engine: any DeliveryWork) {
        var milliseconds = Int64(engine.hasRoom ? Self.pollInterval : 1_000)
        if let wake = engine.nextWake {
            // Rounded up: waking too early would be for nothing.
            let left = wake.nanoseconds - clock.elapsed().nanoseconds
            milliseconds = min(milliseconds, max(1, (left + 999_999) / 1_000_000))
        }
        inbox.sleep(milliseconds: Int32(milliseconds)) { phase == .stopping }
    }
}
