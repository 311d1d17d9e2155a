import GRDB

/// Changes dead letters of a store.
package enum DeadLetterChange {
    /// Carries out `request`: by the instance that uses `directory`, or in the directory itself when there is none.
    /// `notes` takes what the operator should know, such as that the store had to be repaired. Gives the letters that
    /// stay as they are; nothing keeps it from the others.
    ///
    /// - Throws: ``PipelineError`` when the instance does not answer or refuses, or the store cannot be written.
    @discardableResult
    package static func make(
        _ request: ControlRequest, _ directory: String, notes: @escaping LogTaker
    ) throws(PipelineError) -> [LetterRefusal] {
        if ControlClient.isRunning(directory) {
            guard let answer = ControlClient.ask(request, directory) else {
                throw PipelineError(
                    message: "the instance that uses \(directory) does not answer", exitCode: ExitStatus.failure)
            }
            if let error = answer.error { throw PipelineError(message: error, exitCode: ExitStatus.failure) }
            return answer.refused ?? []
        }
        guard let change = request.letterChange else { return [] }
        do throws(StoreError) {
            let store = try Store.whenFree(directory, notes: notes)
            defer { store.close() }
            return try store.apply(change)
        } catch {
            throw PipelineError(error)
        }
    }
}

extension Store {
    /// Opens the store in `directory`, which an instance that has just ended may hold for a moment.
    static func whenFree(
        _ directory: String, notes: @escaping LogTaker
    ) throws(StoreError) -> Store {
        var attempts = 0
        while true {
            do throws(StoreError) {
                let store = try Store(path: directory, notes: notes)
                store.watch.begin(note: notes) { notes(.error($0.message)) }
                return store
            } catch {
                guard error.kind == .inUse, attempts < 200 else { throw error }
                attempts += 1
                Wait.milliseconds(20)
            }
        }
    }

    /// Makes a change at once: nothing else may use the store.
    fileprivate func apply(_ change: LetterChange) throws(StoreError) -> [LetterRefusal] {
        do {
            return try pool.write { db in
                let refusals = try change.refusals(db)
                _ = try change.without(refusals).apply(WallClock.now(), db)
                return refusals
            }
        } catch {
            throw failure(error, "write to")
        }
    }
}
