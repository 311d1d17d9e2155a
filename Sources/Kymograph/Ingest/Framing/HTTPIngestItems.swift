import KymographCore

/// What became of the readings of each line or document of a body, for a sender that asks for it.
///
/// The lane counts those of each by themselves: nothing is kept for each reading. ``DurableItems`` bounds the counts,
/// apart from those of bodies that are counted as a whole.
struct HTTPIngestItems: Sendable {
    /// Most lines or documents of such a body.
    static let most = 1_000
    /// Most reasons that are told of one.
    private static let mostReasons = 4
    private static let longestReason = Rejection.allCases.map(\.name.utf8.count).max() ?? 0
    private static let names = ["new", "known", "replaced", "retractions"]

    private struct Item {
        /// Why anything of it was rejected before it was a reading.
        var reasons: [Rejection]
        var count: ReadingCount
    }

    private var items: [Item] = []

    /// Adds the next line or document: why anything of it was rejected, and its readings.
    mutating func add(_ reasons: [Rejection], _ count: ReadingCount) {
        items.append(Item(reasons: Array(reasons.prefix(Self.mostReasons)), count: count))
    }

    // MARK: The reply

    /// The end of a reply, where all of it is known, or nil; takes what is known of all.
    func text(from consumer: inout some PayloadConsumer & ~Copyable) -> String? {
        guard let known = outcomes(from: &consumer) else { return nil }
        var (taken, sum, texts) = (0, ReadingOutcomes(), [String]())
        for item in items {
            let outcomes = known[item.count.number] ?? ReadingOutcomes()
            taken += item.count.taken
            sum.add(outcomes)
            texts.append(Self.text(of: item, outcomes))
        }
        let sums = HTTPIngestReport.text(of: taken, sum).dropLast()
        return "\(sums)\(Self.start)\(texts.joined(separator: ","))]}"
    }

    /// What became of the readings of each, by the numbers of their counts: of all that are missing, all were accepted.
    private func outcomes(from consumer: inout some PayloadConsumer & ~Copyable) -> [Int: ReadingOutcomes]? {
        guard let counted = items.first(where: { $0.count.number != 0 }) else { return [:] }
        return consumer.takeItems(of: counted.count)
    }

    private static let start = ",\"items\":["

    private static func text(of item: Item, _ outcomes: ReadingOutcomes) -> String {
        let new = item.count.taken - outcomes.total
        let counts = [new, outcomes.duplicate, outcomes.conflict, outcomes.retractions]
        var members = zip(names, counts).filter { $0.1 > 0 }.map { "\"\($0.0)\":\($0.1)" }
        if !item.reasons.isEmpty || !outcomes.reasons.isEmpty {
            let reasons = item.reasons + outcomes.reasons.all.filter { !item.reasons.contains($0) }
            let texts = reasons.prefix(mostReasons).map { "\"\($0.name)\"" }
            members.append("\"rejected\":[\(texts.joined(separator: ","))]")
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// The end of a reply of which nothing more is known, as long as that of one that tells all.
    var room: String { "}" + String(repeating: " ", count: roomBytes - 1) }

    /// Bytes of ``room``.
    var roomBytes: Int {
        items.reduce(HTTPIngestReport.roomBytes + Self.start.utf8.count + 1) { $0 + Self.mostBytes(of: $1) + 1 }
    }

    /// Most bytes of the text of `item`: each of its readings is counted once, and may give one reason.
    private static func mostBytes(of item: Item) -> Int {
        let taken = item.count.taken
        guard taken > 0 else { return text(of: item, ReadingOutcomes()).utf8.count }
        // With quotation marks, a colon and a comma.
        let members = names.map { $0.utf8.count + String(taken).utf8.count + 4 }.sorted(by: >).prefix(taken)
        let reasons = min(mostReasons, item.reasons.count + taken)
        return members.reduce(0, +) + "{\"rejected\":[]}".utf8.count + reasons * (longestReason + 3)
    }
}
