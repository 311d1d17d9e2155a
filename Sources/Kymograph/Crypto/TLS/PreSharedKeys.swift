import CDatagramTLS
import Glibc

/// Pre-shared keys by their identities, from a file: in memory that is neither swapped nor dumped.
@safe
final class PreSharedKeys {
    /// What a context is given.
    let secret: OpaquePointer
    /// Whether a context has taken them over.
    var isGiven = false

    /// Reads the file at `path`: lines `identity:key`.
    ///
    /// - Throws: ``TLSFault`` when others can read it, or it has something else; with the line, and nothing of what is
    ///   in it.
    init(_ path: String) throws(TLSFault) {
        let file: Descriptor
        do throws(SecretFault) { file = try SecretFile(path).opened().0 } catch {
            throw TLSFault(message: error.message)
        }
        var (line, fault): (Int32, UnsafePointer<CChar>?) = (0, nil)
        // Safe: it reads from the descriptor, which is open; the fault is a constant.
        guard let secret = unsafe kymo_psk_read(file.raw, &line, &fault) else {
            let text = unsafe fault.map { unsafe String(cString: $0) } ?? "cannot be read"
            let place = line > 0 ? "\(path):\(line):1: the line" : path
            throw TLSFault(
                message: "\(place) \(text); write lines 'identity:key', with keys of 'openssl rand -hex 32'")
        }
        unsafe self.secret = secret
    }

    deinit {
        // Safe: nobody else has them.
        if !isGiven { unsafe kymo_psk_free(secret) }
    }
}
