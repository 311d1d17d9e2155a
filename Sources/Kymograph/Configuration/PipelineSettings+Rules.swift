package import KymographCore
import KymographTemplates

extension PipelineSettings {
    /// The rules as they are now.
    var ruleList: RuleList { rules?.current.rules ?? RuleList() }

    /// Another number than before when the rules are others.
    var ruleGeneration: Int { rules?.generation ?? 0 }

    /// Decides on readings of `sources`, by their places, and of `types`, as these settings say now.
    func decider(of sources: [Source], types: [MeasurementType]) -> RuleDecider {
        let sources = sources.map { RuleDecider.Source($0.name, tags: ReadingTags.list($0.tags)) }
        return RuleDecider(ruleList.readings, sources: sources, types: types, interceptor: interceptor)
    }

    /// The same of one source that may be none of these.
    package func decider(ofSource name: String, types: [MeasurementType]) -> RuleDecider {
        let known = listeningSources.first { $0.isNamed(name) }
        let source = RuleDecider.Source(name, tags: ReadingTags.list(known?.tags ?? []))
        return RuleDecider(ruleList.readings, sources: [source], types: types, interceptor: interceptor)
    }

    /// Decides on resources as these settings say now.
    package var entryRules: EntryRules {
        var rules = EntryRules(
            ruleList.resources, sources: numberedSources,
            sinks: placedSinks.map { $0?.name ?? "" })
        rules.interceptor = entryInterceptor
        rules.watcher = batchWatcher
        return rules
    }

    /// All sources whose readings windows may have, with their numbers: of those that are configured no more, too.
    private var numberedSources: [(name: String, number: Int)] {
        knownSources + sources.map { ($0.name, $0.ledgerNumber) }
    }

    /// Files of rules, and of peers, whose errors keep former ones in use.
    var refusedLists: (rules: Int, peers: Int) {
        let ofSources = sources.filter { !$0.isRemoved }.compactMap(\.configuration.peers)
        let peers = ofSources + [search.peers].compactMap(\.self)
        return (rules?.isRefused == true ? 1 : 0, peers.count { $0.isRefused })
    }

    /// Why rules cannot be about the resources of a source that they name; nil where all can.
    func unknownSource(of rules: [EntryRule]) -> String? {
        let strangers = numberedSources.filter { $0.number == ReadingSource.other }.map(\.name)
        guard !strangers.isEmpty else { return nil }
        for rule in rules {
            let patterns = rule.sources.map(NamePattern.init)
            guard let name = strangers.first(where: { name in patterns.contains { $0.matches(name.utf8) } })
            else { continue }
            return
                "the rule \(rule.name) is about resources of \(name), and that is beyond the sources that windows can "
                + "tell apart: name devices or types, or use another data directory"
        }
        return nil
    }

    /// Whether anything vetoes or patches resources as these settings say now.
    var decidesOnResources: Bool {
        ruleList.resources.contains { $0.action != .keep } || entryInterceptor != nil
    }

    /// Constant tags that readings may get from sources, peers, rules and the patient map. Those of patches are none:
    /// no filter sees them.
    var constantTags: [String] {
        let ofPatients = patients.book?.current.map.tagTexts ?? []
        let ofPeers = listeningSources.compactMap(\.configuration.peers).flatMap(\.tagTexts)
        return listeningSources.flatMap(\.tags) + ruleList.readings.flatMap(\.tags) + ofPatients + ofPeers
    }

    /// The same, as filters name them: with its system, and by its code alone.
    var tagsOfReadings: [String] {
        let tags = constantTags
        return tags + tags.compactMap { tag in tag.firstIndex(of: "|").map { String(tag[tag.index(after: $0)...]) } }
    }

