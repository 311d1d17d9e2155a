/// Why a pipeline cannot start: a message for the operator, and the exit code that goes with it.
public struct PipelineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    public var message: String
    /// Exit code (``ExitStatus``).
    public var exitCode: Int32

    /// Makes an error.
    public init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    init(_ error: SourceError) {
        message = error.message
        if case .permission = error.kind { exitCode = ExitStatus.noPermission } else { exitCode = ExitStatus.osError }
    }

    init(_ error: SinkError) {
        message = error.message
        if case .permission = error.kind {
            exitCode = ExitStatus.noPermission
        } else {
            exitCode = ExitStatus.cannotCreate
        }
    }

    init(_ error: StoreError) {
        message = error.message
        exitCode =
            switch error.kind {
            case .permission: ExitStatus.noPermission
            case .inUse, .unusable, .full: ExitStatus.cannotCreate
            case .tooNew, .mappings: ExitStatus.config
            case .syncFailed, .damaged: ExitStatus.ioError
            }
    }

    /// The message.
    public var description: String { message }
}
