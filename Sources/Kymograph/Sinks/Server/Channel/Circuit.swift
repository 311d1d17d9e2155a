import KymographCore

/// Whether a server is asked at all: not for a while after several failures in a row, and then with one request first.
struct Circuit {
    /// The states.
    enum State: Hashable {
        /// Requests are sent.
        case closed
        /// Nothing is sent until then.
        case open(until: Instant)
        /// One request is sent, to see.
        case halfOpen
    }

    /// Failures in a row that open the circuit.
    static let threshold = 5

    private(set) var state = State.closed
    /// Failures since the last answer.
    private(set) var failures = 0
    private let backoff: Backoff

    init(_ backoff: Backoff) { self.backoff = backoff }

    /// Notes an answer.
    mutating func succeed() {
        failures = 0
        state = .closed
    }

    /// Notes a failure.
    mutating func fail(now: Instant, using random: inout any RandomNumberGenerator) {
        failures += 1
        guard failures >= Circuit.threshold else { return }
        if case .open(let until) = state, until > now { return }
        // Half of the bound at least: an open circuit that opens at once again would be none.
        let wait = backoff.bound(failures: failures) / 2
        state = .open(until: now.advanced(by: wait + backoff.wait(failures: failures, using: &random) / 2))
    }

    /// Lets an open circuit become half open when its time is up.
    mutating func advance(to now: Instant) {
        if case .open(let until) = state, until <= now { state = .halfOpen }
    }
}
