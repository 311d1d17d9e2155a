import KymographCore

/// Takes devices and sources that are gone from what `kymo sources` lists.
package enum SourceRemoval {
    /// Carries out `request`: by the instance that uses `directory`, or in its store when there is none. Readings,
    /// letters and counts stay. `notes` takes what the operator should know.
    ///
    /// - Throws: ``PipelineError`` when the instance does not answer or refuses, or the store cannot be written.
    package static func make(
        _ request: RemovalRequest, _ directory: String, notes: @escaping LogTaker
    ) throws(PipelineError) {
        guard ControlClient.isRunning(directory) else { return try write(request, directory, notes) }
        guard let answer = ControlClient.ask(ControlRequest(request), directory) else {
            throw PipelineError(
                message: "the instance that uses \(directory) does not answer", exitCode: ExitStatus.failure)
        }
        if let error = answer.error { throw PipelineError(message: error, exitCode: ExitStatus.failure) }
    }

    private static func write(
        _ request: RemovalRequest, _ directory: String, _ notes: @escaping LogTaker
    ) throws(PipelineError) {
        _ = try StoreReader(directory: directory)
        let store: Store
        do throws(StoreError) { store = try Store.whenFree(directory, notes: notes) } catch {
            throw PipelineError(error)
        }
        defer { store.close() }
        let (sources, devices) = (request.sources.count, request.devices.count)
        let counts = "\(CountText.of(sources, "source")), \(CountText.of(devices, "device"))"
        try AuditTrail.noteChange([AuditDeed(.sourcesRemove, "'kymo sources remove': \(counts)")], in: directory)
        do throws(StoreError) {
            try store.remove(request.names, at: WallClock.now())
        } catch {
            throw PipelineError(error)
        }
    }
}

extension RemovalRequest {
    /// What is to be listed no more.
    var names: [(kind: RemovedNames.Kind, name: IdentifierText)] {
        devices.map { (.device, $0) } + sources.map { (.source, IdentifierText($0)) }
    }
}
