import KymographCore

/// How many there are for each reason.
package struct ReasonCounts: Codable, Hashable, Sendable {
    private var counts: [String: Int]

    /// Counts by the name of the reason.
    init(_ counts: [String: Int] = [:]) { self.counts = counts.filter { $0.value > 0 } }

    /// Counts by reason.
    init(_ counts: [Rejection: Int]) {
        self.init(Dictionary(counts.map { ($0.key.name, $0.value) }, uniquingKeysWith: +))
    }

    /// Adds all of `others`.
    mutating func add(_ others: ReasonCounts) { counts.merge(others.counts, uniquingKeysWith: +) }

    /// All of them.
    package var total: Int { counts.values.reduce(0, +) }

    /// How many there are, with the reasons and how many each has: `3 (identityAmbiguous 2, serverRefused 1)`.
    package var text: String { counts.isEmpty ? "0" : "\(total) (\(reasons))" }

    /// The reasons with how many each has, by name.
    package var reasons: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    /// Reads an object with a number for each reason.
    ///
    /// - Throws: What the decoder throws when there is no such object.
    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: Int].self))
    }

    /// Writes an object with a number for each reason.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(counts)
    }
}
