import Kymograph

/// What a command writes to the audit trail of the data directory that it reads.
enum AuditNote {
    /// Notes that `command` does what `texts` say. Who can read the files needs no command to see what is in them: where
    /// the trail cannot be written, the command says so and goes on.
    static func write(_ command: String, _ texts: [String], in directory: String) {
        do {
            try AuditTrail(dataDirectory: directory).append(texts.map { AuditDeed(command: command, $0) })
        } catch {
            StandardError.write("kymo: warning: \(error.message); this command is not in it\n")
        }
    }
}

extension ArchiveOptions {
    /// What is asked for, without identifiers.
    var audited: String {
        var parts = type.map { "type \($0)" } + source.map { "source \($0)" }
        if !span.device.isEmpty { parts.append(CountText.of(span.device.count, "device")) }
        if !span.patient.isEmpty { parts.append(CountText.of(span.patient.count, "patient")) }
        if !id.isEmpty { parts.append(CountText.of(id.count, "id")) }
        if !tag.isEmpty { parts.append(CountText.of(tag.count, "tag")) }
        if let from = span.from { parts.append("from \(from.instant.text)") }
        if let to = span.to { parts.append("to \(to.instant.text)") }
        return parts.isEmpty ? "asked for all" : "asked for \(parts.joined(separator: ", "))"
    }
}
