import KymographCore

/// Where it is noted, and shown, what becomes of readings.
struct ReadingAccounts: Sendable {
    let ledger: PipelineLedger
    let deadLetters: DeadLetterWriter?
    /// What rules have decided.
    let rules = RuleCounts()
    let observer: (any ReadingObserver)?
    /// Where `kymo tap` looks in.
    let taps: TapPoint

    /// Those of a pipeline of `settings`; `ledger` has no reading yet.
    init(
        _ settings: PipelineSettings, _ ledger: PipelineLedger, _ observer: (any ReadingObserver)?
    ) throws(PipelineError) {
        (self.ledger, self.observer) = (ledger, observer)
        rules.expect(tagsOf: settings)
        taps = TapPoint(settings.returning.attention)
        do throws(SinkError) { deadLetters = try DeadLetterWriter.writer(settings) } catch {
            throw PipelineError(error)
        }
    }
}

extension RuleCounts {
    /// Has names for the constant tags of `settings` before others, from here on.
    func expect(tagsOf settings: PipelineSettings) {
        expect(
            Set(settings.constantTags),
            isComputed: settings.ruleList.readings.contains { !$0.computedTags.isEmpty })
    }
}

extension DeadLetterWriter {
    /// The one that `settings` want.
    fileprivate static func writer(_ settings: PipelineSettings) throws(SinkError) -> DeadLetterWriter? {
        if let path = settings.deadLetter { return try DeadLetterWriter(path: path, seal: settings.rotation.seal) }
        return settings.rejectedFile.map { DeadLetterWriter(making: $0) }
    }
}
