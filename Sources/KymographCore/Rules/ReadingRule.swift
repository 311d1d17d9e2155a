/// What becomes of certain readings before they are filed: a rule of docs/rules.md.
package struct ReadingRule: Sendable {
    /// What is done with a reading that the rule is about.
    package enum Action: String, CaseIterable, Sendable {
        /// It is taken: later rules are not asked.
        case accept
        /// It is counted, and nothing is kept of it.
        case drop
        /// It is counted and kept as a dead letter.
        case reject
        /// It gets other values, or tags, and later rules are asked about what it is then.
        case rewrite

        /// Why the reading is not taken; nil when it is.
        package var rejection: Rejection? {
            switch self {
            case .accept, .rewrite: nil
            case .drop: .droppedByRule
            case .reject: .rejectedByRule
            }
        }
    }

    /// Its name in counters and letters.
    package var name: String
    /// What is done.
    package var action = Action.reject
    /// Patterns of the names of the sources whose readings it is about; empty for all.
    package var sources: [String] = []
    /// Patterns of the names of the types; empty for all.
    package var types: [String] = []
    /// Devices; empty for all.
    package var devices: [NamePattern] = []
    /// Patients, one of which a reading must be of; empty for all, and for readings of none.
    package var patients: [NamePattern] = []
    /// The value that ``below`` and ``above`` are about; nil for the first.
    package var value: String?
    /// Readings whose value is less than this; nil for any.
    package var below: Decimal64?
    /// Readings whose value is greater than this; nil for any.
    package var above: Decimal64?
    /// Readings for which this gives something true; nil for any.
    package var condition: RuleExpression?
    /// Values that it sets.
    package var changes: [RuleChange] = []
    /// Tags that it adds, each `system|code` or `code`.
    package var tags: [String] = []
    /// Tags that it adds by what a reading says.
    package var computedTags: [ComputedTags] = []

    /// A rule about all readings.
    package init(name: String) { self.name = name }
}
