import KymographCore

/// One counter or gauge of a running instance: a row of ``CounterTable``.
struct Counter: Sendable {
    /// How its values move.
    enum Kind: String, Sendable {
        /// They only grow, from the start of the instance.
        case counter
        /// They go up and down.
        case gauge
        /// How many operations took how long.
        case histogram
    }

    /// The values of one moment, with the values of the labels.
    typealias Read = @Sendable (CounterInput) -> [(labels: [String], value: Double)]

    /// Name with prefix `kymo_`, or `process_` for what every process has, as Prometheus wants it:
    /// `_total` at the end of a counter, base units.
    let name: String
    let kind: Kind
    /// What is counted, in the plural.
    let unit: String
    /// Names of labels. Never of devices or patients.
    let labels: [String]
    /// In a sentence without final stop.
    let help: String
    /// Where people read it; what is nowhere is in JSON and metrics only.
    let phrases: [CounterPhrase]
    /// Without those of a histogram.
    let read: Read
    /// Those of a histogram.
    var durations: (@Sendable (CounterInput) -> [(labels: [String], counts: DurationCounts)])?

    /// Whether the summary at exit says it.
    var isInSummary: Bool { phrases.contains { CounterLine.summary.contains($0.line) } }

    /// The samples of `input`.
    func samples(_ input: CounterInput) -> [CounterSample] {
        guard let durations else {
            return read(input).map { sample("", labels, $0.labels, $0.value) }
        }
        return durations(input).flatMap { histogram($0.labels, $0.counts) }
    }

    /// The samples of a histogram: each bucket with those below it, the sum, and the number.
    private func histogram(_ values: [String], _ counts: DurationCounts) -> [CounterSample] {
        var below = 0
        var samples = zip(DurationCounts.bounds.map { "\($0)" } + ["+Inf"], counts.buckets).map { bound, count in
            below += count
            return sample("_bucket", labels + ["le"], values + [bound], Double(below))
        }
        samples.append(sample("_sum", labels, values, counts.seconds))
        samples.append(sample("_count", labels, values, Double(below)))
        return samples
    }

    private func sample(_ suffix: String, _ labels: [String], _ values: [String], _ value: Double) -> CounterSample {
        let pairs = zip(labels, values).map { ($0, $1) }
        return CounterSample(
            name: name + suffix, labels: pairs.isEmpty ? nil : Dictionary(pairs) { first, _ in first }, value: value)
    }
}

/// What counters read: all that an instance has counted, and what its store holds; without an instance, the store.
struct CounterInput: Sendable {
    var run: PipelineSummary?
    var stored: StoreStatus?
    var sinks: [SinkStatus] = []
    /// Of the process itself, where it is asked.
    var process: ProcessFacts?
    /// Of a running instance that is watched.
    var watched: WatchedCounts?
    /// Of a running instance that sends AuditEvents.
    var audit: AuditDeliveryFacts?
}

/// A line that people read, made of the phrases of counters in the order of the table.
enum CounterLine: Sendable {
    /// Of the summary at exit.
    case balance, rejected, withdrawn, kernelDropped, connections, topics, missing, output, withheld, filtered, vetoed,
        passedOver, unwritten, cutTags, leftOut, wrapped, reloads, undelivered, payloads
    /// Of a terminal that is watched.
    case live
    /// Of `kymo status`, for each source.
    case source
    /// Of `kymo status`, for the patient map.
    case patients
    /// Of `kymo status`, for values that Observations lack.
    case values
    /// Of `kymo status`, for the store.
    case windows, journal, outbox, lost, deadLetters, disk

    /// Those of the summary.
    static let summary: [CounterLine] = [
        .balance, .rejected, .withdrawn, .kernelDropped, .connections, .topics, .missing, .output, .withheld,
        .filtered, .vetoed, .passedOver, .unwritten, .cutTags, .leftOut, .wrapped, .reloads, .undelivered,
        .payloads,
    ]
}

/// What a counter says in a line.
struct CounterPhrase: Sendable {
    /// What a phrase is made of.
    struct Context {
        /// The counter's name.
        var name: String
        let samples: CounterSamples
        let input: CounterInput
        /// The source that the line is about.
        let source: String?

        /// The counter's sum, or its value for the source of the line.
        var value: Int { total(name) }

        /// The same of another counter.
        func total(_ name: String) -> Int {
            source.map { samples.total(name, "source", $0) } ?? samples.total(name)
        }
    }

    let line: CounterLine
    /// Nil to say nothing.
    let text: @Sendable (Context) -> String?

    /// The value with texts around it, whatever it is.
    static func always(_ line: CounterLine, _ before: String, _ after: String = "") -> CounterPhrase {
        CounterPhrase(line: line) { "\(before)\($0.value)\(after)" }
    }

    /// The value with texts around it, unless it is zero.
    static func ifAny(_ line: CounterLine, _ before: String, _ after: String = "") -> CounterPhrase {
        CounterPhrase(line: line) { $0.value == 0 ? nil : "\(before)\($0.value)\(after)" }
    }

    /// The value with words for one thing, or for any other number of them, and a text before it.
    static func counting(_ line: CounterLine, _ before: String, one: String, many: String) -> CounterPhrase {
        CounterPhrase(line: line) { before + CountText.of($0.value, one: one, many: many) }
    }

    /// A text of its own.
    static func custom(_ line: CounterLine, _ text: @escaping @Sendable (Context) -> String?) -> CounterPhrase {
        CounterPhrase(line: line, text: text)
    }
}
