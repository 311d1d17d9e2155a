/// Decides by rules what becomes of readings, and gives them the tags of their sources. Of one thread.
package struct RuleDecider {
    /// What was decided.
    package struct Decision {
        /// Why the reading is not taken; nil when it is.
        package var refusal: Rejection?
        /// The rule that has decided; nil when none has.
        package var rule: String?
        /// What a letter says besides.
        package var detail = ""
        /// Whether values or tags are others than before: the payload is ``RuleDecider/payload`` then.
        package var isRewritten = false
    }

    /// A source whose readings are decided on.
    package struct Source: Sendable {
        /// Its name.
        package var name: String
        /// The tags of its readings (``ReadingTags``).
        package var tags: [UInt8]

        /// A source.
        package init(_ name: String, tags: [UInt8] = []) { (self.name, self.tags) = (name, tags) }
    }

    private let rules: [CompiledRule]
    private let work: RuleWork

    /// Without rules.
    package init() { (rules, work) = ([], RuleWork([], sources: [], types: [])) }

    /// Decides by `rules`, in their order, and then by `interceptor`, for these sources and types.
    package init(
        _ rules: [ReadingRule], sources: [Source], types: [MeasurementType],
        interceptor: (any ReadingInterceptor)? = nil
    ) {
        var expressions: [RuleExpression] = []
        self.rules = rules.map { CompiledRule($0, sources: sources.map(\.name), types: types, &expressions) }
        work = RuleWork(expressions, sources: sources, types: types, interceptor: interceptor)
    }

    /// Whether there is anything to decide, or to add.
    package var isOn: Bool { !rules.isEmpty || work.isOn }

    /// Whether it notes what rules do, for people (``takeSteps()``).
    package var isTraced: Bool {
        get { work.isTraced }
        nonmutating set { work.isTraced = newValue }
    }

    /// The payload of a reading that was rewritten; valid until the next decision.
    package var payload: ByteView { work.rewriter.view }

    /// Whether a reading without payload, of the series `key` from source `source`, is taken as it is, whatever it
    /// says.
    @inline(__always)
    package func takesAsIs(key: ByteView, source: Int) -> Bool {
        if work.isOn, work.concerns(source) { return false }
        for index in rules.indices where rules[index].mayBeAbout(key, source: source) { return false }
        return true
    }

    /// Decides on a reading of the series `key` (a ``SeriesKey``) from source `source`, and changes it as rules say;
    /// `tags` (``ReadingTags``) are those of its sender and of the patient map. Without `rewrites` it is what rules
    /// have made of it already.
    package func decide(
        _ reading: inout Measurement, _ payload: ByteView, key: ByteView, source: Int,
        tags: ByteView = ByteView(""), rewrites: Bool = true
    ) -> Decision {
        work.begin(reading, payload, key: key, source: source)
        defer { work.end() }
        if rewrites, !work.addTags(tags, to: &reading) { return refused(nil, "it has more tags than it can hold") }
        var accepting: String?
        for index in rules.indices where accepting == nil {
            let rule = rules[index]
            guard rule.mayBeAbout(key, source: source), rule.isWithinBounds(work.reading, work.payload, key: key)
            else { continue }
            if let condition = rule.condition {
                switch work.isTrue(condition) {
                case .success(let isTrue): if !isTrue { continue }
                case .failure(let failure): return refused(rule, failure.text)
                }
            }
            switch rule.rule.action {
            case .accept:
                work.note(RuleStep(rule: rule.rule.name, text: rule.rule.action.rawValue))
                accepting = rule.rule.name
            case .drop, .reject:
                work.note(RuleStep(rule: rule.rule.name, text: rule.rule.action.rawValue))
                return Decision(refusal: rule.rule.action.rejection, rule: rule.rule.name)
            case .rewrite:
                guard rewrites else { continue }
                if let failure = work.rewrite(by: rule, &reading) { return refused(rule, failure.text) }
            }
        }
        guard rewrites else { return Decision(rule: accepting) }
        var decision = work.intercept(&reading)
        if decision.rule == nil { decision.rule = accepting }
        return decision
    }

    private func refused(_ rule: CompiledRule?, _ failure: String) -> Decision {
        work.note(RuleStep(rule: rule?.rule.name ?? "tags", text: "failed: \(failure)"))
        return Decision(refusal: .ruleFailed, rule: rule?.rule.name, detail: failure)
    }

    // MARK: Counts

    /// Whether anything was counted since the last time.
    package var hasCounts: Bool { work.hasCounts }

    /// How many readings each rule has rewritten, and how many got each list of tags (``ReadingTags``), since the last
    /// time. A list may be there several times, each with a part of its readings.
    package func takeCounts() -> (rewritten: [(rule: String, count: Int)], tagged: [(tags: [UInt8], count: Int)]) {
        work.takeCounts(rules)
    }

    /// What rules did since the last time, while it is traced.
    package func takeSteps() -> [RuleStep] { work.takeSteps() }
}

/// What a rule has done with a reading, or with what became of it.
package struct RuleStep: Hashable, Sendable {
    /// The rule.
    package var rule: String
    /// What it did.
    package var text: String

    /// A step.
    package init(rule: String, text: String) { (self.rule, self.text) = (rule, text) }
}
