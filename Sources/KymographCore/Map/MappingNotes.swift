/// What happened to readings that arrived all the same, counted because nobody would see it otherwise.
package struct MappingNotes: BitwiseCopyable, Sendable {
    /// Optional values that were left out because their expression selected several tokens (quirk 5).
    package var leftOut = 0
    /// Integer results of expressions that did not fit 64 bits and were wrapped around (quirk 13).
    package var wrapped = 0

    /// Nothing happened.
    package init() {}

    /// Whether nothing happened.
    package var isEmpty: Bool { leftOut == 0 && wrapped == 0 }

    /// Counts what `other` says, too.
    package mutating func add(_ other: MappingNotes) {
        leftOut += other.leftOut
        wrapped += other.wrapped
    }
}
