import KymographCore
package import KymographTemplates

/// Findings of a check as a document for machines.
package enum FindingReport {
    /// `{"findings": [{"severity", "file", "line", "column", "message", "advice", "code", "template"}, …], "errors": n,
    /// "warnings": n}`, with layout. Members of a finding that say nothing (advice, code, template) are left out. The
    /// member `merged` has the documents `merged`, which are JSON; it is left out where that is nil.
    package static func json(_ findings: [Diagnostic], merged: [String]? = nil) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("{\"findings\":[")
        for (index, finding) in findings.enumerated() {
            writer.append(index == 0 ? "{" : ",{")
            append(finding, to: &writer)
            writer.append("}")
        }
        let errors = findings.count { $0.severity == .error }
        writer.append("],\"errors\":")
        writer.append(Array("\(errors)".utf8))
        writer.append(",\"warnings\":")
        writer.append(Array("\(findings.count - errors)".utf8))
        if let merged { writer.append(Array(",\"merged\":[\(merged.joined(separator: ","))]".utf8)) }
        writer.append("}")
        return PrettyJSON.format(writer.view.array)
    }

    private static func append(_ finding: Diagnostic, to writer: inout ByteWriter) {
        append("severity", finding.severity.rawValue, to: &writer)
        writer.append(",")
        append("file", finding.file, to: &writer)
        writer.append(Array(",\"line\":\(finding.position.line),\"column\":\(finding.position.column),".utf8))
        append("message", finding.message, to: &writer)
        let others: [(StaticString, String)] = [
            ("advice", finding.advice), ("code", finding.code), ("template", finding.template),
        ]
        for (name, text) in others where !text.isEmpty {
            writer.append(",")
            append(name, text, to: &writer)
        }
    }

    private static func append(_ name: StaticString, _ text: String, to writer: inout ByteWriter) {
        writer.append("\"")
        writer.append(name)
        writer.append("\":\"")
        writer.appendJSON(text)
        writer.append("\"")
    }
}
