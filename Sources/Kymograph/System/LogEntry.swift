/// How much an entry of the log matters, the most important first.
package enum LogLevel: String, CaseIterable, Comparable, Sendable {
    /// Something is lost or stays undone until an operator acts.
    case error
    /// Something may be lost or stay undone if it goes on.
    case warning
    /// What an operator should know.
    case info
    /// Single attempts and failures, for finding a cause.
    case debug

    /// The priority of syslog(3), by which journald sorts.
    package var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }

    /// The more important one is less.
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.priority < right.priority }
}

/// One message for the operator. Never with a device, a patient or a payload, at any level.
package struct LogEntry: Sendable {
    /// A value beside the message, for programs.
    package enum Value: Hashable, Sendable {
        /// A name.
        case text(String)
        /// A count.
        case number(Int)
    }

    /// How much it matters.
    package var level: LogLevel
    /// What happened, where, and what to do, in a sentence without final stop.
    package var text: String
    /// What programs may filter by, such as `event` and `sink`.
    package var fields: [(name: String, value: Value)]
    /// What entries have in common that are repetitions of each other; nil when they must have the same text.
    package var kind: String?
    /// What somebody did, and who, empty when nobody knows: then it is for the audit, and written whatever the level of
    /// the log is, each time.
    package private(set) var deed: (kind: DeedKind, agent: String)?
    /// Whether repeats of one for the audit are folded as others are: senders could fill the log with them.
    package var isFolded = false
    /// Whether it answers what an operator has done, who waits for it: it is written each time, however soon after the
    /// last one like it.
    package var isAnswer = false
    /// Whether the thread that has it serves everybody, and may not wait until it is in the audit trail.
    package var isDeferred = false

    /// An entry.
    package init(
        _ level: LogLevel, _ text: String, kind: String? = nil, fields: [(name: String, value: Value)] = []
    ) {
        self.level = level
        self.text = text
        self.kind = kind
        self.fields = fields
    }

    /// An entry of level ``LogLevel/error``.
    package static func error(_ text: String) -> LogEntry { LogEntry(.error, text) }

    /// An entry of level ``LogLevel/warning``.
    package static func warning(_ text: String) -> LogEntry { LogEntry(.warning, text) }

    /// An entry of level ``LogLevel/info``.
    package static func info(_ text: String) -> LogEntry { LogEntry(.info, text) }

    /// The same, as an answer to what an operator has done.
    var answered: LogEntry {
        var entry = self
        entry.isAnswer = true
        return entry
    }

    /// What `agent` did, or was refused: for the audit. Without identifiers.
    package static func deed(
        _ kind: DeedKind, by agent: String, _ text: String, level: LogLevel = .warning,
        fields: [(name: String, value: Value)] = []
    ) -> LogEntry {
        var entry = LogEntry(level, text, fields: [("event", .text(kind.rawValue))] + fields)
        entry.deed = (kind, agent)
        return entry
    }

    /// A list of peers, or keys of theirs, was read again, or could not be. Threads say it that may not wait for the
    /// disk.
    static func rereadPeers(_ text: String) -> LogEntry {
        var entry = LogEntry.deed(.peersLoaded, by: "", text)
        entry.isDeferred = true
        return entry
    }

    /// The same, also for the audit: something was done, and nobody knows by whom.
    func audited(as kind: DeedKind) -> LogEntry {
        var entry = self
        entry.deed = (kind, "")
        return entry
    }

    /// A change of the state `event` of `subject`, a sink or source; repeats of it are folded whatever their text is.
    static func change(
        _ level: LogLevel, _ event: String, _ subject: (name: String, value: String), _ text: String,
        fields: [(name: String, value: Value)] = []
    ) -> LogEntry {
        LogEntry(
            level, text, kind: "\(event) \(subject.value)",
            fields: [("event", .text(event)), (subject.name, .text(subject.value))] + fields)
    }
}

/// Takes entries for the operator, on any thread.
package typealias LogTaker = @Sendable (LogEntry) -> Void
