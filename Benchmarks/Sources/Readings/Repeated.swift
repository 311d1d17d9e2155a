/// A stage in a box, so that the closures of a benchmark can share it.
public final class Repeated<Kind: Stage & ~Copyable>: @unchecked Sendable {
    private var stage: Kind

    /// Boxes `stage`.
    public init(_ stage: consuming Kind) { self.stage = stage }

    /// Takes the next `count` readings.
    public func run(_ count: Int) { stage.run(count) }
}
