/// What keeps a sink from being opened or reached, as the machine is now.
package struct SinkObstacle: Hashable, Sendable {
    /// The setting of the kind that is at fault; nil for the place itself.
    package var key: String?
    /// What is wrong and what to do.
    package var message: String
    /// The exit status (``ExitStatus``) of a start that fails of it; 0 for what is no fault, but worth knowing.
    package var exitCode: Int32
    /// Whether another process has the place.
    package var isInUse = false

    /// An obstacle.
    package init(key: String? = nil, _ message: String, exitCode: Int32) {
        (self.key, self.message, self.exitCode) = (key, message, exitCode)
    }

    /// What opening a sink would fail of.
    init(_ error: SinkError) {
        self.init(error.message, exitCode: error.exitCode)
        isInUse = error.kind == .inUse
    }
}

extension SinkError {
    /// The exit status of a start that fails of it.
    package var exitCode: Int32 {
        switch kind {
        case .permission: ExitStatus.noPermission
        case .sealed: ExitStatus.config
        case .brokenPipe, .diskFull, .inUse, .syncFailed, .closed, .notTaken, .system: ExitStatus.cannotCreate
        }
    }
}
