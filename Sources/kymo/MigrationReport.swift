import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit

/// What a mapping of the MedTech service does here, by our rules and by those of the reference.
struct MigrationReport {
    /// A device template.
    struct Template {
        var type: String
        var kind: String
        var line: Int
        /// Languages of its expressions, in order of their names.
        var languages: [String]
    }

    /// Where the results of the two modes differ, in the same place of one or more messages.
    struct Difference {
        /// Where, without the numbers of elements.
        var path: String
        /// What the first one has: by default, and with the reference's rules.
        var byDefault: String
        var compatible: String
        /// The rule of docs/compatibility.md.
        var why: String
        var count: Int
        /// The first message.
        var place: String
    }

    let files: MappingFiles
    /// Findings by default, and those that only the reference's rules have.
    private(set) var findings: [Diagnostic]
    private(set) var compatibleFindings: [Diagnostic]
    private(set) var templates: [Template] = []
    private(set) var differences: [Difference] = []
    private(set) var messages = 0
    /// Messages of which something was rejected, by default and with the reference's rules.
    private(set) var rejected = (byDefault: 0, compatible: 0)
    /// The reasons, and one place each.
    private(set) var rejections: [String: (count: Int, place: String, detail: String)] = [:]
    private let byDefault: MappingSet?
    private let compatible: MappingSet?

    init(_ files: MappingFiles) {
        self.files = files
        let loaded = MappingSelection.load([files], compatibility: .none)
        let other = MappingSelection.load([files], compatibility: .iomtFHIR)
        (byDefault, compatible) = (loaded.set, other.set)
        findings = loaded.diagnostics
        compatibleFindings = other.diagnostics.filter { !loaded.diagnostics.contains($0) }
        templates = (loaded.set ?? other.set).map(Self.templates) ?? []
    }

    /// Whether the mapping can be used by default, and at all.
    var loadsByDefault: Bool { byDefault != nil }
    var loads: Bool { byDefault != nil || compatible != nil }

    /// Messages that are rejected in the mode that is recommended.
    var rejectedMessages: Int { loadsByDefault ? rejected.byDefault : rejected.compatible }

    /// Maps `message` in both modes and compares what comes out.
    ///
    /// - Throws: ``MessageInputError`` when it is a file of hexadecimal digits that has something else in it.
    mutating func add(_ message: InputMessage) throws(MessageInputError) {
        let place = "\(message.file):\(message.line)"
        guard message.isTooLong else { return add(try MessageFiles.payload(of: message), place: place) }
        messages += 1
        rejected = (rejected.byDefault + 1, rejected.compatible + 1)
        for one in PayloadPreview(tooLong: message).rejected {
            rejections[one.reason.name, default: (0, place, one.detail)].count += 1
        }
    }

    /// Maps `payload` in both modes and compares what comes out.
    mutating func add(_ payload: [UInt8], place: String) {
        messages += 1
        let ours = byDefault.map { preview(payload, $0) }
        let theirs = compatible.map { preview(payload, $0) }
        if ours?.isWhole == false { rejected.byDefault += 1 }
        if theirs?.isWhole == false { rejected.compatible += 1 }
        for one in (ours ?? theirs)?.rejected ?? [] {
            rejections[one.reason.name, default: (0, place, one.detail)].count += 1
        }
        guard let ours, let theirs, let first = try? JSONTree(parsing: ours.json),
            let second = try? JSONTree(parsing: theirs.json)
        else { return }
        for line in first.differences(from: second) { add(line, place) }
    }

    private mutating func add(_ line: String, _ place: String) {
        let path = MigrationReason.path(of: line)
        if let known = differences.firstIndex(where: { $0.path == path }) { return differences[known].count += 1 }
        let values = MigrationReason.values(of: line)
        differences.append(
            Difference(
                path: path, byDefault: values.mine, compatible: values.theirs, why: MigrationReason.text(path, values),
                count: 1, place: place))
    }

    private func preview(_ payload: [UInt8], _ set: MappingSet) -> PayloadPreview {
        // Far enough ahead that no message's time is in the future.
        PayloadPreview(
            payload: payload, set: set, templates: set.templates(of: [files.name]), context: SourceContext(),
            received: Instant(seconds: 4_102_444_800))
    }

    private static func templates(of set: MappingSet) -> [Template] {
        set.templates.map { linked in
            let template = linked.template
            let languages = Set(([template.match] + template.expressions).map(language))
            return Template(
                type: template.typeName, kind: template.kind.rawValue, line: template.position.line,
                languages: languages.sorted())
        }
    }

    private static func language(of expression: TemplateExpression) -> String {
        switch expression.form {
        case .path, .broken: "JSONPath"
        case .jmesPath: "JMESPath"
        }
    }
}

/// Why results of the two modes differ: the rows of docs/compatibility.md.
enum MigrationReason {
    /// The place that a line `path: mine ≠ theirs` is about, without the numbers of elements.
    static func path(of line: String) -> String {
        let path = line.split(separator: ": ", maxSplits: 1)[0]
        return String(path.replacing(/\[[0-9]+\]/, with: "[]"))
    }

    /// The two values of such a line.
    static func values(of line: String) -> (mine: String, theirs: String) {
        let rest = line.split(separator: ": ", maxSplits: 1).dropFirst().first ?? ""
        let sides = rest.split(separator: " ≠ ", maxSplits: 1).map(String.init)
        return (sides.first ?? "", sides.count > 1 ? sides[1] : "")
    }

    /// The rule by which `path` differs.
    static func text(_ path: String, _ values: (mine: String, theirs: String)) -> String {
        for (part, text) in parts where path.contains(part) { return text }
        if path.hasPrefix("measurements[].") || path.contains("value") {
            return values.theirs.contains("/") || values.theirs.contains(":")
                ? "row 1: a text that looks like a time loses its fraction and zone there"
                : "row 33: numbers go through a double there"
        }
        if path.hasPrefix("rejected") || path.hasPrefix("measurements") {
            return "rows 4 to 6, 11 and 12: which matches count, and what an error ends"
        }
        return "shape of Observations: see 'Observations and identities' of docs/compatibility.md"
    }

    private static let parts: [(String, String)] = [
        (".issued", "row 27: issued is when the last reading was received"),
        (".effective", "row 27: always a period there"),
        (".identifier", "Observation and party identifiers: those that an existing server holds"),
        (".code.", "the type's or value's name as text, and a coding of the connector more"),
        (".dataAbsentReason", "parts without a value are left out there"),
        ("SampledData", "over the whole window there, here over what the readings cover"),
        (".id", "identity of the Observation"),
        (".meta", "profiles are those of our shape"),
    ]
}
