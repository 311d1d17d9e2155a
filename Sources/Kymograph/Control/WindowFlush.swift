/// Closes open windows of a running instance.
package enum WindowFlush {
    /// Milliseconds before the first look at what has become of them, and the longest time between two.
    private static let (first, longest) = (20, 1_000)

    /// Closes the windows that `request` names in the instance that uses `directory`, and waits up to `patience` until
    /// every sink has them.
    ///
    /// - Throws: ``PipelineError`` when there is no instance, or it refuses.
    package static func make(
        _ request: FlushRequest, _ directory: String, patience: Duration
    ) throws(PipelineError) -> FlushAnswer {
        let clock = ContinuousClock()
        let end = clock.now + patience
        var answer = try ask(ControlRequest(request), directory)
        var interval = first
        while !answer.isSettled, clock.now < end {
            Wait.milliseconds(interval)
            interval = min(2 * interval, longest)
            answer = try ask(ControlRequest(FlushLook(number: answer.number, counts: false)), directory)
        }
        if answer.isSettled || patience <= .zero { return answer }
        return try ask(ControlRequest(FlushLook(number: answer.number, counts: true)), directory)
    }

    private static func ask(_ request: ControlRequest, _ directory: String) throws(PipelineError) -> FlushAnswer {
        guard let answer = ControlClient.ask(request, directory) else {
            if ControlClient.isRunning(directory) {
                throw PipelineError(
                    message: "the instance that uses \(directory) does not answer in time", exitCode: ExitStatus.failure
                )
            }
            throw PipelineError(
                message: "no instance runs in \(directory): all windows are closed when none does",
                exitCode: ExitStatus.noInput)
        }
        if let error = answer.error { throw PipelineError(message: error, exitCode: ExitStatus.failure) }
        guard let progress = answer.flush else {
            throw PipelineError(
                message: "the instance that uses \(directory) is of a version without 'kymo flush'",
                exitCode: ExitStatus.failure)
        }
        return progress
    }
}
