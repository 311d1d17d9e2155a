import KymographCore

extension DeliveryEngine {
    /// Sends the next part of `flight`, `wait` nanoseconds from now at the earliest. `rebuffs`: what it was answered
    /// before. `isFresh`: the server has just been asked about its entries.
    func send(_ flight: Flight, after wait: Int64 = 0, rebuffs: Rebuffs? = nil, isFresh: Bool = false) {
        guard let part = flight.parts.last else { return land(flight) }
        let body = body(of: part)
        let request = HTTPRequest(
            "POST", settings.bundleURL, headers: headers, body: body, timeout: settings.timeout)
        var answers: [EntryAnswer]?
        let isDetached = flight.detached != nil
        channel.send(
            request, after: wait, isDoubtful: flight.isDoubtful, isDetached: isDetached, rebuffs: rebuffs,
            takesBack: { [self] exchange in
                (exchange.attempts > 0 || !isFresh) && takeBack(exchange, part, of: flight)
            }
        ) { [self] outcome, exchange in
            let verdict = judge(outcome, exchange, part, of: flight, &answers)
            if answers == nil, mayHaveStored(outcome, part) {
                for entry in part.entries { entry.mayBeStored = true }
            }
            return verdict
        } completion: { [self] outcome, exchange in
            note(part, attempts: exchange.attempts, in: flight)
            complete(flight, outcome, answers)
        }
    }

    private var headers: [(name: String, value: String)] {
        [
            ("Content-Type", settings.version.contentType), ("Accept", "application/fhir+json"),
            ("Prefer", "return=minimal"),
        ]
    }

    private func body(of part: BundlePart) -> [UInt8] {
        let isTransaction = isTransaction(part)
        var body = ByteWriter(capacity: 1 << 14)
        body.appendBundleHead(isTransaction ? .transaction : .batch)
        let head = body.count
        for resource in part.resources {
            guard let carried = resource.carried.first else { continue }
            if body.count > head { body.append(UInt8(ascii: ",")) }
            // In a batch, nothing may refer to it.
            carried.write(isReferred: isTransaction, into: &body)
        }
        for entry in part.entries {
            if body.count > head { body.append(UInt8(ascii: ",")) }
            assembly(of: entry, in: part).write(entry, into: &body)
        }
        body.append("]}")
        return body.view.array
    }

    /// Whether the part goes as a transaction: if its blocks are, and the server can; or if it cannot do batches.
    func isTransaction(_ part: BundlePart) -> Bool {
        let isWanted = part.entries.first?.isTransaction ?? part.resources.contains { $0.carried.first?.fullURL != nil }
        return capabilities.hasTransaction && (isWanted || !capabilities.hasBatch)
    }

    // MARK: Judging

    private func judge(
        _ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: BundlePart, of flight: Flight,
        _ answers: inout [EntryAnswer]?
    ) -> Exchange.Verdict {
        switch outcome {
        case .failure(let failure):
            // The same request would get the same answer: half of it, half of the answer.
            if failure.kind == .tooLong, part.entries.count > 1 { return .final }
        case .success(let response):
            let said = (200..<300).contains(response.status) ? nil : ServerOutcome(body: response.body)
            let failures = exchange.rebuffs.count
            switch AnswerKind(status: response.status, outcome: said, failures: failures, isWhole: true) {
            case .stored:
                answers = self.answers(response, part)
                if answers != nil { return .final }
            case .tooLarge, .refused: return .final
            case .doubtful:
                channel.note(&exchange.rebuffs, isOwn: true)
                return exchange.rebuffs.isSuspicious ? .final : again(outcome, exchange, part, of: flight)
            case .later: break
            }
        }
        return retry(outcome, exchange, part, of: flight)
    }

    /// Whether the server may have stored entries of `part`, of a batch also before it failed at another one.
    private func mayHaveStored(_ outcome: Exchange.Outcome, _ part: BundlePart) -> Bool {
        if case .success(let response) = outcome, response.status == 500 { return !isTransaction(part) }
        return outcome.mayHaveStored
    }

    /// Again, unless it is to blame itself: then in parts, or never.
    private func retry(
        _ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: BundlePart, of flight: Flight
    ) -> Exchange.Verdict {
        if let isOwn = Rebuffs.isOwn(outcome) { channel.note(&exchange.rebuffs, isOwn: isOwn) }
        let isToBlame = isAlone(part) ? channel.isExhausted(exchange.rebuffs) : exchange.rebuffs.isDoubtful
        return isToBlame ? .final : again(outcome, exchange, part, of: flight)
    }