    /// What is to be said of the patterns of tags of `sink`, in sentences, where filters name `constants`.
    ///
    /// A pattern with a bar may mean tags that a rule makes of what a reading says by their system, which the rule
    /// chooses. One without means codes, which senders choose: a typing error of a constant, and a constant that anyone
    /// may send, are told of. One that takes all codes of a rule was meant so.
    func strayTags(_ sink: Sink, among constants: [String]) -> [String] {
        let systems = ruleList.readings.flatMap(\.computedTags).map(\.system)
        guard !systems.isEmpty else {
            return PipelineSettings.stray(sink.tags, among: constants, "tag", "sink", sink.name)
        }
        let prefixes = systems.map { $0.map { "\($0)|" } ?? "" }
        return sink.tags.flatMap { text -> [String] in
            let pattern = NamePattern(text)
            if prefixes.contains(where: { pattern.matches($0.utf8) }) { return [] }
            guard let bar = text.lastIndex(of: "|") else { return [openTag(text, sink, constants)] }
            let system = NamePattern(String(text[..<bar]))
            if systems.contains(where: { $0.map { system.matches($0.utf8) } ?? false }) { return [] }
            return PipelineSettings.stray([text], among: constants, "tag", "sink", sink.name)
        }
    }

    /// That senders can choose `tag`, of `sink`, which is a code.
    private func openTag(_ tag: String, _ sink: Sink, _ constants: [String]) -> String {
        let pattern = NamePattern(tag)
        guard constants.contains(where: { pattern.matches($0.utf8) }) else {
            let advice = NearestName.advice(
                for: tag, among: constants, otherwise: "give that 'from' a system, and write system|code")
            return
                "sink \(sink.name): no mapping has a tag '\(tag)', and only 'from' of a rule may give it; \(advice)"
        }
        return "sink \(sink.name): senders can choose the tag '\(tag)', too, by 'from' of a rule; write system|code, "
            + "and give the tag a system if it has none"
    }

    /// Names in rules that no mapping of `set` has, and of sinks and sources that there are not, in sentences. A reload
    /// may bring them.
    func strayRules(_ set: MappingSet) -> [String] {
        ruleList.readings.flatMap { strays($0, set.types) } + ruleList.resources.flatMap { strays($0, set) }
    }

    private func strays(_ rule: ReadingRule, _ types: [MeasurementType]) -> [String] {
        let found = rule.types.flatMap {
            PipelineSettings.stray([$0], among: types.map(\.name), "type", "rule", rule.name)
        }
        let names = [rule.value].compactMap { $0 } + rule.changes.map(\.name)
        return found + straySources(rule.sources, of: rule.name, among: [])
            + names.filter { name in !types.contains { $0.valueSlot(name) != nil } }.flatMap {
                PipelineSettings.stray([$0], among: types.flatMap(\.valueNames), "value", "rule", rule.name)
            }
    }

    private func strays(_ rule: EntryRule, _ set: MappingSet) -> [String] {
        let types = rule.types.flatMap {
            PipelineSettings.stray([$0], among: set.types.map(\.name), "type", "rule", rule.name)
        }
        let sinks = rule.sinks.flatMap {
            PipelineSettings.stray([$0], among: outgoingSinks.map(\.name), "sink", "rule", rule.name)
        }
        let sources = straySources(rule.sources, of: rule.name, among: knownSources.map(\.name))
        guard rule.action == .patch else { return types + sinks + sources }
        return types + sinks + sources + unpatched(rule, set)
    }

    /// Those of `patterns` that mean none of the sources, nor of the `others`. Where flags name the sources of a run,
    /// rules may be about those of the configuration. A replay has only the sources of what it replays, and says
    /// nothing.
    private func straySources(_ patterns: [String], of rule: String, among others: [String]) -> [String] {
        guard !isReplay else { return [] }
        let names = listeningSources.map(\.name) + replacedSources + others
        return PipelineSettings.stray(patterns, among: names, "source", "rule", rule)
    }

    /// Types that a patch names and cannot be made of.
    private func unpatched(_ rule: EntryRule, _ set: MappingSet) -> [String] {
        let patterns = rule.types.map(NamePattern.init)
        return zip(set.types, set.fhirTemplates).compactMap { type, template in
            guard let template, patterns.contains(where: { $0.matches(type.name.utf8) }), !rule.patch.suits(template)
            else { return nil }
            return
                "rule \(rule.name): it does not change the type \(type.name), which is no Observation, or has a note "
                + "that is a value"
        }
    }
}
