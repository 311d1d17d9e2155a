import KymographCore

/// Pauses and resumes types and sources of a running pipeline, as commands ask.
struct PauseControl {
    let book: PauseBook
    let store: Store
    let sources: [PipelineSettings.Source]
    let limits: PauseLimits
    /// Whether the broker of a source, by its number, has granted a session that keeps messages.
    let keeps: (Int) -> Bool
    /// Number of lanes, which follow.
    let lanes: Int
    /// Who asks, for the log.
    let asker: String
    let notes: LogTaker

    /// Milliseconds that an answer waits for lanes, and for what they have rejected to be on disk.
    private static let patience = 2_000

    /// Carries out `request`, where `types` are known.
    ///
    /// - Throws: ``PipelineError`` when a name is not known, or it cannot be kept on disk.
    func make(_ request: PauseRequest, isPausing: Bool, types: [String]) throws(PipelineError) -> [PauseOutcome] {
        let plan = try PausePlan(
            request, isPausing: isPausing, present: book.current, types: types,
            sources: sources.filter { !$0.isRemoved }.map(\.name),
            now: WallClock.now())
        for (target, former) in plan.steps where isPausing && former == nil {
            guard let reason = limits.refusal(target, keeps: keeps) else { continue }
            throw PipelineError(
                message: "\(target.kind.rawValue) \(target.name) cannot be paused: \(reason)",
                exitCode: ExitStatus.failure)
        }
        // Before it is done, so that nothing is done unnoted. Then on disk: what an answer says is true after a kill.
        for (target, _) in plan.changes { tell(target, isPausing: isPausing) }
        do throws(StoreError) { try store.note(plan.pauses) } catch {
            notes(.error("\(error.message): what is paused stays as it was"))
            throw PipelineError(error)
        }
        let generation = book.replace(with: plan.pauses)
        let isInEffect = wait { book.isAdopted(generation, lanes: lanes) }
        let changes = store.queue.changes
        _ = wait { store.queue.isCommitted(changes) }
        return plan.outcomes(now: WallClock.now(), isInEffect: isInEffect) { pause in
            store.read { try pause.letters($0) } ?? 0
        } waits: {
            waits($0)
        }
    }

    /// Says what is paused when a run begins.
    static func tellAtStart(_ pauses: [Pause], _ sources: [PipelineSettings.Source], notes: LogTaker) {
        for pause in pauses {
            let isKnown = pause.kind == .type || sources.contains { pause.isNamed($0.name) }
            let fate =
                isKnown
                ? "nothing of it is taken until 'kymo resume'"
                : "there is no source of this name now, and what others bring is taken"
            notes(.warning("\(pause.kind.rawValue) \(pause.name) is paused since \(pause.since.text): \(fate)"))
        }
    }

    /// Whether the senders of a source wait; nil for a type.
    private func waits(_ pause: Pause) -> Bool? {
        guard pause.kind == .source else { return nil }
        return sources.first { pause.isNamed($0.name) }?.configuration.canWait
    }

    private func tell(_ pause: Pause, isPausing: Bool) {
        let what = "\(pause.kind.rawValue) \(pause.name)"
        guard isPausing else {
            let text = "\(what) is taken again ('kymo resume'), asked by \(asker)"
            return notes(.deed(.resume, by: asker, text, level: .info))
        }
        let fate =
            waits(pause) == true
            ? "it is not read, and its senders wait" : "what comes of it is put aside as dead letters"
        notes(.deed(.pause, by: asker, "\(what) is paused ('kymo pause'): \(fate); asked by \(asker)"))
    }

    /// Waits until `isDone`, or for as long as an answer may take.
    private func wait(until isDone: () -> Bool) -> Bool {
        for _ in 0..<PauseControl.patience {
            if isDone() { return true }
            Wait.milliseconds(1)
        }
        return isDone()
    }
}
