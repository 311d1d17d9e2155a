import KymographCore

extension PayloadPreview {
    /// `{"measurements": […], "retractions": […], "observations": […], "resources": […], "rejected": [{"reason",
    /// "detail"}]}`, without layout, and `"rules"`, `"withheld"` and `"explain": {…}` when there is an explanation
    /// (docs/explain.md); lists that are empty are left out.
    package var json: [UInt8] {
        var writer = ByteWriter()
        writer.append("{")
        var isFirst = true
        append("measurements", measurements, &isFirst, to: &writer)
        append("retractions", retractions, &isFirst, to: &writer)
        append("observations", observations, &isFirst, to: &writer)
        append("resources", resources, &isFirst, to: &writer)
        append("rejected", rejected.map(Self.json), &isFirst, to: &writer)
        if explanation != nil {
            append("rules", rulings.map(Self.json), &isFirst, to: &writer)
            append("withheld", withheld.map(Self.json), &isFirst, to: &writer)
        }
        if let explanation {
            writer.append(isFirst ? "\"explain\":" : ",\"explain\":")
            writer.append(explanation.json(rejected))
        }
        writer.append("}")
        return writer.view.array
    }

    /// ``json`` with the message's file and line before it, and a line feed.
    package func line(of message: InputMessage) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("{\"file\":\"")
        writer.appendJSON(message.file)
        writer.append(Array("\",\"line\":\(message.line)".utf8))
        let rest = json.dropFirst()
        if rest.count > 1 { writer.append(",") }
        writer.append(Array(rest))
        writer.append("\n")
        return writer.view.array
    }

    /// ``measurements``, each with a line feed.
    package var events: [UInt8] { measurements.flatMap { $0 + [UInt8(ascii: "\n")] } }

    private func append(_ name: StaticString, _ items: [[UInt8]], _ isFirst: inout Bool, to writer: inout ByteWriter) {
        guard !items.isEmpty else { return }
        writer.append(isFirst ? "\"" : ",\"")
        isFirst = false
        writer.append(name)
        writer.append("\":[")
        for (index, item) in items.enumerated() {
            if index > 0 { writer.append(",") }
            writer.append(item)
        }
        writer.append("]")
    }

    private static func json(_ step: RuleStep) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("{\"rule\":\"")
        writer.appendJSON(step.rule)
        writer.append("\",\"did\":\"")
        writer.appendJSON(step.text)
        writer.append("\"}")
        return writer.view.array
    }

    private static func json(_ withheld: Withheld) -> [UInt8] {
        var writer = ByteWriter()
        let members = [("type", withheld.type), ("value", withheld.value), ("explanation", Withheld.explanation)]
        for (index, (name, text)) in members.enumerated() {
            writer.append(Array("\(index == 0 ? "{" : ",")\"\(name)\":\"".utf8))
            writer.appendJSON(text)
            writer.append("\"")
        }
        writer.append("}")
        return writer.view.array
    }

    private static func json(_ rejected: Rejected) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("{\"reason\":\"")
        writer.append(Array(rejected.reason.name.utf8))
        writer.append("\"")
        if !rejected.detail.isEmpty {
            writer.append(",\"detail\":\"")
            writer.appendJSON(rejected.detail)
            writer.append("\"")
        }
        writer.append("}")
        return writer.view.array
    }
}
