/// Runs kinds of work in turns, so that what else the machine does hits all alike.
struct Race {
    private struct Entrant {
        let items: Int
        let run: () -> Void
    }

    private var entrants: [Entrant] = []
    private let turns: Int

    /// Each gets `turns` turns.
    init(turns: Int) { self.turns = turns }

    /// Adds work on `items` at a time; its place among the entrants is its number.
    mutating func add(_ items: Int, _ run: @escaping () -> Void) { entrants.append(Entrant(items: items, run: run)) }

    /// Nanoseconds per item of each entrant, by turn. The first turn only warms up.
    func run() -> [[Double]] {
        (0...turns).map { _ in
            entrants.map { entrant in
                let taken = ContinuousClock().measure(entrant.run)
                return taken / .nanoseconds(1) / Double(entrant.items)
            }
        }.suffix(turns)
    }

    /// The middle one of `values`.
    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
