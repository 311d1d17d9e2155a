import Glibc

/// A file that holds a secret: a token, a password, a private key.
///
/// It is read only when nobody else can read it. As ssh wants it of keys: it belongs to this process's user, with mode
/// 0600 or stricter. Or it belongs to root, who can read everything anyway; then the group may read it (0440, as
/// orchestrators mount secrets), others may not.
package struct SecretFile: Hashable, Sendable {
    /// What tells one state of a file from another.
    struct Stamp: Hashable, Sendable {
        fileprivate var device: UInt
        fileprivate var node: UInt
        fileprivate var size: Int
        fileprivate var changed: [Int]

        fileprivate init(_ status: stat) {
            device = UInt(status.st_dev)
            node = UInt(status.st_ino)
            size = Int(status.st_size)
            changed = [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ]
        }
    }

    /// Longest secret, in bytes.
    static let maxBytes = 64 << 10

    /// Where it is.
    package var path: String

    /// The file at `path`.
    package init(_ path: String) {
        self.path = path
    }

    /// The present state of the file; nil when there is none.
    var stamp: Stamp? { FileSystem.target(path).map(Stamp.init) }

    /// The file's bytes, and the state that they are of.
    ///
    /// - Throws: A retriable failure when it cannot be read, which may be for the moment of a rotation; a lasting one
    ///   when others can read it, or it is no file or too long.
    func bytes() throws(SecretFault) -> ([UInt8], Stamp) {
        let (file, stamp) = try opened()
        guard let bytes = FileSystem.read(file.raw, limit: Self.maxBytes) else {
            throw failure("cannot be read: \(ErrorText.of(errno))", isRetriable: true)
        }
        guard bytes.count <= Self.maxBytes else { throw failure("is longer than \(Self.maxBytes) bytes") }
        return (bytes, stamp)
    }

    /// The open file, and its state.
    ///
    /// - Throws: As ``bytes()``, but for its length.
    func opened() throws(SecretFault) -> (Descriptor, Stamp) {
        // Not to wait for a writer, should it be a pipe.
        let raw = FileSystem.open(path, O_RDONLY | O_NONBLOCK)
        guard raw >= 0 else { throw failure("cannot be read: \(ErrorText.of(-raw))", isRetriable: true) }
        let file = Descriptor(raw)
        guard let status = FileSystem.status(file.raw) else { throw failure("cannot be read", isRetriable: true) }
        try check(status)
        return (file, Stamp(status))
    }

    /// The secret: the file's only line.
    ///
    /// - Throws: As ``bytes()``; a lasting failure when it is not UTF-8, or has more lines or control characters.
    func line() throws(SecretFault) -> (String, Stamp) {
        let (bytes, stamp) = try bytes()
        var line = bytes[...]
        if line.last == 0x0A { line.removeLast() }
        if line.last == 0x0D { line.removeLast() }
        guard !line.isEmpty else { throw failure("is empty; write the secret into it", isRetriable: true) }
        guard let text = String(validating: line, as: UTF8.self), line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw failure("must hold one line of UTF-8 text")
        }
        return (text, stamp)
    }

    /// A fault of this file.
    func failure(_ what: String, isRetriable: Bool = false) -> SecretFault {
        SecretFault(isRetriable: isRetriable, message: "\(path) \(what)")
    }

    private func check(_ status: stat) throws(SecretFault) {
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure("is no file") }
        let user = geteuid()
        guard status.st_uid == user || status.st_uid == 0 else {
            throw failure("belongs to another user, who can change it; run 'chown' on it")
        }
        // Root's own files are its own when the process is root.
        let forbidden: mode_t = status.st_uid == user ? 0o077 : 0o037
        guard status.st_mode & forbidden == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw failure("can be read or changed by others (mode 0\(mode)); run 'chmod 600' on it")
        }
    }
}

/// Why a secret cannot be had from its file; never with anything of the secret.
package struct SecretFault: Error, Hashable, Sendable {
    /// Whether the same may succeed later, such as when the file is being replaced.
    package var isRetriable: Bool
    /// The file, what is wrong with it, and what to do.
    package var message: String
}
