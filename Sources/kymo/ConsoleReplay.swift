import Kymograph

/// A replay that an operator asks for in the console: in the process that takes readings, so that only a few letters
/// are in memory at once.
struct ConsoleReplay {
    /// Bytes of letters after which a batch is sent.
    private static let batchBytes = 2 << 20

    private var payloads = 0
    private var entries = 0
    private var refusals: [LetterRefusal] = []

    /// Replays the letters numbered `numbers` of `directory`, with those of which only a part is there or without.
    static func run(
        _ numbers: [Int64], withParts: Bool, _ replay: RunningReplay
    ) throws(PipelineError) -> ConsoleActions.Replay {
        let reader = try StoreReader(directory: replay.directory)
        var outcome = ConsoleReplay()
        let present = try reader.present(numbers)
        let gone = Set(numbers).subtracting(present).sorted()
        outcome.refusals = gone.map { LetterRefusal($0, "it is no longer in the store") }
        // Each batch would wait for them anew.
        var stuck: Set<String> = []
        try reader.letters(present, inBatchesOf: batchBytes) { letters in
            var batch = LetterBatch(letters, withParts: withParts)
            batch.refuse(
                batch.payloads.filter { stuck.contains($0.source) }.map {
                    LetterRefusal($0.number, "it was not sent: \($0.source) takes nothing at present")
                })
            stuck.formUnion(replay.run(&batch))
            outcome.add(batch)
        }
        return ConsoleActions.Replay(
            text: LetterBatch.text(payloads: outcome.payloads, entries: outcome.entries), refusals: outcome.refusals)
    }

    private mutating func add(_ batch: LetterBatch) {
        payloads += batch.payloads.count
        entries += batch.entries.count
        refusals += batch.refusals + batch.news + batch.partRefusals
    }
}
