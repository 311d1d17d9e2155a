import Glibc

/// Why a sink did not take or keep bytes.
package struct SinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    package enum Kind: Hashable, Sendable {
        /// The reader of standard output has gone.
        case brokenPipe
        /// The disk, or the quota, is full.
        case diskFull
        /// The process may not write there.
        case permission
        /// Another process writes there.
        case inUse
        /// The bytes may not be on the disk. Trying again could seem to succeed and prove nothing: the process must
        /// end and start again.
        case syncFailed
        /// What is there was not encrypted with the keys of the store.
        case sealed
        /// The sink was closed before.
        case closed
        /// The program that embeds the pipeline has not taken it.
        case notTaken
        /// Another failure of the system, with its errno.
        case system(Int32)
    }

    /// What went wrong.
    package var kind: Kind
    /// What could not be done, why, and what to do.
    package var message: String

    /// Whether the same call may succeed later. What was taken before is still there, and is not written twice.
    package var isRetriable: Bool {
        switch kind {
        case .diskFull, .inUse, .notTaken: true
        case .brokenPipe, .permission, .syncFailed, .sealed, .closed: false
        case .system(let code): [ENOMEM, ENOBUFS, EMFILE, ENFILE].contains(code)
        }
    }

    /// Whether the disk has failed, or is full, and nothing is wrong with what it was asked for.
    var isOfDisk: Bool {
        switch kind {
        case .diskFull, .syncFailed, .system(EIO), .system(ESTALE), .system(ETIMEDOUT): true
        case .brokenPipe, .permission, .inUse, .sealed, .closed, .notTaken, .system: false
        }
    }

    /// The message.
    package var description: String { message }

    /// Makes an error.
    package init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    /// The error for errno `code` (positive) of `action` on `name`.
    package static func system(_ code: Int32, _ action: String, _ name: String) -> SinkError {
        let (kind, advice): (Kind, String) =
            switch code {
            case EPIPE: (.brokenPipe, "the reader has gone")
            case ENOSPC, EDQUOT: (.diskFull, "make room")
            case EACCES, EPERM, EROFS: (.permission, "choose another place or change its permissions")
            case EBADF: (.system(code), "it was closed before kymo started; redirect it to a file or a pipe")
            case EISDIR: (.system(code), "it is a folder; name a file in it")
            case ENOENT: (.system(code), "create the directory above it first")
            case ENOTDIR: (.system(code), "it, or what is above it, is a file: choose another name")
            case ELOOP: (.system(code), "remove the links that lead to each other")
            default: (.system(code), "")
            }
        // What the system says of a closed descriptor names no cause.
        let parts = [code == EBADF ? "" : ErrorText.of(code), advice].filter { !$0.isEmpty }
        return SinkError(kind: kind, message: "cannot \(action) \(name): \(parts.joined(separator: "; "))")
    }

    /// Calls `body`, which needs the keys of the store.
    static func ofSeal<Value: ~Copyable>(_ body: () throws(SealError) -> Value) throws(SinkError) -> Value {
        do throws(SealError) { return try body() } catch {
            throw SinkError(
                kind: error.isOfDisk ? .diskFull : .sealed, message: "\(error.message); name another place")
        }
    }

    static func closed(_ name: String) -> SinkError {
        SinkError(kind: .closed, message: "\(name) is closed")
    }
}
