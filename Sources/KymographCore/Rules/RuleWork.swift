/// What deciding on a reading needs besides the rules: the reading as it is by now, and its document. Of one thread.
final class RuleWork {
    /// Why an expression has no use, or a change is none.
    struct Failure: Error {
        var text: String
    }

    private let types: [MeasurementType]
    private let isTagged: [Bool]
    private let sources: [RuleDecider.Source]
    private var evaluator: RuleEvaluator
    private var document = ByteWriter(capacity: 512)
    var rewriter = ReadingRewriter()
    /// Decides behind the rules.
    private let interceptor: (any ReadingInterceptor)?
    /// Whether there is something to do without any rule.
    let isOn: Bool
    /// Whether ``note(_:)`` keeps steps.
    var isTraced = false
    private var steps: [RuleStep] = []
    private var tagCounts: [(tags: [UInt8], count: Int)] = []
    private static let comparedLists = 32

    // The reading that is decided on.
    private(set) var reading = Measurement(instant: .distantPast, received: .distantPast)
    private(set) var payload = ByteView("")
    private var key = ByteView("")
    private var source = 0
    private(set) var isRewritten = false
    /// Bytes of tags by what it says, with the end of each. Valid once it is rewritten.
    private var computedBytes = 0
    /// Whether the present document is that of the reading as it is.
    private var isDocumented = false
    private(set) var hasCounts = false
    /// Readings that the interceptor has rewritten since they were counted last.
    private var intercepted = 0

    init(
        _ expressions: [RuleExpression], sources: [RuleDecider.Source], types: [MeasurementType],
        interceptor: (any ReadingInterceptor)? = nil
    ) {
        evaluator = RuleEvaluator(expressions)
        (self.sources, self.types) = (sources, types)
        isTagged = sources.map { !$0.tags.isEmpty }
        self.interceptor = interceptor
        isOn = interceptor != nil || isTagged.contains(true)
    }

    /// Whether readings of source `source` are changed, or decided on, without any rule.
    @inline(__always)
    func concerns(_ source: Int) -> Bool { interceptor != nil || isTagged[source] }

    /// Begins with a reading; the views must be valid until ``end()``.
    func begin(_ reading: Measurement, _ payload: ByteView, key: ByteView, source: Int) {
        (self.reading, self.payload, self.key, self.source) = (reading, payload, key, source)
        (isRewritten, isDocumented) = (false, false)
    }

    /// Forgets the views.
    func end() {
        evaluator.end()
        (payload, key) = (ByteView(""), ByteView(""))
    }

    private var type: MeasurementType { types[SeriesKey.type(of: key)] }

    // MARK: Expressions

    /// Whether the expression at `place` gives something true.
    func isTrue(_ place: Int) -> Result<Bool, Failure> {
        switch evaluate(place) {
        case .json(let json): .success(RuleEvaluator.isTrue(json))
        case .failed(let text): .failure(Failure(text: text))
        }
    }

    private func evaluate(_ place: Int) -> RuleEvaluator.Outcome {
        if !isDocumented {
            ReadingDocument.write(
                reading, payload, key: key, type: type, source: sources[source].name, to: &document)
            guard evaluator.begin(document.view) else { return .failed("the reading cannot be shown as JSON") }
            isDocumented = true
        }
        return evaluator.evaluate(place)
    }

    // MARK: Changes

    /// Adds the tags of the source, and those that are given with the reading; false when they have no room.
    func addTags(_ tags: ByteView, to reading: inout Measurement) -> Bool {
        let own = sources.isEmpty ? [] : sources[source].tags
        guard tags.count > 0 || !own.isEmpty else { return true }
        beginRewriting()
        let isAdded = own.withByteView { rewriter.add($0, to: &reading) } && rewriter.add(tags, to: &reading)
        return isAdded && settle(reading)
    }

