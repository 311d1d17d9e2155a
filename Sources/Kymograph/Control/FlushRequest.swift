package import KymographCore

/// Which open windows to close at once.
package struct FlushRequest: Codable, Sendable {
    /// Patterns of names of types; empty for all.
    package var types: [String]
    /// Patterns of devices; empty for all.
    package var devices: [IdentifierText]

    /// Windows of these types and devices.
    package init(types: [String] = [], devices: [IdentifierText] = []) { (self.types, self.devices) = (types, devices) }
}

/// Which flush to look at.
package struct FlushLook: Codable, Sendable {
    /// Its number, by the answer to the request.
    package var number: Int
    /// Whether to count what waits, which is work for a large outbox; else it is only said whether something does.
    package var counts: Bool
}

/// How far windows have come that were closed because somebody asked for it.
package struct FlushAnswer: Codable, Sendable {
    /// The number of the flush; another process gives other ones.
    package var number: Int
    /// How many were closed; nil before all shards have done it.
    package var closed: Int?
    /// Whether what they show is on disk, or in the file that is the only sink.
    package var isDurable = false
    /// Rows of the outbox, up to the last one with such a window, that each sink has not taken.
    package var waiting: [String: Int] = [:]
    /// Entries of these rows that each sink has refused for good, and that are dead letters.
    package var refused: [String: Int] = [:]
    /// Resources of these rows of which each server has kept an earlier version.
    package var lacking: [String: Int] = [:]

    /// Nothing yet.
    init(number: Int, closed: Int? = nil) { (self.number, self.closed) = (number, closed) }

    /// Whether no sink has anything of it left to do, whatever it has made of it.
    package var isSettled: Bool { closed != nil && isDurable && waiting.values.allSatisfy { $0 == 0 } }

    /// Whether every sink has all of it.
    package var isDelivered: Bool { isSettled && refused.isEmpty && lacking.isEmpty }
}
