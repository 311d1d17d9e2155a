/// Samples in the text formats of Prometheus, version 0.0.4, and OpenMetrics, version 1.0.0.
enum PrometheusText {
    /// Every counter of the table that has samples, with its help and type.
    static func text(_ samples: CounterSamples, _ format: MetricsFormat = .prometheus) -> String {
        let found = Dictionary(grouping: samples.all, by: \.name)
        var text = ""
        for row in CounterTable.rows {
            let lines = row.sampleNames.flatMap { name in (found[name] ?? []).map { line($0, row) } }
            guard !lines.isEmpty else { continue }
            let name = family(row, format)
            text += "# HELP \(name) \(escaped(row.help, quotes: format == .openMetrics))\n"
            text += "# TYPE \(name) \(row.kind.rawValue)\n"
            for line in lines { text += line }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    /// The name in help and type: in OpenMetrics a counter's has no suffix.
    private static func family(_ row: Counter, _ format: MetricsFormat) -> String {
        let suffix = "_total"
        guard format == .openMetrics, row.kind == .counter, row.name.hasSuffix(suffix) else { return row.name }
        return String(row.name.dropLast(suffix.count))
    }

    private static func line(_ sample: CounterSample, _ row: Counter) -> String {
        let labels = row.labels.map { "\($0)=\"\(escaped(sample.labels?[$0] ?? "", quotes: true))\"" }
        let isWhole = sample.value == sample.value.rounded() && abs(sample.value) < 1e15
        let value = isWhole ? "\(Int(sample.value))" : "\(sample.value)"
        return "\(sample.name)\(labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}") \(value)\n"
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
