import COpenSSL

/// Cryptographically secure random bytes.
enum RandomBytes {
    /// `count` bytes of OpenSSL's generator; ends the process when the system has no randomness.
    static func take(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // Safe: OpenSSL writes `count` bytes.
        let code = unsafe RAND_bytes(&bytes, Int32(count))
        precondition(code == 1, "OpenSSL has no random bytes")
        return bytes
    }
}
