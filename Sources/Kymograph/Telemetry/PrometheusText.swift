/// Samples in the text formats of Prometheus, version 0.0.4, and OpenMetrics, version 1.0.0.
enum PrometheusText {
    /// Every counter of the table that has samples, with its help and type.
    static func text(_ samples: CounterSamples, _ format: MetricsFormat = .prometheus) -> String {
        let found = Dictionary(grouping: samples.all, by: \.name)
        var text = ""
        for row in CounterTable.rows {
            let samples = row.kind == .histogram ? histogram(row, found) : found[row.name] ?? []
            guard !samples.isEmpty else { continue }
            let name = family(row, format)
            text += "# HELP \(name) \(escaped(row.help, quotes: format == .openMetrics))\n"
            text += "# TYPE \(name) \(row.kind.rawValue)\n"
            for sample in samples { write(sample, row, to: &text) }
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

    /// The line of a sample. There may be thousands: nothing is made that is not written.
    private static func write(_ sample: CounterSample, _ row: Counter, to text: inout String) {
        text += sample.name
        let names = row.labels + (sample.labels?["le"] == nil ? [] : ["le"])
        for (place, name) in names.enumerated() {
            text += place == 0 ? "{" : ","
            text += name
            text += "=\""
            text += escaped(sample.labels?[name] ?? "", quotes: true)
            text += "\""
        }
        let isWhole = sample.value == sample.value.rounded() && abs(sample.value) < 1e15
        text += names.isEmpty ? " " : "} "
        text += isWhole ? String(Int(sample.value)) : String(sample.value)
        text += "\n"
    }

    /// Backslashes, line feeds and, in labels, quotation marks have a backslash before.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        let special: [UInt8] = quotes ? [0x5C, 0x0A, 0x22] : [0x5C, 0x0A]
        guard text.utf8.contains(where: special.contains) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
