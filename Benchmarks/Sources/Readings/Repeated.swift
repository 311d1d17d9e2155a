/// A stage in a box, so that the closures of a benchmark can share it.
package final class Repeated<Kind: Stage & ~Copyable>: @unchecked Sendable {
    private var stage: Kind

    /// Boxes `stage`.
    package init(_ stage: consuming Kind) { self.stage = stage }

    /// Takes the next `count` readings.
    package func run(_ count: Int) { stage.run(count) }
}