    /// The same again. Its devices do not wait for a lone entry that has been turned down so often.
    private func again(
        _ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: BundlePart, of flight: Flight
    ) -> Exchange.Verdict {
        if isAlone(part), exchange.rebuffs.isDoubtful { exchange.isDetached = detach(flight) }
        return .retry(EntryAnswer.text(outcome))
    }

    /// Whether a part is one entry, and nothing that comes with it can be to blame.
    private func isAlone(_ part: BundlePart) -> Bool { part.entries.count == 1 && !bringsUnknown(part) }

    /// Whether a part has Patients or Devices that the server may not have, and that were not sent alone.
    private func bringsUnknown(_ part: BundlePart) -> Bool {
        !part.isTried && part.resources.contains { !present.contains($0.identifier) }
    }

    private func answers(_ response: HTTPResponse, _ part: BundlePart) -> [EntryAnswer]? {
        // A transaction is stored as a whole; some servers say nothing more when asked for little.
        if response.body.isEmpty && isTransaction(part) {
            return Array(repeating: EntryAnswer(status: response.status), count: part.count)
        }
        return EntryAnswer.all(response.body, count: part.count)
    }

    // MARK: Answers

    /// Notes how often `part` was sent.
    func note(_ part: BundlePart, attempts: Int, in flight: Flight) {
        for entry in part.entries { entry.attempts += attempts }
        flight.parts[flight.parts.count - 1].attempts += attempts
    }

    private func complete(_ flight: Flight, _ outcome: Exchange.Outcome, _ answers: [EntryAnswer]?) {
        guard let part = flight.parts.popLast() else { return }
        var wait: Int64 = 0
        if let answers {
            size.grow()
            if answers.dropFirst(part.resources.count).contains(where: \.isStored) { channel.taken += 1 }
            if let rest = deliver(part, answers) {
                wait = channel.wait(afterFailures: rest.failures)
                flight.parts += detach(from: rest, of: flight, after: wait).map { [$0] } ?? []
            }
        } else {
            split(part, outcome, of: flight)
        }
        releaseIdle(flight)
        flight.parts.isEmpty ? land(flight) : send(flight, after: wait)
    }

    /// Halves a part that the server will not take, or gives its only entry up.
    private func split(_ part: BundlePart, _ outcome: Exchange.Outcome, of flight: Flight) {
        // Patients and Devices that were sent alone: they come again, with the entries.
        if part.entries.isEmpty { return }
        let reason = Self.rejection(outcome)
        if reason == .serverFailed { flight.isDoubtful = true }
        if reason == .serverFailed, bringsUnknown(part) {
            let (resources, rest) = part.trial
            flight.parts += [rest, resources]
            return
        }
        // What the server fails at must not hold up the other devices.
        if reason == .serverFailed, let (first, second) = part.apart(locked: flight.locked) {
            flight.parts.append(first)
            return branch(flight, second)
        }
        if reason == .entryTooLarge {
            size.shrink(entries: part.count, bytes: part.entries.reduce(0) { $0 + $1.size })
        }
        if let (first, second) = part.halves {
            // The earlier half goes first, because the order of each device's Observations is kept.
            flight.parts += [second, first]
            return
        }
        for entry in part.entries { discard(entry, reason, Self.detail(outcome)) }
    }

    /// Why an entry is given up after `outcome`.
    private static func rejection(_ outcome: Exchange.Outcome) -> Rejection {
        switch outcome {
        case .failure(let failure): return failure.kind == .tooLong ? .entryTooLarge : .serverFailed
        case .success(let response):
            let said = ServerOutcome(body: response.body)
            let kind = AnswerKind(status: response.status, outcome: said, failures: 0, isWhole: true)
            return kind == .tooLarge ? .entryTooLarge : EntryAnswer.rejection(response.status, said)
        }
    }

    private static func detail(_ outcome: Exchange.Outcome) -> String {
        switch outcome {
        case .failure(let failure): failure.message
        case .success(let response): EntryAnswer.text(response.status, ServerOutcome(body: response.body))
        }
    }

