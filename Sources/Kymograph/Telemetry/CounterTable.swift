/// Every counter. The summary at exit, `kymo status` and its JSON, the metrics and docs/metrics.md are made from it.
enum CounterTable {
    /// All rows, in the order in which they are shown.
    static let rows: [Counter] = [
        ReceivedRows.rows, SourceRows.rows, EngineRows.rows, WindowRows.rows, OutputRows.rows, MappingRows.rows,
        PatientRows.rows, RuleRows.rows, StoreRows.rows, SinkRows.rows, ControlRows.rows,
        InstanceRows.rows,
    ].flatMap(\.self)

    /// The values of `input`.
    static func samples(_ input: CounterInput) -> CounterSamples {
        CounterSamples(rows.flatMap { $0.samples(input) })
    }

    /// The line that the counters' phrases make; nil when none says anything. `source` is whom it is about.
    static func text(
        _ line: CounterLine, _ samples: CounterSamples, _ input: CounterInput = CounterInput(), source: String? = nil
    ) -> String? {
        var text: String?
        for row in rows {
            for phrase in row.phrases where phrase.line == line {
                let context = CounterPhrase.Context(name: row.name, samples: samples, input: input, source: source)
                if let found = phrase.text(context) { text = (text ?? "") + found }
            }
        }
        return text
    }
}
