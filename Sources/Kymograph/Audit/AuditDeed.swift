import KymographCore

/// Something that somebody did with data of patients, or that was refused to somebody. Without identifiers: whose the
/// data are say numbers of series, as the store has them.
package struct AuditDeed: Sendable {
    /// What kind, such as `console.reveal`; ``AuditEvent`` has those that FHIR's AuditEvents tell apart.
    package var event: String
    /// Who did it: a process and its user, a session of the console, a client or peer by the name in its list.
    package var agent: String
    /// What was done, in a sentence.
    package var text: String
    /// When.
    var at = WallClock.now()

    /// What an entry of the log says of itself.
    init(_ entry: LogEntry) {
        let named = entry.fields.first { $0.name == "event" }
        if case .text(let name)? = named?.value { event = name } else { event = "other" }
        agent = entry.agent
        text = entry.text
    }

    /// What a command of this process does.
    package init(command: String, _ text: String) {
        event = command
        agent = ProcessAgent.text
        self.text = text
    }

    /// Numbers of series that a line names at most.
    private static let seriesOfLine = 400

    /// Series `numbers` as lines name them, in several parts if need be; nil stands for all that there are.
    package static func parts(series numbers: Set<Int>?) -> [String] {
        guard let numbers = numbers?.sorted() else { return ["all series"] }
        guard !numbers.isEmpty else { return ["no series"] }
        return stride(from: 0, to: numbers.count, by: seriesOfLine).map { start in
            let some = numbers[start..<min(start + seriesOfLine, numbers.count)].map(String.init)
            return (start == 0 ? "series " : "also series ") + some.joined(separator: ", ")
        }
    }
}
