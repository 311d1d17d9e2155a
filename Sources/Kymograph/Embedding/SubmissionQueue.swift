import KymographCore
import Synchronization

/// Payloads on their way from the program to the lane that reads them, and what the lane says of them.
///
/// Of a socket pair, the program's end wakes the lane, and gets back a byte for each payload that is durable, by which
/// a thread of the queue settles tickets, in order.
final class SubmissionQueue: Sendable {
    /// A payload that waits for the lane.
    struct Waiting: Sendable {
        var bytes: [UInt8]
        var ticket: SubmissionTicket
    }

    /// A payload that the lane has handed on.
    private struct HandedOn {
        var ticket: SubmissionTicket
        var receipt: SubmissionReceipt
    }

    private struct State {
        var waiting: [Waiting] = []
        var waitingBytes = 0
        /// Tickets of payloads that the lane has taken and not handed on, in their order.
        var taken: ArraySlice<SubmissionTicket> = []
        /// Whether the lane has been woken, and has not looked yet.
        var isRung = false
        var isClosed = false
        /// What the lane is at.
        var receipt = SubmissionReceipt()
        var handedOn: [HandedOn] = []
        /// Whether the thread that settles tickets has ended.
        var hasSettled = false
    }

    /// Bytes that may wait for the lane before ``offer(_:)`` takes no more.
    private static let mostBytes = 4 << 20

    private let state = Mutex(State())
    private let sockets: SocketPair
    private let longestPayload: Int
    private let isDurable: Bool

    /// A queue for the source `name`. `isDurable` is whether readings are kept.
    ///
    /// - Throws: ``SourceError`` when the process has no descriptor left.
    init(_ name: String, longestPayload: Int, isDurable: Bool) throws(SourceError) {
        sockets = try SocketPair(for: name)
        self.longestPayload = longestPayload
        self.isDurable = isDurable
    }

    /// The lane's end.
    var lane: Descriptor { sockets.lane }

    /// Starts the thread that settles tickets.
    func start() {
        WorkerThread.start("kymo-receipts") { [self] in
            while case let count = sockets.receive(), count > 0 { settle(count) }
            fail()
        }
    }

    // MARK: The program

    /// Takes a payload. Unless `waits`, only while there is room.
    ///
    /// - Throws: ``SubmissionError``; nothing was taken then.
    func take(_ bytes: [UInt8], waits: Bool) throws(SubmissionError) -> SubmissionTicket {
        guard bytes.count <= longestPayload else { throw .tooLong(limit: longestPayload) }
        let ticket = SubmissionTicket()
        let wakes = try state.withLock { (state) throws(SubmissionError) in
            if state.isClosed { throw .stopped }
            if !waits, state.waitingBytes >= SubmissionQueue.mostBytes { throw .full }
            state.waiting.append(Waiting(bytes: bytes, ticket: ticket))
            state.waitingBytes += bytes.count
            defer { state.isRung = true }
            return !state.isRung
        }
        if wakes { sockets.wakeLane() }
        return ticket
    }

    /// Ends the queue after the run: tickets that nobody has settled fail. Returns when that is done.
    func end() {
        sockets.hangUp()
        while !state.withLock({ $0.hasSettled }) { Wait.microseconds(200) }
    }

    // MARK: The lane

    /// What waits; with `isLast`, the queue takes no more after it.
    func takeWaiting(isLast: Bool) -> [Waiting] {
        state.withLock { state in
            defer { (state.waiting, state.waitingBytes, state.isRung) = ([], 0, false) }
            if isLast { state.isClosed = true }
            state.taken += state.waiting.map(\.ticket)
            return state.waiting
        }
    }

    /// Notes that `count` readings of the payload that the lane is at were counted; rejected ones are among them.
    func note(received count: Int) { state.withLock { $0.receipt.readings += count } }

    /// Notes that a reading of the payload that the lane is at was rejected.
    func note(rejected reading: RejectedPayload) { state.withLock { $0.receipt.rejected.append(reading) } }

    /// Notes that the lane is done with the first of the payloads that it has taken; its byte comes when that is
    /// durable.
    func handedOnNext() {
        state.withLock { state in
            // After a forced end, the ticket has its outcome already.
            guard let ticket = state.taken.popFirst() else { return }
            state.receipt.readings -= state.receipt.rejected.count
            state.receipt.isDurable = isDurable
            state.handedOn.append(HandedOn(ticket: ticket, receipt: state.receipt))
            state.receipt = SubmissionReceipt()
        }
    }

    // MARK: Receipts

    private func settle(_ count: Int) {
        let done = state.withLock { state in
            let done = state.handedOn.prefix(count)
            state.handedOn.removeFirst(done.count)
            return done
        }
        for payload in done { payload.ticket.settle(.success(payload.receipt)) }
    }

    /// Takes no more, and fails what is left.
    private func fail() {
        let (waiting, begun) = state.withLock { state in
            state.isClosed = true
            defer { (state.waiting, state.waitingBytes, state.taken, state.handedOn) = ([], 0, [], []) }
            return (state.waiting, state.handedOn.map(\.ticket) + state.taken)
        }
        for ticket in begun { ticket.settle(.failure(.unconfirmed)) }
        for payload in waiting { payload.ticket.settle(.failure(.stopped)) }
        state.withLock { $0.hasSettled = true }
    }
}
