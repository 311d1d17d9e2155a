import FoundationEssentials
import GRDB
import Glibc
import KymographCore

/// What a running pipeline answers to commands.
extension Pipeline {
    /// Listens in the data directory, if there is one. Without it the pipeline works all the same: commands then see
    /// the directory only.
    func openControl() -> ControlServer? {
        guard let stage else { return nil }
        do throws(SourceError) {
            let server = try ControlServer(directory: stage.store.directory.path) { [self] line in
                let answer = answer(line, stage.store)
                return (try? JSONEncoder().encode(answer)).map { [UInt8]($0) } ?? []
            }
            WorkerThread.start("kymo-control") { server.run() }
            return server
        } catch {
            control.note(.warning("\(error.message); kymo status and kymo dead see the data directory only"))
            return nil
        }
    }

    private func answer(_ line: [UInt8], _ store: Store) -> ControlAnswer {
        guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else {
            return ControlAnswer(error: "this is no request that kymo \(KymographVersion.number) knows")
        }
        if request.command == .forgetLookups { return forgetLookups() }
        if request.command == .expect { return expect(request.letters, store) }
        guard let change = request.letterChange else { return ControlAnswer(status: status(store)) }
        if case .deliver = change, stage?.deliverySummaries.isEmpty ?? true {
            return ControlAnswer(
                error:
                    "this instance has no FHIR server to send entries to: end it, and replay before one with --server")
        }
        let refusals = store.read { try change.refusals($0) } ?? []
        guard store.make(change.without(refusals)) else {
            return ControlAnswer(error: "the store takes nothing at present")
        }
        return ControlAnswer(refused: refusals)
    }

    /// Expects the bytes of letters, which were received before; those that would be rejected again are refused.
    private func expect(_ numbers: [Int64], _ store: Store) -> ControlAnswer {
        let letters = store.read { try StoredLetter.fetch(numbers, $0) } ?? []
        let refusals = LetterTrial(settings, mappings.current, types: mappings.current.types).refusals(letters)
        let refused = Set(refusals.map(\.letter))
        for letter in letters where !refused.contains(letter.number) { letter.expect(settings.returning) }
        return ControlAnswer(refused: refusals)
    }

    private func forgetLookups() -> ControlAnswer {
        let servers = stage?.forgetLookups() ?? 0
        return ControlAnswer(error: servers > 0 ? nil : "this instance has no FHIR server that it asks for Devices")
    }

    /// What the database holds; nil without one, or when it cannot be read.
    var storedStatus: InstanceStatus? {
        guard let store = stage?.store else { return nil }
        // Without `Store.read`: whoever looks on must not end the process.
        return try? store.pool.read { try read(store, into: InstanceStatus(directory: store.directory.path), $0) }
    }

    private func read(_ store: Store, into status: InstanceStatus, _ db: Database) throws -> InstanceStatus {
        var status = status
        try status.read(db, nil, limitBytes: store.settings.maxBytes, now: WallClock.now())
        return status
    }

    private func status(_ store: Store) -> InstanceStatus {
        var status = InstanceStatus(directory: store.directory.path)
        status.process = getpid()
        let summary = summary
        status.sources = zip(summary.sources, settings.sources).map { counted, source in
            InstanceStatus.Source(counted, framing: settings.framingText(of: source))
        }
        status.balance = summary.balance
        var answer = store.read { try read(store, into: status, $0) } ?? status
        for (sink, delivery) in stage?.deliverySummaries ?? [] { answer.note(delivery, of: sink) }
        answer.count(summary)
        return answer
    }
}

extension Store {
    /// Has the store's thread change dead letters, and waits until it is durable; false when that takes too long.
    func make(_ change: LetterChange) -> Bool {
        queue.add { $0.letterChanges.append(change) }
        for _ in 0..<1_000 {
            if let isDone = read({ try change.isDone($0) }), isDone { return true }
            Wait.milliseconds(10)
        }
        return false
    }
}
