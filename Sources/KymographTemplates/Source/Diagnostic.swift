package import KymographCore

/// Something wrong, or doubtful, in a configuration or mapping file, and what to do about it.
package struct Diagnostic: Hashable, Sendable {
    /// How bad it is.
    package enum Severity: String, Sendable {
        /// The file cannot be used.
        case error
        /// The file can be used, but probably does not do what was meant.
        case warning
    }

    /// How bad it is.
    package var severity: Severity
    /// The file's path or catalogue name.
    package var file: String
    /// Where in the file.
    package var position: SourcePosition
    /// What is wrong, in one sentence without a final stop.
    package var message: String
    /// What to do, in one sentence without a final stop; empty when the message says it.
    package var advice: String
    /// What kind of finding it is, in a short word that stays the same from version to version, as `loinc-check-digit`;
    /// empty for what has none.
    package var code: String
    /// Type name of the template that it is about; empty when it is about none, or the template has no name.
    package var template = ""

    /// Makes a diagnostic.
    package init(
        _ severity: Severity, file: String, position: SourcePosition, message: String, advice: String = "",
        code: String = ""
    ) {
        self.severity = severity
        self.file = file
        self.position = position
        self.message = message
        self.advice = advice
        self.code = code
    }

    /// `file:line:column: severity: message; advice`, the form that editors and CI systems recognise.
    package var text: String {
        let tail = advice.isEmpty ? "" : "; \(advice)"
        return "\(file):\(position.line):\(position.column): \(severity.rawValue): \(message)\(tail)"
    }

    /// ``text`` with the template's type name and the finding's code behind it.
    package var fullText: String {
        let parts = (template.isEmpty ? [] : ["type \(template)"]) + (code.isEmpty ? [] : [code])
        return parts.isEmpty ? text : "\(text) [\(parts.joined(separator: ", "))]"
    }
}

/// Collects diagnostics of one file, so that a check reports all of them and not the first.
package struct DiagnosticLog: Sendable {
    /// The file that is being read.
    package let file: String
    /// What was found so far, in order.
    package private(set) var all: [Diagnostic] = []
    /// The version of FHIR that the file is written for, by which its codes are checked.
    var fhirVersion = FHIRVersion.r4
    /// Whose rules the file is read by: the reference takes names in any case, and ignores what its shells have more.
    var compatibility = Compatibility.none

    /// Starts a log for `file`.
    package init(file: String) {
        self.file = file
    }

    /// How many errors were found.
    var errorCount: Int { all.count { $0.severity == .error } }

    /// Whether an error was found.
    package var hasErrors: Bool { all.contains { $0.severity == .error } }

    /// Notes an error at `position`.
    package mutating func error(
        _ position: SourcePosition, _ message: String, advice: String = "", code: String = ""
    ) {
        add(.error, position, message, advice, code)
    }

    /// Notes a warning at `position`.
    package mutating func warning(
        _ position: SourcePosition, _ message: String, advice: String = "", code: String = ""
    ) {
        add(.warning, position, message, advice, code)
    }

    /// Notes an error of a known kind.
    mutating func error(_ position: SourcePosition, _ message: String, advice: String = "", finding: Finding) {
        add(.error, position, message, advice, finding.rawValue)
    }

    /// Notes a warning of a known kind.
    mutating func warning(_ position: SourcePosition, _ message: String, advice: String = "", finding: Finding) {
        add(.warning, position, message, advice, finding.rawValue)
    }

    /// Notes something of a known kind, as bad as `severity` says.
    mutating func note(
        _ severity: Diagnostic.Severity, _ position: SourcePosition, _ message: String, advice: String = "",
        finding: Finding
    ) {
        add(severity, position, message, advice, finding.rawValue)
    }

    /// Says that what was noted after the first `start` findings is about the template of type `name`.
    mutating func attribute(to name: String, since start: Int) {
        for index in all.indices.dropFirst(start) { all[index].template = name }
    }

    /// Says of everything that was noted inside a template of the mapping file `root` which template that is.
    mutating func attributeToTemplates(of root: JSONNode) {
        let elements = root.field("template")?.elements ?? []
        // Those of a mapping that the file extends all have one place, which tells nothing of them.
        let byPlace = Dictionary(grouping: elements, by: \.position.offset)
        let starts = byPlace.keys.sorted()
        for (start, end) in zip(starts, starts.dropFirst() + [Int.max]) {
            guard let there = byPlace[start], there.count == 1,
                let name = there[0].field("template")?.field("typeName")?.string
            else { continue }
            let places = start..<end
            for index in all.indices where places.contains(all[index].position.offset) { all[index].template = name }
        }
    }

    private mutating func add(
        _ severity: Diagnostic.Severity, _ position: SourcePosition, _ message: String, _ advice: String, _ code: String
    ) {
        all.append(
            Diagnostic(severity, file: file, position: position, message: message, advice: advice, code: code))
    }
}
