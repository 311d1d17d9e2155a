/// Samples in the text format of Prometheus, version 0.0.4.
enum PrometheusText {
    /// Every counter of the table that has samples, with its help and type.
    static func text(_ samples: CounterSamples) -> String {
        var text = ""
        for row in CounterTable.rows {
            let found = samples.of(row.name)
            guard !found.isEmpty else { continue }
            text += "# HELP \(row.name) \(escaped(row.help, quotes: false))\n# TYPE \(row.name) \(row.kind.rawValue)\n"
            for sample in found { text += line(sample, row) }
        }
        return text
    }

    private static func line(_ sample: CounterSample, _ row: Counter) -> String {
        let labels = row.labels.map { "\($0)=\"\(escaped(sample.labels?[$0] ?? "", quotes: true))\"" }
        let isWhole = sample.value == sample.value.rounded() && abs(sample.value) < 1e15
        let value = isWhole ? "\(Int(sample.value))" : "\(sample.value)"
        return "\(row.name)\(labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") \(value)\n"
    }

    /// Backslashes, line feeds and, in labels, quotation marks have a backslash before.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
