/// What a person may do in the console, the least first.
package enum ConsoleRole: String, CaseIterable, Codable, Comparable, Sendable {
    /// See counts, health, and dead letters without what identifies anybody.
    case view
    /// Also reveal, replay and discard dead letters.
    case operate
    /// Also save mappings, where `console.edit` allows it.
    case edit

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The one that may do less is less.
    package static func < (left: ConsoleRole, right: ConsoleRole) -> Bool { left.rank < right.rank }
}
