import GRDB

/// Pauses or resumes types and sources.
package enum PauseChange {
    /// Carries out `request`: by the instance that uses `directory`, or in its store when there is none, for the next
    /// start. `notes` takes what the operator should know.
    ///
    /// - Throws: ``PipelineError`` when a name is not known, the instance does not answer, or the store cannot be
    ///   written.
    package static func make(
        _ request: PauseRequest, isPausing: Bool, _ directory: String, notes: @escaping LogTaker
    ) throws(PipelineError) -> [PauseOutcome] {
        guard ControlClient.isRunning(directory) else {
            return try write(request, isPausing: isPausing, directory, notes)
        }
        guard let answer = ControlClient.ask(ControlRequest(isPausing ? .pause : .resume, request), directory) else {
            throw PipelineError(
                message: "the instance that uses \(directory) does not answer", exitCode: ExitStatus.failure)
        }
        if let error = answer.error { throw PipelineError(message: error, exitCode: ExitStatus.failure) }
        return answer.pauses ?? []
    }

    private static func write(
        _ request: PauseRequest, isPausing: Bool, _ directory: String, _ notes: @escaping LogTaker
    ) throws(PipelineError) -> [PauseOutcome] {
        let types = try StoreReader(directory: directory).types().map(\.name)
        let store: Store
        do throws(StoreError) {
            store = try Store.whenFree(directory, notes: notes)
        } catch {
            throw PipelineError(error)
        }
        defer { store.close() }
        let now = WallClock.now()
        let plan = try PausePlan(
            request, isPausing: isPausing, present: store.pauses, types: types,
            sources: store.namedSources.map(\.name), now: now)
        let kind: DeedKind = isPausing ? .pause : .resume
        try AuditTrail.noteChange(
            plan.changes.map {
                AuditDeed(
                    kind, "'kymo \(kind.rawValue)' for the next start: \($0.target.kind.rawValue) \($0.target.name)")
            }, in: directory)
        do throws(StoreError) { try store.note(plan.pauses) } catch { throw PipelineError(error) }
        return plan.outcomes(now: now, isInEffect: true) { pause in
            store.read { try pause.letters($0) } ?? 0
        } waits: { _ in
            nil
        }
    }
}
