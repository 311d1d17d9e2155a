import Kymograph
import KymographCore
import KymographTemplates

/// A migration report as text and as JSON.
enum MigrationText {
    static func text(_ report: MigrationReport, _ folder: String, _ written: String?) -> String {
        var lines = ["device templates: \(report.files.deviceFile)", "FHIR templates:   \(report.files.fhirFile)", ""]
        for template in report.templates {
            let languages = template.languages.joined(separator: " and ")
            lines.append("line \(template.line): \(template.type), \(template.kind), \(languages)")
        }
        let findings = CountText.of(report.findings.count, "finding")
        lines += ["", "\(findings) by our rules" + (report.findings.isEmpty ? "" : ":")]
        lines += report.findings.map { "  \($0.fullText)" }
        if !report.compatibleFindings.isEmpty {
            lines.append("with --compatibility iomt-fhir also:")
            lines += report.compatibleFindings.map { "  \($0.fullText)" }
        }
        lines += ["", messages(report)]
        lines += report.rejections.sorted { $0.key < $1.key }.map { reason, found in
            "  rejected as \(reason): \(found.count), first \(found.place)"
                + (found.detail.isEmpty ? "" : ": \(found.detail)")
        }
        if !report.differences.isEmpty { lines += ["", "by our rules ≠ with --compatibility iomt-fhir:"] }
        for difference in report.differences {
            lines.append("  \(difference.path): \(difference.byDefault) ≠ \(difference.compatible)")
            let times = difference.count == 1 ? "once" : "\(difference.count) times"
            lines.append("    \(times), first \(difference.place); \(difference.why)")
        }
        return (lines + ["", verdict(report), ""] + next(report, folder, written)).joined(separator: "\n") + "\n"
    }

    private static func messages(_ report: MigrationReport) -> String {
        guard report.messages > 0 else { return "no messages: name files or folders of messages to see what they give" }
        return "\(CountText.of(report.messages, "message")): \(report.rejected.byDefault) rejected by our rules, "
            + "\(report.rejected.compatible) with --compatibility iomt-fhir"
    }

    private static func verdict(_ report: MigrationReport) -> String {
        if !report.loads { return "the mapping has errors: mend what is named above" }
        if !report.loadsByDefault {
            return "the mapping needs --compatibility iomt-fhir, or what is named above mended"
        }
        if report.rejectedMessages > 0 { return "the mapping runs; some messages are rejected" }
        return "the mapping runs here unchanged"
    }

    private static func next(_ report: MigrationReport, _ folder: String, _ written: String?) -> [String] {
        let mapping = MappingFolderName.path(written ?? folder)
        let compatibility = report.loadsByDefault || written != nil ? "" : " --compatibility iomt-fhir"
        return [
            "next:", "  kymo check \(mapping)\(compatibility)",
            "  kymo map --mapping \(mapping)\(compatibility) --explain message.json",
            "  kymo run --mapping \(mapping)\(compatibility) --udp 127.0.0.1:5757 --out ./observations",
        ]
    }

    /// `{"device", "fhir", "templates", "findings", "messages", "rejected", "differences", "runs"}`, with layout.
    static func json(_ report: MigrationReport) -> [UInt8] {
        let templates = report.templates.map { template in
            let languages = template.languages.map(quoted).joined(separator: ",")
            return "{\"type\":\(quoted(template.type)),\"kind\":\(quoted(template.kind)),\"line\":\(template.line),"
                + "\"languages\":[\(languages)]}"
        }
        let findings = (report.findings.map { ($0, "none") } + report.compatibleFindings.map { ($0, "iomt-fhir") }).map
        {
            "{\"compatibility\":\(quoted($1)),\"severity\":\(quoted($0.severity.rawValue)),\"text\":\(quoted($0.text))}"
        }
        let differences = report.differences.map { one in
            "{\"path\":\(quoted(one.path)),\"none\":\(quoted(one.byDefault)),\"iomt-fhir\":\(quoted(one.compatible)),"
                + "\"count\":\(one.count),\"first\":\(quoted(one.place)),\"why\":\(quoted(one.why))}"
        }
        let members = [
            "\"device\":\(quoted(report.files.deviceFile))", "\"fhir\":\(quoted(report.files.fhirFile))",
            "\"templates\":[\(templates.joined(separator: ","))]", "\"findings\":[\(findings.joined(separator: ","))]",
            "\"messages\":\(report.messages)",
            "\"rejected\":{\"none\":\(report.rejected.byDefault),\"iomt-fhir\":\(report.rejected.compatible)}",
            "\"differences\":[\(differences.joined(separator: ","))]",
            "\"runs\":{\"none\":\(report.loadsByDefault),\"any\":\(report.loads)}",
        ]
        return PrettyJSON.format(Array("{\(members.joined(separator: ","))}".utf8))
    }

    private static func quoted(_ text: String) -> String {
        var writer = ByteWriter()
        writer.append("\"")
        writer.appendJSON(text)
        writer.append("\"")
        return writer.view.string
    }
}
