import KymographCore

/// Notes what became of the entries of a bundle that the server has answered.
struct EntryOutcomes {
    let channel: ServerChannel
    let rows: OutboxConsumer
    let creates: ConditionalCreates
    let confirmation: ContentConfirmation
    let refused: RefusedResources

    /// Notes what became of each entry of `part`; gives what is to be sent again.
    func note(_ answers: [EntryAnswer], of part: BundlePart, isTransaction: Bool) -> BundlePart? {
        let entryAnswers = zip(part.entries, answers.dropFirst(part.resources.count))
        var present: Set<ServerIdentifier> = []
        for (resource, answer) in zip(part.resources, answers) where note(answer, of: resource, in: part) {
            present.insert(resource.identifier)
        }
        for (entry, answer) in entryAnswers where answer.isStored {
            guard let resource = part.described.first(where: { $0.identifier == entry.described }) else { continue }
            creates.noteStored(resource.identifier, isNew: answer.status == 201)
            present.insert(resource.identifier)
            giveReceipts(resource, answer, attempts: part.attempts)
        }
        let missing = part.identifiers.subtracting(present)
        let rest = entryAnswers.filter { !note($1, of: $0, missing: missing) }.map(\.0)
        return part.rest(rest, missing: missing, isTransaction: isTransaction)
    }

    /// Notes what became of an entry; whether it is done. One whose Patient or Device is missing is not: its row must
    /// not be settled before.
    private func note(_ answer: EntryAnswer, of entry: DeliveryEntry, missing: Set<ServerIdentifier>) -> Bool {
        switch kind(of: answer, &entry.rebuffs) {
        case .stored:
            if entry.carried.contains(where: { missing.contains($0.identifier) }) {
                entry.mayBeStored = true
                if confirmation.isCertain(entry, answer) { entry.stored = answer }
                return false
            }
            confirmation.finish(entry, answer)
        case .later where !channel.isExhausted(entry.rebuffs):
            if answer.mayHaveStored { entry.mayBeStored = true }
            channel.note("\(entry.name): \(answer.text)")
            return false
        case .later, .refused, .doubtful, .tooLarge:
            rows.discard(entry, EntryAnswer.rejection(answer.status, answer.outcome), answer.text)
        }
        return true
    }

    /// Notes what became of a Patient or Device; whether it is done.
    private func note(_ answer: EntryAnswer, of resource: BundlePart.Resource, in part: BundlePart) -> Bool {
        guard let carried = resource.carried.first else { return true }
        switch kind(of: answer, &carried.rebuffs) {
        case .stored: creates.noteStored(resource.identifier, isNew: answer.status == 201)
        case .later where !channel.isExhausted(carried.rebuffs):
            channel.note("\(resource.identifier.type): \(answer.text)")
            return false
        case .later, .refused, .doubtful, .tooLarge: break
        }
        giveReceipts(resource, answer, attempts: part.attempts)
        return true
    }

    /// What an answer to one entry means; `rebuffs` are those that it had before.
    private func kind(of answer: EntryAnswer, _ rebuffs: inout Rebuffs) -> AnswerKind {
        let kind = AnswerKind(status: answer.status, outcome: answer.outcome, failures: rebuffs.count, isWhole: false)
        if kind == .later { channel.note(&rebuffs, isOwn: ![429, 503].contains(answer.status)) }
        return kind
    }

    // MARK: Patients and Devices

    private func giveReceipts(_ resource: BundlePart.Resource, _ answer: EntryAnswer, attempts: Int) {
        if answer.isStored { refused.forget(resource.identifier) }
        for carried in resource.carried where !carried.isReceipted {
            carried.isReceipted = true
            answer.isStored ? keepReceipt(carried, answer, attempts) : keepRefusal(carried, answer, attempts)
        }
    }

    private func keepReceipt(_ carried: CarriedResource, _ answer: EntryAnswer, _ attempts: Int) {
        rows.keep(
            DeliveryReceipt(
                row: carried.row, resource: carried.name, status: answer.status, location: answer.location,
                version: answer.version, attempts: attempts))
    }

    private func keepRefusal(_ carried: CarriedResource, _ answer: EntryAnswer, _ attempts: Int) {
        let reason = EntryAnswer.rejection(answer.status, answer.outcome)
        guard refused.note(answer, of: carried.identifier) else { return rows.countRefusal(reason) }
        rows.keep(
            UndeliverableEntry(
                row: carried.row, resource: carried.name, reason: reason, detail: answer.text, bytes: carried.excerpt,
                attempts: attempts))
        guard refused.isFull else { return }
        rows.tell(
            "\(refused.most) Patients and Devices that the server refuses are dead letters; further ones are counted, "
                + "and none is a dead letter before a restart or a reload of the sink's settings")
    }
}