    /// Notes what became of each entry; gives what is to be sent again.
    private func deliver(_ part: BundlePart, _ answers: [EntryAnswer]) -> BundlePart? {
        let entryAnswers = zip(part.entries, answers.dropFirst(part.resources.count))
        var present: Set<ServerIdentifier> = []
        for (resource, answer) in zip(part.resources, answers) where deliver(resource, answer, part) {
            present.insert(resource.identifier)
        }
        for (entry, answer) in entryAnswers where answer.isStored {
            guard let resource = part.described.first(where: { $0.identifier == entry.described }) else { continue }
            keepPresent(resource.identifier, answer)
            present.insert(resource.identifier)
            giveReceipts(resource, answer, part)
        }
        let missing = part.identifiers.subtracting(present)
        let rest = entryAnswers.filter { !deliver($0, $1, missing: missing) }.map(\.0)
        return part.rest(rest, missing: missing, isTransaction: isTransaction(part))
    }

    /// Notes what became of an entry; whether it is done. One whose Patient or Device is missing is not: its row must
    /// not be settled before.
    private func deliver(_ entry: DeliveryEntry, _ answer: EntryAnswer, missing: Set<ServerIdentifier>) -> Bool {
        switch kind(of: answer, &entry.rebuffs) {
        case .stored:
            if entry.carried.contains(where: { missing.contains($0.identifier) }) { return false }
            isCertain(entry, answer) ? finish(entry, answer) : confirm(entry, answer)
        case .later where !channel.isExhausted(entry.rebuffs):
            channel.note("\(entry.name): \(answer.text)")
            return false
        case .later, .refused, .doubtful, .tooLarge:
            discard(entry, EntryAnswer.rejection(answer.status, answer.outcome), answer.text)
        }
        return true
    }

    /// Notes what became of a Patient or Device; whether it is done.
    private func deliver(_ resource: BundlePart.Resource, _ answer: EntryAnswer, _ part: BundlePart) -> Bool {
        guard let carried = resource.carried.first else { return true }
        switch kind(of: answer, &carried.rebuffs) {
        case .stored: keepPresent(resource.identifier, answer)
        case .later where !channel.isExhausted(carried.rebuffs):
            channel.note("\(resource.identifier.type): \(answer.text)")
            return false
        case .later, .refused, .doubtful, .tooLarge: break
        }
        giveReceipts(resource, answer, part)
        return true
    }

    /// What an answer to one entry means; `rebuffs` are those that it had before.
    private func kind(of answer: EntryAnswer, _ rebuffs: inout Rebuffs) -> AnswerKind {
        let kind = AnswerKind(status: answer.status, outcome: answer.outcome, failures: rebuffs.count, isWhole: false)
        if kind == .later { channel.note(&rebuffs, isOwn: ![429, 503].contains(answer.status)) }
        return kind
    }

    private func giveReceipts(_ resource: BundlePart.Resource, _ answer: EntryAnswer, _ part: BundlePart) {
        for carried in resource.carried where !carried.isReceipted {
            carried.isReceipted = true
            receipt(carried, answer, attempts: part.attempts)
        }
    }

    private func receipt(_ carried: CarriedResource, _ answer: EntryAnswer, attempts: Int) {
        guard !answer.isStored else {
            return keep(
                DeliveryReceipt(
                    row: carried.row, resource: carried.name, status: answer.status, location: answer.location,
                    version: answer.version, attempts: attempts))
        }
        keep(
            UndeliverableEntry(
                row: carried.row, resource: carried.name,
                reason: EntryAnswer.rejection(answer.status, answer.outcome), detail: answer.text,
                bytes: carried.excerpt,
                attempts: attempts))
    }

    private func keepPresent(_ identifier: ServerIdentifier, _ answer: EntryAnswer) {
        checks.noteMade(identifier, isNew: answer.status == 201, now: clock.elapsed())
        if present.count >= 100_000 { present.removeAll() }
        present.insert(identifier)
    }

    // MARK: The end of a flight

    /// Lets the devices go on of which nothing is left in `flight`.
    func releaseIdle(_ flight: Flight) {
        let busy = Set(flight.parts.flatMap { $0.entries.map(\.lane) })
        for lane in flight.lanes where !busy.contains(lane.key) { release(lane) }
        flight.lanes.removeAll { !busy.contains($0.key) }
        let needed = flight.parts.reduce(into: Set()) { $0.formUnion($1.identifiers) }.subtracting(present)
        let done = flight.locked.subtracting(needed)
        locked.subtract(done)
        checks.end(done)
        flight.locked.formIntersection(needed)
    }

    func land(_ flight: Flight) {
        for lane in flight.lanes { release(lane) }
        locked.subtract(flight.locked)
        checks.end(flight.locked)
        if let entry = flight.detached { detached.remove(entry) }
        flights -= 1
    }
}
