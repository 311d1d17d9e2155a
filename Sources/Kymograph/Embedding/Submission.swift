import Synchronization

/// What became of a payload that a program has submitted.
public struct SubmissionReceipt: Sendable {
    /// Readings that the payload gave and that went on to windows. Whether one was there already is known there, and
    /// counted in ``EngineSummary/duplicate``.
    public internal(set) var readings = 0
    /// What was rejected of it, with reasons and bytes.
    public internal(set) var rejected: [RejectedPayload] = []
    /// Whether all of it is on the disk, as readings or dead letters, and survives the end of the process. False where
    /// nothing is kept (``EngineConfiguration/Storage-swift.enum/ephemeral``).
    public internal(set) var isDurable = false
}

/// Why a payload was not taken, or nobody knows what became of it.
public enum SubmissionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The configuration names no such source to submit to.
    case unknownSource(String)
    /// The payload has more bytes than this, which `limits.lineBytes` sets.
    case tooLong(limit: Int)
    /// Too much waits to be mapped: try again later. Nothing was taken.
    case full
    /// The engine is stopping or has ended. Nothing was taken.
    case stopped
    /// The payload was taken, and the run ended before it was known to be durable. Submitted again to the next run, it
    /// is counted as duplicate if it arrived.
    case unconfirmed

    /// What happened and what to do, in a sentence without final stop.
    public var description: String {
        switch self {
        case .unknownSource(let name): "there is no source '\(name)' to submit to; name it in the configuration"
        case .tooLong(let limit):
            "the payload is longer than \(limit) bytes; submit its parts, or raise limits.lineBytes"
        case .full: "too much waits to be mapped; try again later"
        case .stopped: "the engine takes no more; submit to the next one"
        case .unconfirmed: "the run ended before the payload was durable; submit it to the next one"
        }
    }
}

/// A payload that was taken, and of which one may hear what became.
public struct Submission: Sendable {
    let ticket: SubmissionTicket

    /// Waits until everything of the payload is durable, or, where nothing is kept, handed on. May be asked again, and
    /// by several tasks. Cancelling the task does not end the wait: the payload has been taken.
    ///
    /// - Throws: ``SubmissionError/stopped`` when the engine ended before it looked at the payload;
    ///   ``SubmissionError/unconfirmed`` when it ended in between.
    public func receipt() async throws(SubmissionError) -> SubmissionReceipt { try await ticket.outcome().get() }
}

/// What is to become known of one payload.
final class SubmissionTicket: Sendable {
    typealias Outcome = Result<SubmissionReceipt, SubmissionError>

    private struct State {
        var outcome: Outcome?
        var waiting: [CheckedContinuation<Outcome, Never>] = []
    }

    private let state = Mutex(State())

    /// Waits for the outcome.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.outcome == nil { state.waiting.append(continuation) }
                return state.outcome
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Tells the outcome; the first one counts.
    func settle(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            guard state.outcome == nil else { return [CheckedContinuation<Outcome, Never>]() }
            state.outcome = outcome
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: outcome) }
    }
}
