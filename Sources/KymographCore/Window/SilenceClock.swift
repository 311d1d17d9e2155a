/// When something was received, on a clock that is never set.
///
/// Receive times follow the wall clock, which NTP or an operator sets, so that the difference of two of them is no
/// length of time. Each look notes what both clocks show. Between two looks, both are taken to run evenly: a step is
/// placed to within one look, and a receive clock that runs at half its pace is followed.
///
/// Instants of the clock that is never set count from any moment, and serve for lengths of time only.
struct SilenceClock {
    /// What both clocks showed at one moment.
    private struct Look: BitwiseCopyable {
        var received: Instant
        var steady: Instant
    }

    /// How far, in nanoseconds, a look lies off the line between its neighbours if it is worth keeping.
    private static let tolerance: Int64 = 10_000_000
    /// Enough for the steps that a clock makes within the longest silence; older ones are forgotten.
    private static let mostLooks = 64

    private var looks: [Look] = []
    /// The last of them; all of the past before the first.
    private var last = Look(received: .distantPast, steady: .distantPast)

    /// What the clock that is never set showed at the last look.
    var now: Instant { last.steady }

    /// Notes that the receive clock shows `received` when the clock that is never set shows `steady`.
    mutating func look(at received: Instant, steady: Instant) {
        let new = Look(received: received, steady: steady)
        guard received > last.received || looks.isEmpty else {
            // What is received meanwhile has the same time, and may have come as late as this.
            last.steady = max(last.steady, steady)
            looks[looks.count - 1] = last
            return
        }
        if looks.count > 1, Self.isOnLine(last, from: looks[looks.count - 2], to: new) { looks.removeLast() }
        looks.append(new)
        last = new
        if looks.count > Self.mostLooks { looks.removeFirst() }
    }

    /// What the clock that is never set showed at `received`: no later than at the last look, and the distant past
    /// before the first one.
    @inline(__always)
    func moment(of received: Instant) -> Instant {
        received >= last.received ? last.steady : earlierMoment(of: received)
    }

    @inline(never)
    private func earlierMoment(of received: Instant) -> Instant {
        guard let next = looks.firstIndex(where: { $0.received > received }) else { return last.steady }
        guard next > 0 else { return Self.moment(of: received, before: looks[0]) }
        return Self.moment(of: received, between: looks[next - 1], looks[next])
    }

    /// Of what was set before the first look nothing is known.
    private static func moment(of received: Instant, before first: Look) -> Instant {
        let (length, isEndless) = first.received.nanoseconds.subtractingReportingOverflow(received.nanoseconds)
        return isEndless ? .distantPast : first.steady.advanced(by: -length)
    }

    private static func moment(of received: Instant, between one: Look, _ other: Look) -> Instant {
        let (shown, passed) = (
            other.received.nanoseconds &- one.received.nanoseconds, other.steady.nanoseconds &- one.steady.nanoseconds
        )
        let part = received.nanoseconds &- one.received.nanoseconds
        // Exact where both clocks agree.
        return one.steady.advanced(
            by: shown == passed ? part : Int64(Double(part) / Double(shown) * Double(passed)))
    }

    private static func isOnLine(_ look: Look, from one: Look, to other: Look) -> Bool {
        let expected = moment(of: look.received, between: one, other)
        return abs(expected.nanoseconds &- look.steady.nanoseconds) <= tolerance
    }
}
