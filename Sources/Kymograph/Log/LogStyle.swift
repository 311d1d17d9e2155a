import KymographCore

/// The forms of the log that can be asked for.
package enum LogFormat: String, CaseIterable, Sendable {
    /// ``journald`` where standard error is the journal of systemd, else ``text``.
    case auto
    /// Lines for people.
    case text
    /// A JSON object in each line.
    case json
    /// Lines with the priorities of syslog, which journald reads (sd-daemon(3)).
    case journald
}

/// How lines of the log are written.
package enum LogStyle: Hashable, Sendable {
    /// `kymo: message`.
    case short
    /// `2026-03-01T08:00:00.123Z warning kymo: message`.
    case timed
    /// `{"time":…,"level":…,"message":…}`.
    case json
    /// `<4>message`.
    case journald

    /// The style for `format`. `isJournal`: standard error is the journal, which has times of its own.
    /// `endsByItself`: the run is a command among others in a shell, which end.
    package init(_ format: LogFormat, isJournal: Bool, endsByItself: Bool) {
        switch format {
        case .auto where isJournal: self = .journald
        case .auto, .text: self = isJournal || endsByItself ? .short : .timed
        case .json: self = .json
        case .journald: self = .journald
        }
    }

    /// Whether people read it as it is.
    var isText: Bool { self == .short || self == .timed }

    /// The line, or lines, of an entry, with their line feeds. `isPlain`: without the name of the program in the short
    /// style, as compilers write what they find in files.
    func line(_ entry: LogEntry, at now: Instant, isPlain: Bool = false) -> String {
        let text = LogStyle.shown(entry.text)
        switch self {
        case .short: return "\(isPlain ? "" : "kymo: ")\(text)\n"
        case .timed: return "\(LogStyle.time(now)) \(entry.level.rawValue) kymo: \(text)\n"
        case .json: return PrintableText.lines(LogStyle.object(entry, now)) + "\n"
        case .journald:
            // Each line is an entry of its own there. Empty ones are left out.
            return text.split(separator: "\n").map { "<\(entry.level.priority)>\($0)\n" }.joined()
        }
    }

    /// `text` without control characters. Lines after the first begin with blanks: none that came from elsewhere, as
    /// within a server's answer, can pass for an entry. An empty one cannot, and stays empty.
    private static func shown(_ text: String) -> String {
        var lines = PrintableText.lines(text).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for index in lines.indices.dropFirst() where !lines[index].isEmpty && !lines[index].hasPrefix("  ") {
            lines[index] = "  " + lines[index]
        }
        return lines.joined(separator: "\n")
    }

    /// RFC 3339 in UTC, always with milliseconds, so that lines sort by their text.
    static func time(_ instant: Instant) -> String {
        let whole = instant.nanoseconds - instant.nanoseconds.positiveRemainder(1_000_000_000)
        let milliseconds = Int(instant.nanoseconds - whole) / 1_000_000
        let digits = String(1_000 + milliseconds).dropFirst()
        return "\(Instant(nanoseconds: whole).text.dropLast()).\(digits)Z"
    }

    private static func object(_ entry: LogEntry, _ now: Instant) -> String {
        let head = [("time", time(now)), ("level", entry.level.rawValue), ("message", entry.text)]
        let members = head.map { "\"\($0)\":\(JSONText.quoted($1))" }
        let fields = entry.fields.map { field in
            switch field.value {
            case .text(let text): "\"\(field.name)\":\(JSONText.quoted(text))"
            case .number(let number): "\"\(field.name)\":\(number)"
            }
        }
        return "{\((members + fields).joined(separator: ","))}"
    }
}

extension Int64 {
    /// The remainder that is not negative.
    fileprivate func positiveRemainder(_ divisor: Int64) -> Int64 {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}
