import Glibc

/// Why a source cannot be opened or read.
public struct SourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: Hashable, Sendable {
        /// Another process, or another source, has the address.
        case addressInUse
        /// The process may not use the address.
        case permission
        /// The address is not well-formed, or names something that is not a socket.
        case invalidAddress
        /// A setting beside the address, or a file that it names, cannot be used.
        case settings
        /// There is no such device now.
        case missing
        /// Another failure of the system, with its errno.
        case system(Int32)
    }

    /// What went wrong.
    package var kind: Kind
    /// The address, what happened to it, and what to do.
    public package(set) var message: String

    /// Whether the same attempt may succeed later.
    package var isRetriable: Bool {
        switch kind {
        case .addressInUse, .missing: true
        case .permission, .invalidAddress, .settings: false
        case .system(let code): [EAGAIN, EINTR, ENOMEM, ENOBUFS, EMFILE, ENFILE].contains(code)
        }
    }

    /// The message.
    public var description: String { message }

    /// Makes an error.
    package init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// An error that no errno has: `message` names the source, and says what happened and what to do.
    public init(message: String) { self.init(kind: .invalidAddress, message: message) }

    static func invalidAddress(_ address: String, _ advice: String) -> SourceError {
        SourceError(kind: .invalidAddress, message: "'\(address)' is not an address to listen to: \(advice)")
    }

    /// The error for errno `code` (positive) of `action` on `name`, such as `"open"` and `"fifo ./readings"`.
    public static func system(_ code: Int32, _ action: String, _ name: String) -> SourceError {
        let (kind, advice) = advice(for: code)
        let reason = ErrorText.of(code)
        return SourceError(
            kind: kind, message: "cannot \(action) \(name): \(reason)\(advice.isEmpty ? "" : "; \(advice)")")
    }

    private static func advice(for code: Int32) -> (Kind, String) {
        switch code {
        case EADDRINUSE:
            (.addressInUse, "in use by another process or source: stop that one or choose another address")
        case EACCES, EPERM:
            (.permission, "choose another address (ports below 1024 need CAP_NET_BIND_SERVICE) or change permissions")
        case EINVAL: (.invalidAddress, "write a numeric address, such as 127.0.0.1:5757 or [::1]:5757")
        case EADDRNOTAVAIL: (.invalidAddress, "this machine has no such address: use one of its own, or 0.0.0.0")
        case EAFNOSUPPORT: (.invalidAddress, "this machine does not support that kind of address")
        case ENAMETOOLONG: (.invalidAddress, "the path of a Unix socket has at most 107 bytes")
        case ENOENT, ENOTDIR: (.invalidAddress, "create the directory first")
        case EMFILE, ENFILE: (.system(code), "raise the limit on open files (ulimit -n)")
        default: (.system(code), "")
        }
    }
}
