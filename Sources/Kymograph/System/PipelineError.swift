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

    /// The message.
    public var description: String { message }
}
