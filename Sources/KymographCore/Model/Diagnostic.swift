/// A place in a file: byte offset from 0, line and column from 1 (columns count UTF-8 bytes, as compilers do).
public struct SourcePosition: Hashable, Sendable {
    /// Bytes before the place.
    public var offset: Int
    /// Line, from 1.
    public var line: Int
    /// Column in bytes, from 1.
    public var column: Int

    /// Makes a position.
    public init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// The first byte of a file.
    public static let start = SourcePosition(offset: 0, line: 1, column: 1)
}

/// Something wrong, or doubtful, in a configuration or mapping file, and what to do about it.
public struct Diagnostic: Hashable, Sendable {
    /// How bad it is.
    public enum Severity: String, Sendable {
        /// The file cannot be used.
        case error
        /// The file can be used, but probably does not do what was meant.
        case warning
    }

    /// How bad it is.
    public var severity: Severity
    /// The file's path or catalogue name.
    public var file: String
    /// Where in the file.
    public var position: SourcePosition
    /// What is wrong, in one sentence without a final stop.
    public var message: String
    /// What to do, in one sentence without a final stop; empty when the message says it.
    public var advice: String

    /// Makes a diagnostic.
    public init(
        _ severity: Severity, file: String, position: SourcePosition, message: String, advice: String = ""
    ) {
        self.severity = severity
        self.file = file
        self.position = position
        self.message = message
        self.advice = advice
    }

    /// `file:line:column: severity: message; advice`, the form that editors and CI systems recognise.
    public var text: String {
        let tail = advice.isEmpty ? "" : "; \(advice)"
        return "\(file):\(position.line):\(position.column): \(severity.rawValue): \(message)\(tail)"
    }
}

/// Collects diagnostics of one file, so that a check reports all of them and not the first.
public struct DiagnosticLog: Sendable {
    /// The file that is being read.
    public let file: String
    /// What was found so far, in order.
    public private(set) var all: [Diagnostic] = []

    /// Starts a log for `file`.
    public init(file: String) {
        self.file = file
    }

    /// Whether an error was found.
    public var hasErrors: Bool { all.contains { $0.severity == .error } }

    /// Notes an error at `position`.
    public mutating func error(_ position: SourcePosition, _ message: String, advice: String = "") {
        all.append(Diagnostic(.error, file: file, position: position, message: message, advice: advice))
    }

    /// Notes a warning at `position`.
    public mutating func warning(_ position: SourcePosition, _ message: String, advice: String = "") {
        all.append(Diagnostic(.warning, file: file, position: position, message: message, advice: advice))
    }
}

/// Finds the name a user probably meant.
public enum NearestName {
    /// The candidate within two edits (or a third of the length) of `name`, ignoring case; nil when none is near.
    public static func of(_ name: String, among candidates: [String]) -> String? {
        let wanted = Array(name.lowercased())
        let limit = max(2, wanted.count / 3)
        let scored = candidates.map { (distance(wanted, Array($0.lowercased())), $0) }
        guard let best = scored.min(by: { $0 < $1 }), best.0 <= limit else { return nil }
        return best.1
    }

    /// `did you mean 'x'?`, or `fallback` when no candidate is near.
    public static func advice(for name: String, among candidates: [String], otherwise fallback: String = "") -> String {
        of(name, among: candidates).map { "did you mean '\($0)'?" } ?? fallback
    }

    /// Levenshtein distance.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substituted = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}
