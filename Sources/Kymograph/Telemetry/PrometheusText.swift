/// Samples in the text formats of Prometheus, version 0.0.4, and OpenMetrics, version 1.0.0.
enum PrometheusText {
    /// Every counter of the table that has samples, with its help and type.
    static func text(_ samples: CounterSamples, _ format: MetricsFormat = .prometheus) -> String {
        let found = Dictionary(grouping: samples.all, by: \.name)
        var text = ""
        for row in CounterTable.rows {
            let samples = row.kind == .histogram ? histogram(row, found) : found[row.name] ?? []
            let lines = samples.map { line($0, row) }
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

    /// The samples of a histogram, those of the same labels together.
    private static func histogram(_ row: Counter, _ found: [String: [CounterSample]]) -> [CounterSample] {
        let buckets = found["\(row.name)_bucket"] ?? []
        let size = DurationCounts.bounds.count + 1
        return zip(found["\(row.name)_sum"] ?? [], found["\(row.name)_count"] ?? []).enumerated().flatMap {
            place, ends in
            buckets.dropFirst(place * size).prefix(size) + [ends.0, ends.1]
        }
    }

    private static func line(_ sample: CounterSample, _ row: Counter) -> String {
        let names = row.labels + (sample.labels?["le"] == nil ? [] : ["le"])
        let labels = names.map { "\($0)=\"\(escaped(sample.labels?[$0] ?? "", quotes: true))\"" }
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
