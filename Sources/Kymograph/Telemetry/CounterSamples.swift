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
        var kept = all
        while kept.count > count, let longest = CounterSamples.longestRun(kept) { kept.removeSubrange(longest) }
        return (CounterSamples(kept), all.count - kept.count)
    }

    /// Where the values of the counter are that has most; nil when there are none.
    private static func longestRun(_ samples: [CounterSample]) -> Range<Int>? {
        var longest = 0..<0
        var start = 0
        for index in samples.indices {
            if samples[index].counter != samples[start].counter { start = index }
            if index + 1 - start > longest.count { longest = start..<(index + 1) }
        }
        return longest.isEmpty ? nil : longest
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
