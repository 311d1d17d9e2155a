import KymographCore

/// What became of the readings of each item of the bodies of one lane. They are kept and forgotten by bodies: one
/// without some of its items tells nothing.
struct DurableItems {
    /// What a shard tells of an item of which not all readings were accepted.
    struct Part {
        /// The number of the item's count.
        var number: Int
        var outcomes: ReadingOutcomes
    }

    /// Most parts and bodies that are kept, taken together.
    static let most = 131_072

    /// By the lane's numbers of bodies, in any order.
    private var bodies: [Int: [Part]] = [:]
    /// How many parts and bodies there are.
    private var kept = 0
    /// The newest body that was forgotten; older ones are forgotten, too.
    private var forgottenThrough = 0

    /// Adds a shard's part of an item of `body`, and forgets the oldest bodies where there is no room.
    mutating func add(_ count: CountedReadings, of body: Int) {
        guard body > forgottenThrough else { return }
        if bodies[body] == nil { (bodies[body], kept) = ([], kept + 1) }
        if !count.outcomes.isEmpty {
            bodies[body]?.append(Part(number: count.number, outcomes: count.outcomes))
            kept += 1
        }
        while kept > Self.most {
            forgottenThrough += 1
            _ = take(forgottenThrough)
        }
    }

    /// Takes all parts of `body`; nil when it is forgotten.
    mutating func take(_ body: Int) -> [Part]? {
        guard let parts = bodies.removeValue(forKey: body) else { return nil }
        kept -= parts.count + 1
        return parts
    }
}
