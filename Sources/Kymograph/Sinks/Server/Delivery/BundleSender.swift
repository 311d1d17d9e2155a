import KymographCore

/// Sends bundles until each entry is done: again, in parts, or without the entries that the server fails at.
final class BundleSender {
    private let settings: DeliverySettings
    private let channel: ServerChannel
    private let probe: ServerProbe
    private let rows: OutboxConsumer
    private let identities: any EntryIdentities
    private let flights: Flights
    private let judge: BundleJudge
    private let outcomes: EntryOutcomes
    /// How large bundles may be now.
    private(set) var limit: BundleLimit

    init(
        _ settings: DeliverySettings, _ channel: ServerChannel, _ probe: ServerProbe, rows: OutboxConsumer,
        identities: any EntryIdentities, creates: ConditionalCreates, flights: Flights
    ) {
        self.settings = settings
        self.channel = channel
        self.probe = probe
        self.rows = rows
        self.identities = identities
        self.flights = flights
        judge = BundleJudge(channel: channel, creates: creates)
        outcomes = EntryOutcomes(
            channel: channel, rows: rows, creates: creates,
            confirmation: ContentConfirmation(settings: settings, channel: channel, rows: rows),
            refused: RefusedResources(most: settings.mostRefusedResources))
        limit = BundleLimit(settings)
    }

    // MARK: Sending

    /// Sends the next part of `flight`, `wait` nanoseconds from now at the earliest. `rebuffs`: what it was answered
    /// before. `isFresh`: the server has just been asked about its entries.
    func send(_ flight: Flight, after wait: Int64 = 0, rebuffs: Rebuffs? = nil, isFresh: Bool = false) {
        guard let part = flight.parts.last else { return flights.land(flight) }
        let encoder = BundleEncoder(settings, probe.capabilities)
        let isTransaction = encoder.isTransaction(part)
        var answers: [EntryAnswer]?
        channel.send(
            encoder.request(part), after: wait, isDoubtful: flight.isDoubtful, isDetached: flight.isDetached,
            rebuffs: rebuffs,
            takesBack: { [self] exchange in
                (exchange.attempts > 0 || !isFresh) && takeBack(exchange, part, of: flight)
            }
        ) { [self] outcome, exchange in
            let verdict = judge.judge(outcome, exchange, part, isTransaction: isTransaction)
            if case .answered(let found) = verdict {
                answers = found
            } else if BundleJudge.mayHaveStored(outcome, isTransaction: isTransaction) {
                for entry in part.entries { entry.mayBeStored = true }
            }
            return follow(verdict, outcome, exchange, of: flight)
        } completion: { [self] outcome, exchange in
            note(part, attempts: exchange.attempts, in: flight)
            complete(flight, outcome, answers, isTransaction: isTransaction)
        }
    }

    private func follow(
        _ verdict: BundleJudge.Verdict, _ outcome: Exchange.Outcome, _ exchange: Exchange, of flight: Flight
    ) -> Exchange.Verdict {
        switch verdict {
        case .answered, .final: return .final
        case .retry(let mayBeDetached):
            if mayBeDetached { exchange.isDetached = detach(flight) }
            return .retry(EntryAnswer.text(outcome))
        }
    }

    /// Lets the devices of `flight` go on without the entry that it sends now, if that may be; whether they do.
    private func detach(_ flight: Flight) -> Bool {
        if let rest = flights.detachNext(of: flight) { send(rest) }
        return flight.isDetached
    }

    // MARK: Answers

    /// Notes how often `part` was sent.
    private func note(_ part: BundlePart, attempts: Int, in flight: Flight) {
        for entry in part.entries { entry.attempts += attempts }
        flight.parts[flight.parts.count - 1].attempts += attempts
    }

    private func complete(
        _ flight: Flight, _ outcome: Exchange.Outcome, _ answers: [EntryAnswer]?, isTransaction: Bool
    ) {
        guard let part = flight.parts.popLast() else { return }
        var wait: Int64 = 0
        if let answers {
            wait = take(answers, of: part, flight, isTransaction: isTransaction)
        } else {
            split(part, outcome, of: flight)
        }
        goOn(flight, after: wait)
    }

    /// Sends what is left of `flight`, or ends it.
    private func goOn(_ flight: Flight, after wait: Int64 = 0, rebuffs: Rebuffs? = nil, isFresh: Bool = false) {
        flights.releaseIdle(flight)
        flight.parts.isEmpty ? flights.land(flight) : send(flight, after: wait, rebuffs: rebuffs, isFresh: isFresh)
    }

    /// Takes the answers to the entries of `part`; how long to wait before the rest of it is sent again.
    private func take(
        _ answers: [EntryAnswer], of part: BundlePart, _ flight: Flight, isTransaction: Bool
    ) -> Int64 {
        limit.grow()
        if answers.dropFirst(part.resources.count).contains(where: \.isStored) { channel.taken += 1 }
        guard let rest = outcomes.note(answers, of: part, isTransaction: isTransaction) else { return 0 }
        let wait = channel.wait(afterFailures: rest.failures)
        let (own, left) = flight.isDetached ? ([], rest) : flights.detach(from: rest)
        for flight in own { send(flight, after: wait) }
        if let left { flight.parts.append(left) }
        return wait
    }

    /// Halves a part that the server will not take, or discards its only entry.
    private func split(_ part: BundlePart, _ outcome: Exchange.Outcome, of flight: Flight) {
        // Patients and Devices that were sent alone: they come again, with the entries.
        if part.entries.isEmpty { return }
        let reason = BundleJudge.rejection(outcome)
        if reason == .serverFailed {
            flight.doubt()
            if separate(part, of: flight) { return }
        }
        if reason == .entryTooLarge {
            limit.shrink(entries: part.count, bytes: part.entries.reduce(0) { $0 + $1.size })
        }
        if let (first, second) = part.halves {
            // The earlier half goes first, because the order of each device's Observations is kept.
            flight.parts += [second, first]
            return
        }
        for entry in part.entries { rows.discard(entry, reason, BundleJudge.detail(outcome)) }
    }

    /// Separates what the server fails at from what it brings, and from other devices; whether there was anything to
    /// separate.
    private func separate(_ part: BundlePart, of flight: Flight) -> Bool {
        if judge.bringsUnknown(part) {
            let (resources, rest) = part.trial
            flight.parts += [rest, resources]
            return true
        }
        // What the server fails at must not hold up the other devices.
        guard let (first, second) = part.apart(locked: flight.locked) else { return false }
        flight.parts.append(first)
        send(flights.branch(second, from: flight))
        return true
    }

    // MARK: Outdated ids

    /// Takes `exchange`, which sends `part`, back if that has outdated ids, and sends it with new ones; whether it
    /// does.
    private func takeBack(_ exchange: Exchange, _ part: BundlePart, of flight: Flight) -> Bool {
        let outdated = part.entries.filter(identities.isOutdated)
        guard !outdated.isEmpty else { return false }
        note(part, attempts: exchange.attempts, in: flight)
        let rebuffs = exchange.rebuffs
        identities.renew(outdated[...]) { [rows] entry, failure in
            rows.discard(entry, failure)
            flight.remove(entry)
        } completion: { [self] in
            goOn(flight, rebuffs: rebuffs, isFresh: true)
        }
        return true
    }
}
