import Kymograph
import KymographCore

/// The letters that are replayed, by what becomes of them.
struct LetterBatch {
    private(set) var payloads: [StoredLetter]
    private(set) var entries: [StoredLetter]
    private(set) var readings: [StoredLetter]
    /// Letters of which only a part is there.
    private let parts: [StoredLetter]
    private let others: Int
    private(set) var refusals: [LetterRefusal] = []
    /// New letters of what was replayed.
    private(set) var news: [LetterRefusal] = []
    /// What kept payloads from being mapped.
    private var failure: String?

    init(_ letters: [StoredLetter], withParts: Bool) {
        parts = letters.filter { $0.bytes != nil && $0.isPart && !withParts && !$0.isUnproven }
        payloads = letters.filter { $0.kind == "payload" && $0.bytes != nil && (withParts || !$0.isPart) }
        entries = letters.filter { $0.kind == "entry" && $0.bytes != nil }
        readings = letters.filter(\.hasRecord)
        let unproven = letters.filter { $0.bytes != nil && $0.isUnproven }
        let unseen = withParts ? 0 : unproven.count
        others = letters.count - parts.count - payloads.count - entries.count - readings.count - unseen
        refuse(unproven.map { LetterRefusal($0.number, StoredLetter.unprovenText) })
    }

    /// Leaves letters as they are; the rest goes on.
    mutating func refuse(_ more: [LetterRefusal]) {
        let known = Set(refusals.map(\.letter))
        refusals += more.filter { !known.contains($0.letter) }
        let refused = Set(more.map(\.letter))
        payloads.removeAll { refused.contains($0.number) }
        entries.removeAll { refused.contains($0.number) }
        readings.removeAll { refused.contains($0.number) }
    }

    /// Notes letters that came of replayed ones.
    mutating func note(new letters: [LetterRefusal]) { news += letters }

    /// Leaves `letters`, or all payloads, which nothing has mapped for the reason of `message`.
    mutating func fail(_ message: String, of letters: [StoredLetter]? = nil) {
        failure = message
        refuse((letters ?? payloads).map { LetterRefusal($0.number, message) })
    }

    /// Leaves readings, which a running instance does not take.
    mutating func refuseReadings() {
        refuse(
            readings.map {
                LetterRefusal($0.number, "it is a reading that was mapped already: stop the instance, and replay then")
            })
    }

    /// Letters that were left since only a part of what came is there, with what could be done.
    var partRefusals: [LetterRefusal] {
        parts.map { LetterRefusal($0.number, "it holds only a part of what came: replay it as if it were all, or not") }
    }

    /// What became of the letters, for programs.
    struct Outcome: Encodable {
        /// How many were replayed, by what they hold.
        var payloads: Int
        var readings: Int
        var entries: Int
        /// Those that were left, and letters that came of replayed ones.
        var left: [LetterRefusal]
        var new: [LetterRefusal]
        /// How many cannot be replayed at all.
        var others: Int
    }

    /// What became of the letters, for programs.
    var outcome: Outcome {
        Outcome(
            payloads: payloads.count, readings: readings.count, entries: entries.count, left: refusals + partRefusals,
            new: news, others: others)
    }

    /// What was replayed.
    var text: String {
        LetterBatch.text(payloads: payloads.count, readings: readings.count, entries: entries.count)
    }

    /// What was replayed, by how many there were.
    static func text(payloads: Int, readings: Int = 0, entries: Int) -> String {
        let taken = readings == 0 ? "" : ", \(CountText.of(readings, "reading"))"
        let others = "\(entries) \(entries == 1 ? "entry" : "entries")"
        return "replayed \(CountText.of(payloads, "payload"))\(taken) and \(others)"
    }

    /// Exits with status 65 when letters were left.
    func report() throws {
        var reasons: [String] = []
        if !refusals.isEmpty {
            reasons.append("\(CountText.of(refusals.count, "letter")) left as before, for the reasons above")
        }
        if !news.isEmpty { reasons.append("\(CountText.of(news.count, "new letter")), for the reasons above") }
        if let failure { reasons.append(failure) }
        if !parts.isEmpty {
            reasons.append(
                "\(CountText.of(parts.count, one: "letter holds", many: "letters hold")) only a part of what came, and "
                    + "\(parts.count == 1 ? "was" : "were") left: "
                    + "\(LetterBatch.names(parts)); --parts replays them as if it were all")
        }
        if others > 0 {
            reasons.append(
                others == 1
                    ? "1 letter cannot be replayed: it is damaged, or a measurement that a window holds or that an "
                        + "earlier version of kymo kept"
                    : "\(others) letters cannot be replayed: they are damaged, or measurements that a window holds or "
                        + "that an earlier version of kymo kept")
        }
        guard reasons.isEmpty else {
            throw StandardError.exit(reasons.joined(separator: "; "), code: ExitStatus.dataError)
        }
    }

    /// Numbers and reasons of the first letters.
    private static func names(_ letters: [StoredLetter]) -> String {
        let named = letters.prefix(10).map { "\($0.number) (\($0.reason))" }.joined(separator: ", ")
        return letters.count > 10 ? "\(named) and \(letters.count - 10) more" : named
    }
}
