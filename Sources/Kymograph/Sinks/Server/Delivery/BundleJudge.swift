import KymographCore

/// Decides from the outcome of an attempt whether a bundle is sent again as it is.
struct BundleJudge {
    /// What to do.
    enum Verdict {
        /// The server has answered each entry.
        case answered([EntryAnswer])
        /// Not to send the same bundle again.
        case final
        /// To send the same again; its devices need not wait for it if it `mayBeDetached`.
        case retry(mayBeDetached: Bool)
    }

    let channel: ServerChannel
    let creates: ConditionalCreates

    /// Judges the outcome of an attempt of `exchange` to send `part`, and notes what that says against the part.
    func judge(
        _ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: BundlePart, isTransaction: Bool
    ) -> Verdict {
        switch outcome {
        case .failure(let failure):
            // The same request would get the same answer: half of it, half of the answer.
            if failure.kind == .tooLong, part.entries.count > 1 { return .final }
        case .success(let response):
            let said = (200..<300).contains(response.status) ? nil : ServerOutcome(body: response.body)
            let failures = exchange.rebuffs.count
            switch AnswerKind(status: response.status, outcome: said, failures: failures, isWhole: true) {
            case .stored:
                let answers = answers(response, part, isTransaction: isTransaction)
                if let answers { return .answered(answers) }
            case .tooLarge, .refused: return .final
            case .doubtful:
                channel.note(&exchange.rebuffs, isOwn: true)
                return exchange.rebuffs.isSuspicious ? .final : again(exchange, part)
            case .later: break
            }
        }
        return retry(outcome, exchange, part)
    }

    private func answers(_ response: HTTPResponse, _ part: BundlePart, isTransaction: Bool) -> [EntryAnswer]? {
        // A transaction is stored as a whole; some servers say nothing more when asked for little.
        if response.body.isEmpty && isTransaction {
            return Array(repeating: EntryAnswer(status: response.status), count: part.count)
        }
        return EntryAnswer.all(response.body, count: part.count)
    }

    /// Again, unless it is to blame itself: then in parts, or never.
    private func retry(_ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: BundlePart) -> Verdict {
        if let isOwn = Rebuffs.isOwn(outcome) { channel.note(&exchange.rebuffs, isOwn: isOwn) }
        let isToBlame = isAlone(part) ? channel.isExhausted(exchange.rebuffs) : exchange.rebuffs.isDoubtful
        return isToBlame ? .final : again(exchange, part)
    }

    /// The same again. Its devices do not wait for a lone entry that has been turned down so often.
    private func again(_ exchange: Exchange, _ part: BundlePart) -> Verdict {
        .retry(mayBeDetached: isAlone(part) && exchange.rebuffs.isDoubtful)
    }

    /// Whether a part is one entry, and nothing that comes with it can be to blame.
    private func isAlone(_ part: BundlePart) -> Bool { part.entries.count == 1 && !bringsUnknown(part) }

    /// Whether a part has Patients or Devices that the server may not have, and that were not sent alone.
    func bringsUnknown(_ part: BundlePart) -> Bool {
        !part.isTried && part.resources.contains { !creates.isPresent($0.identifier) }
    }

    /// Whether the server may have stored entries of a bundle without saying so; of a batch also before it failed at
    /// another one.
    static func mayHaveStored(_ outcome: Exchange.Outcome, isTransaction: Bool) -> Bool {
        if case .success(let response) = outcome, response.status == 500 { return !isTransaction }
        return outcome.mayHaveStored
    }

    // MARK: Why an entry is abandoned

    /// The reason why an entry is abandoned after `outcome`.
    static func rejection(_ outcome: Exchange.Outcome) -> Rejection {
        switch outcome {
        case .failure(let failure): return failure.kind == .tooLong ? .entryTooLarge : .serverFailed
        case .success(let response):
            let said = ServerOutcome(body: response.body)
            let kind = AnswerKind(status: response.status, outcome: said, failures: 0, isWhole: true)
            return kind == .tooLarge ? .entryTooLarge : EntryAnswer.rejection(response.status, said)
        }
    }

    /// That reason in the server's words.
    static func detail(_ outcome: Exchange.Outcome) -> String {
        switch outcome {
        case .failure(let failure): failure.message
        case .success(let response): EntryAnswer.text(response.status, ServerOutcome(body: response.body))
        }
    }
}
