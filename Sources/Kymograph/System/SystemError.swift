import Glibc

/// Why the system did not give what a program needs of it whatever its settings: a descriptor, an event.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The errno.
    package var code: Int32
    /// What could not be done, why, and what to do.
    package var message: String

    /// The message.
    package var description: String { message }

    /// The error for errno `code` (positive) of `action` on `name`.
    init(_ code: Int32, _ action: String, _ name: String) {
        self.code = code
        message = "cannot \(action) \(name): \(ErrorText.of(code))"
        if code == EMFILE || code == ENFILE { message += "; raise the limit on open files (ulimit -n)" }
    }
}

/// What the system says about an errno.
enum ErrorText {
    /// `Permission denied` for EACCES, and so on.
    static func of(_ code: Int32) -> String {
        // Safe: strerror never returns null, and glibc's text for a known code is immortal.
        unsafe String(cString: strerror(code))
    }
}
