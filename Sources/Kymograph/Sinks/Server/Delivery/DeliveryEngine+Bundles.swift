import KymographCore

extension DeliveryEngine {
    /// Failures after which a bundle is sent in halves, or given up where it looks like a mistake in the set-up, if the
    /// server takes others meanwhile.
    private static let doubt = 6
    /// Attempts after which an entry that a server answers again and again with an error of its own is given up.
    private static let entryPatience = 30

    /// Sends the next part of `flight`, `wait` nanoseconds from now at the earliest.
    func send(_ flight: Flight, after wait: Int64 = 0) {
        guard let part = flight.parts.last else { return land(flight) }
        let body = body(of: part)
        let request = HTTPRequest(
            "POST", settings.bundleURL, headers: headers, body: body, timeout: settings.timeout)
        var answers: [EntryAnswer]?
        channel.send(request, after: wait) { outcome, exchange in
            self.judge(outcome, exchange, part, &answers)
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
        var body = Array(
            #"{"resourceType":"Bundle","type":"\#(isTransaction ? "transaction" : "batch")","entry":["#.utf8)
        var isFirst = true
        for resource in part.resources {
            guard let carried = resource.carried.first else { continue }
            if !isFirst { body += ",".utf8 }
            isFirst = false
            write(carried, isTransaction: isTransaction, into: &body)
        }
        for entry in part.entries {
            if !isFirst { body += ",".utf8 }
            isFirst = false
            form(of: entry, in: part).write(entry, into: &body)
        }
        body += "]}".utf8
        return body
    }

    /// Whether the part goes as a transaction: if its rows are, and the server can; or if it cannot do batches.
    func isTransaction(_ part: BundlePart) -> Bool {
        let isWanted = part.entries.first?.isTransaction ?? part.resources.contains { $0.carried.first?.fullURL != nil }
        return capabilities.hasTransaction && (isWanted || !capabilities.hasBatch)
    }

    /// Writes a Patient or Device; without `fullUrl` in a batch, where nothing may refer to it.
    private func write(_ carried: CarriedResource, isTransaction: Bool, into body: inout [UInt8]) {
        guard !isTransaction, carried.fullURL != nil else {
            body += carried.entry.bytes
            return
        }
        body += #"{"resource":"#.utf8
        body += carried.entry["resource"]?.bytes ?? []
        body += #","request":"#.utf8
        body += carried.entry["request"]?.bytes ?? []
        body += "}".utf8
    }

    // MARK: Judging

    private func judge(
        _ outcome: Exchange.Outcome, _ exchange: Exchange, _ part: BundlePart, _ answers: inout [EntryAnswer]?
    ) -> Exchange.Verdict {
        switch outcome {
        case .failure(let failure):
            // The same request would get the same answer: half of it, half of the answer.
            let isHopeless = failure.kind == .tooLong && part.entries.count > 1
            return isHopeless ? .final : .retry(failure.message)
        case .success(let response):
            let kind = kind(of: response, exchange)
            let isTaken = exchange.failures + 1 >= Self.doubt && exchange.othersAnswered > 0
            switch kind {
            case .stored:
                answers = self.answers(response, part)
                return answers == nil ? .retry("the answer is not a whole bundle (status \(response.status))") : .final
            case .tooLarge, .refused: return .final
            case .doubtful where isTaken: return .final
            case .later where response.status == 500 && isTaken && part.entries.count > 1: return .final
            case .doubtful, .later: return .retry(Self.text(response))
            }
        }
    }

    private func kind(of response: HTTPResponse, _ exchange: Exchange) -> AnswerKind {
        let outcome = (200..<300).contains(response.status) ? nil : ServerOutcome(body: response.body)
        return AnswerKind(status: response.status, outcome: outcome, failures: exchange.failures, isWhole: true)
    }

    private func answers(_ response: HTTPResponse, _ part: BundlePart) -> [EntryAnswer]? {
        // A transaction is stored as a whole; some servers say nothing more when asked for little.
        if response.body.isEmpty && isTransaction(part) {
            return Array(repeating: EntryAnswer(status: response.status), count: part.count)
        }
        return EntryAnswer.all(response.body, count: part.count)
    }

    /// What the server said, without the pages of proxies.
    private static func text(_ response: HTTPResponse) -> String {
        "the server answers \(EntryAnswer.text(response.status, ServerOutcome(body: response.body)))"
    }

    // MARK: Answers

    private func note(_ part: BundlePart, attempts: Int, in flight: Flight) {
        for entry in part.entries { entry.attempts += attempts }
        flight.parts[flight.parts.count - 1].attempts += attempts
    }

    private func complete(_ flight: Flight, _ outcome: Exchange.Outcome, _ answers: [EntryAnswer]?) {
        guard let part = flight.parts.popLast() else { return }
        var wait: Int64 = 0
        if let answers {
            size.grow()
            if let rest = deliver(part, answers) {
                flight.parts.append(rest)
                wait = channel.wait(afterFailures: rest.failures)
            }
        } else {
            split(part, outcome, of: flight)
        }
        releaseIdle(flight)
        flight.parts.isEmpty ? land(flight) : send(flight, after: wait)
    }

    /// Halves a part that the server will not take, or gives its only entry up.
    private func split(_ part: BundlePart, _ outcome: Exchange.Outcome, of flight: Flight) {
        var status = 0
        var said: ServerOutcome?
        if case .success(let response) = outcome {
            status = response.status
            said = ServerOutcome(body: response.body)
        }
        let isTooLarge =
            status == 0 || AnswerKind(status: status, outcome: said, failures: 0, isWhole: true) == .tooLarge
        // What the server fails at must not hold up the other devices.
        if status >= 500, let (first, second) = part.apart(locked: flight.locked) {
            flight.parts.append(first)
            return branch(flight, second)
        }
        if isTooLarge { size.shrink(entries: part.count, bytes: part.entries.reduce(0) { $0 + $1.size }) }
        if let (first, second) = part.halves {
            // The earlier half goes first, because the order of each device's Observations is kept.
            flight.parts += [second, first]
            return
        }
        for entry in part.entries {
            let reason = isTooLarge ? .entryTooLarge : EntryAnswer.rejection(status, said)
            discard(entry, reason, EntryAnswer.text(status, said))
        }
    }

    /// Sends `part` on its own, with its devices.
    private func branch(_ flight: Flight, _ part: BundlePart) {
        let keys = Set(part.entries.map(\.lane))
        let locked = flight.locked.intersection(part.identifiers)
        let branch = Flight(part, lanes: flight.lanes.filter { keys.contains($0.key) }, locked: locked)
        flight.lanes.removeAll { keys.contains($0.key) }
        flight.locked.subtract(locked)
        flights += 1
        send(branch)
    }

    /// Notes what became of each entry; gives what is to be sent again.
    private func deliver(_ part: BundlePart, _ answers: [EntryAnswer]) -> BundlePart? {
        var rest = part
        rest.failures += 1
        rest.resources = zip(part.resources, answers).filter { !deliver($0, $1, part) }.map(\.0)
        let missing = Set(rest.resources.map(\.identifier))
        let entryAnswers = answers.dropFirst(part.resources.count)
        rest.entries = zip(part.entries, entryAnswers)
            .filter { !deliver($0, $1, failures: part.failures, missing: missing) }.map(\.0)
        return rest.entries.isEmpty ? nil : rest
    }

    /// Notes what became of an entry; whether it is done. One whose Patient or Device is missing is not: its row must
    /// not be settled before.
    private func deliver(
        _ entry: RowEntry, _ answer: EntryAnswer, failures: Int, missing: Set<ServerIdentifier>
    ) -> Bool {
        switch AnswerKind(status: answer.status, outcome: answer.outcome, failures: failures, isWhole: false) {
        case .stored:
            if entry.carried.contains(where: { missing.contains($0.identifier) }) { return false }
            finish(entry, answer)
        case .later where entry.attempts < Self.entryPatience:
            channel.note("\(entry.name): \(answer.text)")
            return false
        case .later, .refused, .doubtful, .tooLarge:
            discard(entry, EntryAnswer.rejection(answer.status, answer.outcome), answer.text)
        }
        return true
    }

    /// Notes what became of a Patient or Device; whether it is done.
    private func deliver(_ resource: BundlePart.Resource, _ answer: EntryAnswer, _ part: BundlePart) -> Bool {
        switch AnswerKind(status: answer.status, outcome: answer.outcome, failures: part.failures, isWhole: false) {
        case .stored: keepPresent(resource.identifier)
        case .later where part.attempts < Self.entryPatience:
            channel.note("\(resource.identifier.type): \(answer.text)")
            return false
        case .later, .refused, .doubtful, .tooLarge: break
        }
        for carried in resource.carried where !carried.isReceipted {
            carried.isReceipted = true
            receipt(carried, answer, attempts: part.attempts)
        }
        return true
    }

    private func receipt(_ carried: CarriedResource, _ answer: EntryAnswer, attempts: Int) {
        guard !(200..<300).contains(answer.status) else {
            return receipts.append(
                DeliveryReceipt(
                    row: carried.row, resource: carried.name, status: answer.status, location: answer.location,
                    version: answer.version, attempts: attempts))
        }
        let type = carried.fullURL == nil ? "batch" : "transaction"
        var bundle = Array("{\"resourceType\":\"Bundle\",\"type\":\"\(type)\",\"entry\":[".utf8)
        bundle += carried.entry.bytes
        bundle += "]}\n".utf8
        undeliverable.append(
            UndeliverableEntry(
                row: carried.row, resource: carried.name,
                reason: EntryAnswer.rejection(answer.status, answer.outcome), detail: answer.text, bytes: bundle,
                attempts: attempts))
    }

    private func keepPresent(_ identifier: ServerIdentifier) {
        if present.count >= 100_000 { present.removeAll() }
        present.insert(identifier)
    }

    // MARK: The end of a flight

    /// Lets the devices go on of which nothing is left in `flight`.
    private func releaseIdle(_ flight: Flight) {
        let busy = Set(flight.parts.flatMap { $0.entries.map(\.lane) })
        for lane in flight.lanes where !busy.contains(lane.key) { release(lane) }
        flight.lanes.removeAll { !busy.contains($0.key) }
        let needed = flight.parts.reduce(into: Set()) { $0.formUnion($1.identifiers) }
        locked.subtract(flight.locked.subtracting(needed))
        flight.locked.formIntersection(needed)
    }

    private func land(_ flight: Flight) {
        for lane in flight.lanes { release(lane) }
        locked.subtract(flight.locked)
        flights -= 1
    }
}
