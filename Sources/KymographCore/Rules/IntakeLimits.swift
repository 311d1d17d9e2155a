/// What is taken of each source, whatever a reading says: which types, up to which time, and which types are paused. Of
/// one thread.
package struct IntakeLimits {
    /// What one source takes.
    package struct Source: Sendable {
        /// Patterns of the names of types; empty for all.
        package var types: [String]
        /// Readings of this time and later are not taken, of an interval when it ends later; nil for no end.
        package var until: Instant?

        /// A source that takes all, but for what is named.
        package init(types: [String] = [], until: Instant? = nil) { (self.types, self.until) = (types, until) }
    }

    /// By the number of a type, whether it is taken; empty when all are.
    private let allowed: [[Bool]]
    private let ends: [Instant]
    /// By the number of a type.
    private let paused: [Bool]
    /// Whether anything is not taken.
    package let isOn: Bool
    /// Whether the time that readings cover matters.
    package let hasEnds: Bool

    /// Everything is taken.
    package init() { (allowed, ends, paused, isOn, hasEnds) = ([], [], [], false, false) }

    /// What `sources`, by their numbers, take of `types`, while those in `pausedTypes` are paused.
    package init(_ sources: [Source], pausedTypes: Set<String>, types: [MeasurementType]) {
        allowed = sources.map { source in
            let patterns = source.types.map(NamePattern.init)
            return patterns.isEmpty ? [] : types.map { type in patterns.contains { $0.matches(type.name.utf8) } }
        }
        ends = sources.map { $0.until ?? .distantFuture }
        paused =
            pausedTypes.isEmpty
            ? [] : types.map { type in pausedTypes.contains { $0.utf8.elementsEqual(type.name.utf8) } }
        hasEnds = sources.contains { $0.until != nil }
        isOn = hasEnds || !pausedTypes.isEmpty || sources.contains { !$0.types.isEmpty }
    }

    /// Why a reading of type number `type` from source `source` is not taken, which is of `instant` and covers `length`
    /// nanoseconds up to then.
    package func refusal(type: Int, source: Int, at instant: Instant, length: Int64) -> Rejection? {
        if !allowed[source].isEmpty, !allowed[source][type] { return .typeNotAllowed }
        // The end of an interval is no part of it: one may last up to the stop.
        let last = length > 0 ? instant.advanced(by: -1) : instant
        if last >= ends[source] { return .afterStopDate }
        return !paused.isEmpty && paused[type] ? .typePaused : nil
    }
}
