/// What happened to readings that arrived all the same, counted because nobody would see it otherwise.
public struct MappingNotes: BitwiseCopyable, Sendable {
    /// Optional values that were left out because their expression selected several tokens (quirk 5).
    public var leftOut = 0
    /// Integer results of expressions that did not fit 64 bits and were wrapped around (quirk 13).
    public var wrapped = 0

    /// Nothing happened.
    public init() {}

    /// Whether nothing happened.
    public var isEmpty: Bool { leftOut == 0 && wrapped == 0 }

    /// Counts what `other` says, too.
    public mutating func add(_ other: MappingNotes) {
        leftOut += other.leftOut
        wrapped += other.wrapped
    }
}
