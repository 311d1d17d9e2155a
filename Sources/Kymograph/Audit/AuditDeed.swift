import KymographCore

/// Something that somebody did with data of patients, or that was refused to somebody. Without identifiers: whose the
/// data are say numbers of series, as the store has them.
package struct AuditDeed: Sendable {
    /// What kind.
    package var kind: DeedKind
    /// Who did it: a process and its user, a session of the console, a client or peer by the name in its list.
    package var agent: String
    /// What was done, in a sentence.
    package var text: String
    /// When.
    var at = WallClock.now()

    /// What an entry of the log says of itself; nil when it is not for the audit.
    init?(_ entry: LogEntry) {
        guard let deed = entry.deed else { return nil }
        (kind, agent) = deed
        text = entry.text
    }

    /// What this process does.
    package init(_ kind: DeedKind, _ text: String) {
        self.kind = kind
        agent = ProcessAgent.text
        self.text = text
    }

    /// Bytes of numbers in a line at most: with what stands around them they must not be cut.
    private static let numbersOfLine = 2_400

    /// Series `numbers` as lines name them, in several parts if need be; nil stands for all that there are.
    package static func parts(series numbers: Set<Int>?) -> [String] {
        guard let numbers else { return ["all series"] }
        return parts("series", numbers.sorted().map { "\($0)" })
    }

    /// `numbers` of `things`, or ranges of them: all of them, in as many parts as lines are needed. The first one may
    /// begin with something else (`first`).
    package static func parts(_ things: String, first: String? = nil, _ numbers: [String]) -> [String] {
        guard !numbers.isEmpty else { return ["no \(things)"] }
        var parts: [String] = []
        var part = ""
        for number in numbers {
            if part.utf8.count + number.utf8.count > numbersOfLine {
                parts.append(part)
                part = ""
            }
            part += part.isEmpty ? number : ", \(number)"
        }
        return (parts + [part]).enumerated().map {
            $0 == 0 ? "\(first ?? things) \($1)" : "also \(things) \($1)"
        }
    }
}
