/// One value of a counter.
package struct CounterSample: Codable, Hashable, Sendable {
    /// The counter.
    package var name: String
    /// Its labels by name; nil for a counter without.
    package var labels: [String: String]?
    /// The value.
    package var value: Double

    /// The name of its counter: those of a histogram have something behind it.
    fileprivate var counter: Substring {
        let suffix = ["_bucket", "_sum", "_count"].first(where: name.hasSuffix) ?? ""
        return name.dropLast(suffix.count)
    }
}

/// The values of all counters at one moment.
package struct CounterSamples: Codable, Hashable, Sendable {
    /// In the order of the table.
    package private(set) var all: [CounterSample]

    init(_ all: [CounterSample]) { self.all = all }

    /// Reads a list.
    ///
    /// - Throws: What the decoder throws when there is no such list.
    package init(from decoder: any Decoder) throws {
        all = try decoder.singleValueContainer().decode([CounterSample].self)
    }

    /// Writes a list.
    ///
    /// - Throws: What the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(all)
    }

    /// At most `count` of them, and how many are left out: all values of the counter that has most, then of the next,
    /// so that each of the others is whole.
    func limited(to count: Int) -> (samples: CounterSamples, dropped: Int) {
        guard all.count > count else { return (self, 0) }
        let runs = CounterSamples.runs(all)
        let longestFirst = runs.indices.sorted { (-runs[$0].count, $0) < (-runs[$1].count, $1) }
        var left = all.count
        var isKept = Array(repeating: true, count: runs.count)
        for place in longestFirst where left > count {
            isKept[place] = false
            left -= runs[place].count
        }
        return (CounterSamples(runs.indices.filter { isKept[$0] }.flatMap { all[runs[$0]] }), all.count - left)
    }

    /// Where the values of each counter are.
    private static func runs(_ samples: [CounterSample]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        for end in samples.indices.dropFirst() {
            // Most have the name of the one before them, which is found out faster.
            let isSame = samples[end].name == samples[end - 1].name || samples[end].counter == samples[start].counter
            guard !isSame else { continue }
            runs.append(start..<end)
            start = end
        }
        return samples.isEmpty ? [] : runs + [start..<samples.count]
    }

    /// The values of counter `name`.
    package func of(_ name: String) -> [CounterSample] { all.filter { $0.name == name } }

    /// The sum of the values of counter `name`, or of those whose label `label` is `value`.
    package func total(_ name: String, _ label: String? = nil, _ value: String = "") -> Int {
        var total = 0.0
        for sample in all where sample.name == name && (label.map { sample.labels?[$0] == value } ?? true) {
            total += sample.value
        }
        return Int(total)
    }
}
