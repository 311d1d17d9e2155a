/// The rules for resources, and the names that they are about.
package struct EntryRules: Sendable {
    /// In their order.
    package var rules: [EntryRule]
    /// Names of sources, with their numbers (``ReadingSource``).
    package var sources: [(name: String, number: Int)]
    /// Names of sinks by place (``SinkRouting``), empty where there is none.
    package var sinks: [String]
    /// What a program decides behind them; nil for nothing.
    package var interceptor: (any EntryInterceptor)?
    /// Is shown each block before sinks get it; the bytes are valid during the call. Nil for nothing.
    package var watcher: (@Sendable (ByteView) -> Void)?

    /// `rules`, of these sources and sinks.
    package init(_ rules: [EntryRule] = [], sources: [(name: String, number: Int)] = [], sinks: [String] = []) {
        (self.rules, self.sources, self.sinks) = (rules, sources, sinks)
    }
}

/// Decides by rules what becomes of resources. Of one thread.
package final class EntryRuleDecider {
    /// What was decided on a content.
    package struct Ruling: Sendable {
        /// Sinks that do not get it.
        package var vetoed = BundleRoute.none
        /// The patches that it gets.
        package var patches = PatchSelection()
        /// Whether servers that delete what was an error keep it.
        package var isKept = false
    }

    private let rules: [EntryRule]
    /// How many places of sinks there are.
    let sinkCount: Int
    /// Of each rule, the numbers of sources as bits; nil for all.
    private let sources: [UInt16?]
    /// Of each rule, the sinks that a veto is about.
    private let vetoes: [BundleRoute]
    /// Of each rule, the place of its condition.
    private let conditions: [Int?]
    private let interceptor: (any EntryInterceptor)?
    /// What the interceptor may add.
    private let ownPatches: [EntryPatch]
    private var intercepted = 0
    private var evaluator: RuleEvaluator
    private var types: [MeasurementType] = []
    /// By type, whether each rule is about it.
    private var ofTypes: [[Bool]] = []
    /// By type, which of ``ownPatches`` change its resources, as bits.
    private var ownOfTypes: [UInt64] = []
    /// By series, which rules may be about it, as bits.
    private var ofSeries: [UInt64?] = []
    private var document = ByteWriter(capacity: 4_096)
    /// Bytes of it, without padding.
    private var documentCount = 0
    private var counts: [Int]
    private(set) var hasCounts = false

    /// Most rules, and most patches of an interceptor: they are bits.
    package static let most = 64

    /// Decides by `rules`; nil when there is nothing to decide. `templates` has one element per type.
    package init?(_ rules: EntryRules, types: [MeasurementType], templates: [FHIRTemplate?]) {
        guard !rules.rules.isEmpty || rules.interceptor != nil else { return nil }
        precondition(rules.rules.count <= Self.most)
        self.rules = rules.rules
        interceptor = rules.interceptor
        ownPatches = rules.interceptor?.patches ?? []
        precondition(ownPatches.count <= Self.most)
        sinkCount = rules.sinks.count
        sources = rules.rules.map { EntryRuleDecider.numbers($0, rules.sources) }
        vetoes = rules.rules.map { EntryRuleDecider.route($0, rules.sinks) }
        var expressions: [RuleExpression] = []
        conditions = rules.rules.map { rule in
            rule.condition.map { condition in
                expressions.append(condition)
                return expressions.count - 1
            }
        }
        evaluator = RuleEvaluator(expressions)
        counts = rules.rules.map { _ in 0 }
        adopt(types: types, templates: templates)
    }

    private static func numbers(_ rule: EntryRule, _ sources: [(name: String, number: Int)]) -> UInt16? {
        guard !rule.sources.isEmpty else { return nil }
        let patterns = rule.sources.map(NamePattern.init)
        return sources.reduce(0) { bits, source in
            patterns.contains { $0.matches(source.name.utf8) } ? bits | 1 << UInt16(source.number) : bits
        }
    }

    private static func route(_ rule: EntryRule, _ sinks: [String]) -> BundleRoute {
        guard !rule.sinks.isEmpty else { return .all }
        let patterns = rule.sinks.map(NamePattern.init)
        return sinks.indices.reduce(into: BundleRoute.none) { route, sink in
            if patterns.contains(where: { $0.matches(sinks[sink].utf8) }) { route.insert(sink) }
        }
    }

    /// Follows newer mappings.
    func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        self.types = types
        ofSeries = []
        ownOfTypes = templates.map { template in
            ownPatches.indices.reduce(0) { bits, place in
                template.map(ownPatches[place].suits) ?? false ? bits | 1 << UInt64(place) : bits
            }
        }
        ofTypes = zip(types, templates).map { type, template in
            rules.map { rule in
                let isNamed =
                    rule.types.isEmpty || rule.types.contains { NamePattern($0).matches(type.name.utf8) }
                guard isNamed, rule.action == .patch else { return isNamed }
                return template.map(rule.patch.suits) ?? false
            }
        }
    }

    /// `templates` with these patches.
    package func patched(_ templates: [FHIRTemplate?], by patches: PatchSelection) -> [FHIRTemplate?] {
        zip(templates, ofTypes).map { template, isAbout in
            let ruled = rules.indices.reduce(template) { template, place in
                patches.rules >> UInt64(place) & 1 == 1 && isAbout[place]
                    ? template.map(rules[place].patch.applied) : template
            }
            return ownPatches.indices.reduce(ruled) { template, place in
                patches.own >> UInt64(place) & 1 == 1 ? template.map(ownPatches[place].applied) : template
            }
        }
    }

    /// What becomes of `content`, of the machine's series `number`. `encode` writes it as its template says, with
    /// references by identifier; false where there is nothing to write.
    ///
    /// That a resource was an error is never vetoed: who has it must hear of that. Where all its versions were vetoed
    /// for every sink, it does not come here with that status (``OpenWindow/isUnshown``). `hasDocuments` says whether
    /// samples of it may be in documents, which a later version without them has deleted.
    package func ruling(
        on content: borrowing WindowContent, series number: Int, hasDocuments: Bool = false,
        encode: (inout ByteWriter) -> Bool
    ) -> Ruling {
        var ruling = Ruling()
        let mayBeAbout = mayBeAbout(content.series, number)
        guard mayBeAbout != 0 || interceptor != nil else { return ruling }
        evaluator.end()
        defer { evaluator.end() }
        let mayDelete = content.status == .enteredInError || hasDocuments && content.mayHaveBeenSeen
        for place in rules.indices where mayBeAbout >> UInt64(place) & 1 == 1 {
            let isKeeping = rules[place].action == .keep
            guard mayDelete || !isKeeping, hasSource(place, content) else { continue }
            var isVetoed = rules[place].action == .veto
            if let condition = conditions[place] {
                switch isTrue(condition, encode: encode) {
                case false?: continue
                case true?: break
                // It is not sent, or not deleted, because nobody could tell whether it may be.
                case nil: isVetoed = !isKeeping
                }
            }
            if isVetoed, content.status == .enteredInError { continue }
            if isVetoed {
                ruling.vetoed.formUnion(rules[place].action == .veto ? vetoes[place] : .all)
            } else if isKeeping {
                ruling.isKept = true
            } else {
                ruling.patches.rules |= 1 << UInt64(place)
            }
            counts[place] += 1
            hasCounts = true
        }
        intercept(content.status, ownOfTypes[content.series.type], mayDelete: mayDelete, &ruling, encode: encode)
        return ruling
    }

    /// Asks the interceptor. Of its patches, `possible` change resources of the type; `mayDelete` says whether servers
    /// may be to delete something for it.
    private func intercept(
        _ status: ObservationStatus, _ possible: UInt64, mayDelete: Bool, _ ruling: inout Ruling,
        encode: (inout ByteWriter) -> Bool
    ) {
        let mayVeto = status != .enteredInError
        guard let interceptor else { return }
        var (isVetoed, isKept) = (false, false)
        switch hasDocument(encode: encode) {
        case false?: return
        case true?:
            let resource = document.view(0..<documentCount)
            isVetoed = mayVeto && interceptor.vetoes(resource)
            guard !isVetoed else { break }
            isKept = mayDelete && interceptor.keeps(resource)
            guard mayVeto ? !ownPatches.isEmpty : possible != 0 else { break }
            if let own = interceptor.patches(for: resource) {
                ruling.patches.own = own & possible
            } else {
                isVetoed = mayVeto
            }
        // It is not sent, and not deleted, because nobody could tell whether it may be.
        case nil: (isVetoed, isKept) = (mayVeto, mayDelete)
        }
        guard isVetoed || isKept || ruling.patches.own != 0 else { return }
        if isVetoed { ruling.vetoed = .all }
        if isKept { ruling.isKept = true }
        intercepted += 1
        hasCounts = true
    }

    /// Whether there is a resource to look at; nil when it is no JSON.
    private func hasDocument(encode: (inout ByteWriter) -> Bool) -> Bool? {
        if evaluator.hasDocument { return true }
        document.removeAll()
        guard encode(&document) else { return false }
        documentCount = document.count
        document.pad()
        return evaluator.begin(document.view) ? true : nil
    }

    private func mayBeAbout(_ series: SeriesIdentity, _ number: Int) -> UInt64 {
        while ofSeries.count <= number { ofSeries.append(nil) }
        if let known = ofSeries[number] { return known }
        var bits: UInt64 = 0
        for (place, rule) in rules.enumerated() where ofTypes[series.type][place] {
            guard rule.devices.isEmpty || rule.devices.contains(where: { $0.matches(series.device) }) else { continue }
            let isPatient =
                rule.patients.isEmpty
                || series.patient.map { patient in rule.patients.contains { $0.matches(patient) } } ?? false
            if isPatient { bits |= 1 << UInt64(place) }
        }
        ofSeries[number] = bits
        return bits
    }

    /// Whether a reading of `content`, or one that has gone, is from a source of rule `place`.
    private func hasSource(_ place: Int, _ content: borrowing WindowContent) -> Bool {
        guard let sources = sources[place] else { return true }
        if content.formerSources & sources != 0 { return true }
        for index in 0..<content.readings.count
        where sources >> UInt16(ReadingSource.number(content.readings[index].mark)) & 1 == 1 {
            return true
        }
        return false
    }

    /// Nil when the condition has failed.
    private func isTrue(_ condition: Int, encode: (inout ByteWriter) -> Bool) -> Bool? {
        guard let hasDocument = hasDocument(encode: encode) else { return nil }
        guard hasDocument else { return false }
        switch evaluator.evaluate(condition) {
        case .json(let json): return RuleEvaluator.isTrue(json)
        case .failed: return nil
        }
    }

    /// How often each rule has decided since the last time.
    package func takeCounts() -> [(rule: String, count: Int)] {
        hasCounts = false
        defer { (counts, intercepted) = (rules.map { _ in 0 }, 0) }
        let own = interceptor.map { [(rule: $0.name, count: intercepted)] } ?? []
        return (zip(rules, counts).map { (rule: $0.name, count: $1) } + own).filter { $0.count > 0 }
    }
}
