import CKymographLinux
import FoundationEssentials
import Glibc

/// What a service manager says in the environment of a service: where it listens, and how long it waits.
package struct ServiceEnvironment: Sendable {
    /// `NOTIFY_SOCKET` of sd_notify(3): a path, or `@` and a name in the abstract namespace. Nil when no manager
    /// listens.
    var socket: String?
    /// How long the manager waits for a sign of life before it ends the service, by `WATCHDOG_USEC` and `WATCHDOG_PID`
    /// of sd_watchdog_enabled(3); nil when it does not.
    var watchdog: Duration?

    /// What this process was started with.
    package static var ofProcess: ServiceEnvironment {
        let variables = ProcessInfo.processInfo.environment
        var found = ServiceEnvironment()
        if let socket = variables["NOTIFY_SOCKET"], !socket.isEmpty { found.socket = socket }
        let isMeant = variables["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        if isMeant, let microseconds = variables["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 {
            found.watchdog = .microseconds(microseconds)
        }
        return found
    }
}

/// The socket by which a service manager hears of the service: what sd_notify(3) of systemd does, without its library.
struct NotifySocket: Sendable {
    /// A path, or `@` and a name in the abstract namespace.
    private let path: String

    /// The socket that `environment` names; nil when no manager listens.
    ///
    /// - Throws: ``SystemError`` (EAFNOSUPPORT) when it names no Unix socket.
    init?(_ environment: ServiceEnvironment) throws(SystemError) {
        guard let path = environment.socket else { return nil }
        guard path.hasPrefix("/") || path.hasPrefix("@") else { throw SystemError(EAFNOSUPPORT, "use", path) }
        self.path = path
    }

    /// Sends `assignments`, such as `READY=1`, as one datagram. Waits for a second at most.
    ///
    /// - Throws: ``SystemError`` when the manager is not there or takes nothing now.
    func send(_ assignments: [String]) throws(SystemError) {
        let bytes = Array(assignments.joined(separator: "\n").utf8)
        // Safe: Swift lends path and bytes for the call.
        let result = unsafe bytes.withUnsafeBytes { unsafe kymo_unix_datagram(path, $0.baseAddress, $0.count) }
        guard result == 0 else { throw SystemError(-result, "notify", path) }
    }
}
