package import KymographCore

/// Finds, in the output of a pipeline as it comes piece by piece, the time of each Observation: its
/// `effectiveDateTime`, or the end of its `effectivePeriod`. Whether these are lines or bundles does not matter.
package struct EffectiveTimes {
    private enum Step {
        /// An element that ends before `end`, with a time if that is in UTC.
        case element(Instant?, end: Int)
        /// There is no further one; what comes next may complete what begins here.
        case rest(from: Int)
    }

    private var waiting: [UInt8] = []
    private static let name = Array("\"effective".utf8)
    private static let dateTime = Array("DateTime\":\"".utf8)
    private static let quote = UInt8(ascii: "\"")

    /// Begins before the first byte.
    package init() {}

    /// Takes the next piece, and calls `found` with each time that it completes. Times that are not in UTC are passed
    /// over.
    package mutating func take(_ piece: ArraySlice<UInt8>, found: (Instant) -> Void) {
        waiting += piece
        var place = 0
        while true {
            switch next(from: place) {
            case .element(let time, let end):
                if let time { found(time) }
                place = end
            case .rest(let start):
                waiting.removeFirst(start)
                return
            }
        }
    }

    private func next(from start: Int) -> Step {
        guard let place = nameBegins(from: start) else {
            return .rest(from: max(start, waiting.count - Self.name.count + 1))
        }
        let after = place + Self.name.count
        guard after < waiting.count, let text = waiting[after] == UInt8(ascii: "D") ? dateTime(after) : periodEnd(after)
        else { return .rest(from: place) }
        return .element(TimestampText.instant(waiting[text]), end: text.upperBound)
    }

    private func nameBegins(from start: Int) -> Int? {
        var place = start
        while let quote = waiting[place...].firstIndex(of: Self.quote) {
            if waiting[quote...].starts(with: Self.name) { return quote }
            place = quote + 1
        }
        return nil
    }

    /// Where the time of `DateTime":"…"` stands.
    private func dateTime(_ start: Int) -> Range<Int>? {
        let first = start + Self.dateTime.count
        guard first <= waiting.count, let end = waiting[first...].firstIndex(of: Self.quote) else { return nil }
        return first..<end
    }

    /// Where the last time of `Period":{…}` stands.
    private func periodEnd(_ start: Int) -> Range<Int>? {
        guard let brace = waiting[start...].firstIndex(of: UInt8(ascii: "}")), brace > start + 1 else { return nil }
        let end = brace - 1
        let first = (waiting[start..<end].lastIndex(of: Self.quote) ?? start) + 1
        return first..<end
    }
}
