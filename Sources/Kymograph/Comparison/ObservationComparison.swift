import KymographCore

/// What differs between the Observations of two systems.
package struct ObservationComparison: Sendable {
    /// An Observation that is not the same.
    package struct Example: Encodable, Sendable {
        /// `onlyInFirst`, `onlyInSecond`, `different` or `repeated`.
        package var kind: String
        package var identity: String
        /// The parts that differ, each as it is in the first and in the second.
        package var parts: [String: [String]]?
    }

    /// How many of each kind, and the first of them.
    package struct Report: Encodable, Sendable {
        /// Observations of each system; those with an identity that an earlier one has are `repeated`.
        package var first = 0
        package var second = 0
        package var repeated = 0
        /// Those that are in both, and equal.
        package var same = 0
        package var onlyInFirst = 0
        package var onlyInSecond = 0
        /// Those that are in both, and differ.
        package var different = 0
        /// Of these, in which part.
        package var parts: [String: Int] = [:]
        package var examples: [Example] = []

        /// Whether both systems have the same. Nothing and nothing is not: a server may give strangers an empty answer.
        package var isSame: Bool {
            same > 0 && onlyInFirst == 0 && onlyInSecond == 0 && different == 0 && repeated == 0
        }
    }

    private var waiting: [IdentifierText: ComparedObservation] = [:]
    private var met: Set<IdentifierText> = []
    private let wanted: [ComparedObservation.Part]
    private let mostExamples: Int
    private var report = Report()

    /// Compares the `wanted` parts, and shows at most `examples` of what differs.
    init(of wanted: [ComparedObservation.Part], examples: Int) { (self.wanted, mostExamples) = (wanted, examples) }

    /// Notes an Observation of the first system; all of them come before those of the second.
    mutating func addFirst(_ observation: ComparedObservation) {
        report.first += 1
        // Without identifiers it is no one's counterpart.
        guard !observation.identity.isEmpty else {
            report.onlyInFirst += 1
            return show(Example(kind: "onlyInFirst", identity: ""))
        }
        if waiting.updateValue(observation, forKey: observation.identity) != nil { note(repeated: observation) }
    }

    /// Compares an Observation of the second system.
    mutating func addSecond(_ observation: ComparedObservation) {
        report.second += 1
        guard !observation.identity.isEmpty else {
            report.onlyInSecond += 1
            return show(Example(kind: "onlyInSecond", identity: ""))
        }
        guard met.insert(observation.identity).inserted else { return note(repeated: observation) }
        guard let first = waiting.removeValue(forKey: observation.identity) else {
            report.onlyInSecond += 1
            return show(Example(kind: "onlyInSecond", identity: observation.identity.text))
        }
        let differing = first.differences(from: observation, in: wanted)
        guard !differing.isEmpty else { return report.same += 1 }
        report.different += 1
        var parts: [String: [String]] = [:]
        for part in differing {
            report.parts[part.rawValue, default: 0] += 1
            parts[part.rawValue] = [first.parts[part]?.text ?? "", observation.parts[part]?.text ?? ""]
        }
        show(Example(kind: "different", identity: observation.identity.text, parts: parts))
    }

    /// What came of it.
    consuming func finish() -> Report {
        report.onlyInFirst += waiting.count
        for identity in waiting.keys.sorted().prefix(max(0, mostExamples - report.examples.count)) {
            show(Example(kind: "onlyInFirst", identity: identity.text))
        }
        return report
    }

    private mutating func note(repeated observation: ComparedObservation) {
        report.repeated += 1
        show(Example(kind: "repeated", identity: observation.identity.text))
    }

    private mutating func show(_ example: Example) {
        if report.examples.count < mostExamples { report.examples.append(example) }
    }
}
