/// Why a pipeline cannot start: a message for the operator, and the exit code that goes with it.
package struct PipelineError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong and what to do.
    package var message: String
    /// Exit code (``ExitStatus``).
    package var exitCode: Int32

    /// Makes an error.
    package init(message: String, exitCode: Int32) {
        self.message = message
        self.exitCode = exitCode
    }

    /// What the system refuses ends a start.
    init(_ error: SystemError) { self.init(message: error.message, exitCode: ExitStatus.osError) }

    /// The message.
    package var description: String { message }
}