    /// Changes the reading as `rule` says, all of it or nothing; why it cannot be.
    func rewrite(by rule: CompiledRule, _ reading: inout Measurement) -> Failure? {
        var values: [(slot: Int, name: String, value: RuleValue)] = []
        for (change, name) in zip(rule.changes(of: SeriesKey.type(of: key)), rule.rule.changes.map(\.name)) {
            switch value(of: change, name) {
            case .success(let value): values.append((change.slot, name, value))
            case .failure(let failure): return failure
            }
        }
        guard !rule.computedTags.isEmpty else { return finish(rule, values, rule.rule.tags, rule.tags, &reading) }
        let (tags, bytes): ([String], Int)
        do throws(Failure) { (tags, bytes) = try self.tags(of: rule) } catch { return error }
        guard !values.isEmpty || !tags.isEmpty else {
            note(RuleStep(rule: rule.rule.name, text: "rewrite: no tags"))
            return nil
        }
        if let failure = finish(rule, values, tags, ReadingTags.list(tags), &reading) { return failure }
        computedBytes = bytes
        return nil
    }

    /// The constant tags of `rule`, and those that its expressions give; and bytes of all by expressions by now.
    private func tags(of rule: CompiledRule) throws(Failure) -> (tags: [String], computedBytes: Int) {
        var tags = rule.rule.tags
        var bytes = isRewritten ? computedBytes : 0
        for (computed, place) in rule.computedTags {
            let known = tags.count
            switch evaluate(place) {
            case .json(let json): try computed.add(json, to: &tags)
            case .failed(let text): throw computed.failure(text)
            }
            bytes += tags[known...].reduce(0) { $0 + $1.utf8.count + 1 }
            guard bytes <= ComputedTags.longest else {
                let most = ComputedTags.longest
                throw computed.failure(
                    "the reading has more than \(most) bytes of such tags: select some in the expression")
            }
        }
        return (tags, bytes)
    }

    /// Gives the reading what `rule` has found; `list` has its tags, which are called `tags`.
    private func finish(
        _ rule: CompiledRule, _ values: [(slot: Int, name: String, value: RuleValue)], _ tags: [String],
        _ list: [UInt8], _ reading: inout Measurement
    ) -> Failure? {
        if let failure = apply(values, tags: list, &reading) { return failure }
        rule.rewritten += 1
        hasCounts = true
        note(rule.rule.name, values, tags)
        return nil
    }

    private func value(of change: CompiledRule.Change, _ name: String) -> Result<RuleValue, Failure> {
        let found: RuleValue
        switch change.content {
        case .constant(let value): found = value
        case .expression(let place):
            switch evaluate(place) {
            case .failed(let text): return .failure(Failure(text: "\(name): \(text)"))
            case .json(let json):
                guard let value = RuleEvaluator.value(json) else {
                    return .failure(Failure(text: "\(name): it gives no text and no number that can be kept exactly"))
                }
                found = value
            }
        }
        return RuleWork.settled(found, isNumeric: change.isNumeric, name)
    }

    /// A value as readings keep it: a number where the template reads one, else a text.
    private static func settled(
        _ value: RuleValue, isNumeric: Bool, _ name: String
    ) -> Result<RuleValue, Failure> {
        switch value {
        case .number(let number):
            guard !isNumeric else { return .success(value) }
            var text = ByteWriter(capacity: 32)
            text.append(number)
            return .success(.text(text.view.array))
        case .text(let text):
            if isNumeric { return .failure(Failure(text: "\(name): it must be a number, and is a text")) }
            guard !text.withByteView({ $0.isBlank }) else { return .failure(Failure(text: "\(name): it is blank")) }
            return .success(value)
        }
    }

    private func apply(
        _ values: [(slot: Int, name: String, value: RuleValue)], tags: [UInt8], _ reading: inout Measurement
    ) -> Failure? {
        beginRewriting()
        var changed = reading
        for (slot, name, value) in values where !rewriter.set(value, in: slot, of: &changed) {
            return Failure(text: "\(name): it is too long, or would take the place of samples")
        }
        guard tags.withByteView({ rewriter.add($0, to: &changed) }), settle(changed) else {
            return Failure(text: "it has more tags than it can hold")
        }
        reading = changed
        return nil
    }

    private func beginRewriting() {
        guard !isRewritten else { return }
        rewriter.begin(payload)
        computedBytes = 0
    }

    private func settle(_ changed: Measurement) -> Bool {
        (reading, payload) = (changed, rewriter.view)
        (isRewritten, isDocumented) = (true, false)
        return true
    }

