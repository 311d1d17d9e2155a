import Kymograph
import KymographCore

/// What a command writes to the audit trail of the data directory that it reads.
enum AuditNote {
    /// Notes that this command does what `texts` say.
    static func write(_ kind: DeedKind, _ texts: [String], in directory: String) {
        AuditTrail.note(texts.map { AuditDeed(kind, $0) }, in: directory) {
            StandardError.write("kymo: warning: \($0.text)\n")
        }
    }
}

extension SpanOptions {
    /// What is asked for, without identifiers.
    var audited: [String] {
        var parts: [String] = []
        if !device.isEmpty { parts.append(CountText.of(device.count, "device")) }
        if !patient.isEmpty { parts.append(CountText.of(patient.count, "patient")) }
        if let from { parts.append("from \(from.instant.text)") }
        if let to { parts.append("to \(to.instant.text)") }
        return parts
    }
}

extension ArchiveOptions {
    /// What is asked for, without what was typed: it may be an identifier.
    var audited: String {
        let counts = [(type.count, "type"), (source.count, "source"), (id.count, "id"), (tag.count, "tag")]
        var parts = counts.filter { $0.0 > 0 }.map { CountText.of($0, $1) } + span.audited
        if open { parts.append("open windows, too") }
        return parts.isEmpty ? "asked for all" : "asked for \(parts.joined(separator: ", "))"
    }
}
