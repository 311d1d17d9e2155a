import CSeal
import Glibc
import KymographCore

/// A key-encryption key, which wraps the data keys of a store: 32 bytes, in memory that is neither swapped nor dumped.
@safe
package final class SealKey: Sendable {
    // Safe: made in init, owned by this object alone, and nothing of it changes.
    nonisolated(unsafe) let secret: OpaquePointer
    /// Where it is from.
    package let path: String

    /// The variable by which systemd names the directory of a service's credentials.
    private static let variableOfCredentials = "CREDENTIALS_DIRECTORY"

    /// Reads the key that `settings` name.
    ///
    /// - Throws: ``SealError`` when there is none, it is readable by others, or it is no key.
    package convenience init(_ settings: EncryptionSettings) throws(SealError) {
        if let file = settings.keyFile {
            try self.init(path: file)
            return
        }
        guard let name = settings.credential else { throw SealError(message: "no key is named") }
        // Safe: copied at once, and nothing changes the environment.
        guard let directory = unsafe getenv(Self.variableOfCredentials).map({ unsafe String(cString: $0) }) else {
            throw SealError(
                message: "there is no credential \(name): $\(Self.variableOfCredentials) is not set; name it with "
                    + "LoadCredential= in the unit, or name a key file")
        }
        guard !name.contains("/"), !name.isEmpty else {
            throw SealError(message: "'\(name)' is no name of a credential: it must not be empty or have a '/'")
        }
        try self.init(path: "\(directory)/\(name)")
    }

    /// Reads the file at `path`.
    ///
    /// - Throws: As the other one.
    package init(path: String) throws(SealError) {
        self.path = path
        let file: Descriptor
        do throws(SecretFault) { file = try SecretFile(path).opened().0 } catch {
            throw SealError(message: "the key file \(error.message)")
        }
        // Safe: it reads from the descriptor, which is open.
        guard let secret = unsafe kymo_secret_read(file.raw) else {
            throw SealError(
                message: "the key file \(path) holds no key: it must have 32 bytes, or 64 hexadecimal digits; 'kymo "
                    + "keys new FILE' makes one")
        }
        unsafe self.secret = secret
    }

    deinit {
        unsafe kymo_secret_free(secret)
    }

    /// Makes a key file of mode 0600.
    ///
    /// - Throws: ``SealError`` when the file exists, or cannot be written.
    package static func make(at path: String) throws(SealError) {
        let raw = FileSystem.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        guard raw >= 0 else {
            throw SealError(
                message: raw == -EEXIST
                    ? "\(path) exists: a key that is overwritten would take all that it encrypts with it"
                    : "cannot make \(path): \(ErrorText.of(-raw))")
        }
        let file = Descriptor(raw)
        guard kymo_secret_write_new(file.raw) == 1, fsync(file.raw) == 0 else {
            FileSystem.remove(path)
            throw SealError(message: "cannot write \(path): \(ErrorText.of(errno))")
        }
        try KeyList.synchronise(FileSystem.folder(of: path))
    }

    /// HMAC-SHA-256 of `bytes`, by a key of its own that is derived from this one.
    func code(of bytes: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        // Safe: both arrays are lent for the call, and the code has its 32 bytes.
        unsafe kymo_secret_code(secret, bytes, bytes.count, &code)
        return code
    }

    /// A new data key, wrapped; nil when OpenSSL fails.
    func wrappedDataKey() -> [UInt8]? {
        var wrapped = [UInt8](repeating: 0, count: Int(KYMO_WRAPPED_BYTES))
        // Safe: the array has room for a wrapped key.
        return unsafe kymo_ring_make(secret, &wrapped) == 1 ? wrapped : nil
    }
}