    // MARK: Interceptor

    /// Asks the interceptor, the last to decide.
    func intercept(_ reading: inout Measurement) -> RuleDecider.Decision {
        if let interceptor {
            let verdict = interceptor.decide(
                self.reading, payload, key: key, type: type, source: sources[source].name)
            switch verdict {
            case .accept: break
            case .drop: return refused(.droppedByRule, interceptor.name, "")
            case .reject(let why): return refused(.rejectedByRule, interceptor.name, why)
            case .fail(let why): return refused(.ruleFailed, interceptor.name, why)
            case .rewrite(let values, let tags):
                if let failure = rewrite(values, tags, &reading) {
                    return refused(.ruleFailed, interceptor.name, failure.text)
                }
                intercepted += 1
                hasCounts = true
                note(interceptor.name, values.map { (0, $0.name, $0.value) }, tags)
            }
        }
        countTags()
        return RuleDecider.Decision(isRewritten: isRewritten)
    }

    private func refused(_ reason: Rejection, _ name: String, _ detail: String) -> RuleDecider.Decision {
        note(RuleStep(rule: name, text: detail.isEmpty ? reason.name : "\(reason.name): \(detail)"))
        return RuleDecider.Decision(refusal: reason, rule: name, detail: detail)
    }

    private func rewrite(
        _ values: [(name: String, value: RuleValue)], _ tags: [String], _ reading: inout Measurement
    ) -> Failure? {
        let type = type
        var settled: [(slot: Int, name: String, value: RuleValue)] = []
        for (name, value) in values {
            guard let slot = type.valueSlot(name) else {
                return Failure(text: "\(name): readings of \(type.name) have no such value")
            }
            let isNumeric = type.isNumeric.indices.contains(slot) && type.isNumeric[slot]
            switch RuleWork.settled(value, isNumeric: isNumeric, name) {
            case .success(let value): settled.append((slot, name, value))
            case .failure(let failure): return failure
            }
        }
        return apply(settled, tags: ReadingTags.list(tags), &reading)
    }

    // MARK: Counts and steps

    /// Counts the tags of the reading, which is taken. Senders can give each reading a list of its own: one is looked
    /// for among the last ones only, and may be counted in several parts.
    func countTags() {
        let tags = ReadingTags.list(in: payload)
        guard tags.count > 0 else { return }
        hasCounts = true
        for index in tagCounts.indices.suffix(RuleWork.comparedLists) where tags.equals(tagCounts[index].tags) {
            return tagCounts[index].count += 1
        }
        tagCounts.append((tags.array, 1))
    }

    func takeCounts(
        _ rules: [CompiledRule]
    ) -> (rewritten: [(rule: String, count: Int)], tagged: [(tags: [UInt8], count: Int)]) {
        hasCounts = false
        var rewritten = rules.filter { $0.rewritten > 0 }.map { ($0.rule.name, $0.rewritten) }
        if intercepted > 0, let interceptor { rewritten.append((interceptor.name, intercepted)) }
        intercepted = 0
        for rule in rules { rule.rewritten = 0 }
        defer { tagCounts.removeAll(keepingCapacity: true) }
        return (rewritten, tagCounts)
    }

    func note(_ step: @autoclosure () -> RuleStep) {
        if isTraced { steps.append(step()) }
    }

    private func note(_ rule: String, _ values: [(slot: Int, name: String, value: RuleValue)], _ tags: [String]) {
        guard isTraced else { return }
        let changes = values.map { "\($0.name) = \($0.value.text)" } + tags.map { "tag \($0)" }
        steps.append(RuleStep(rule: rule, text: "rewrite: \(changes.joined(separator: ", "))"))
    }

    func takeSteps() -> [RuleStep] {
        defer { steps = [] }
        return steps
    }
}

extension RuleValue {
    /// For people.
    fileprivate var text: String {
        switch self {
        case .number(let number):
            var writer = ByteWriter(capacity: 32)
            writer.append(number)
            return writer.view.string
        case .text(let text): return "'\(String(decoding: text, as: UTF8.self))'"
        }
    }
}
