import COpenSSL

/// HMAC with SHA-256 (RFC 2104, FIPS 180-4).
enum HMAC256 {
    /// The 32 bytes of the code of `message` by `key`.
    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var (code, count): ([UInt8], UInt32) = ([UInt8](repeating: 0, count: 32), 0)
        // Safe: OpenSSL reads the key and the message as long as they are, and writes the 32 bytes of a digest.
        let result = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, &count)
        precondition(unsafe result != nil && count == 32, "OpenSSL has no HMAC with SHA-256")
        return code
    }

    /// Whether `code` is that of `message` by `key`. The time it takes tells nothing of the right one.
    static func isValid(_ code: [UInt8], of message: [UInt8], key: [UInt8]) -> Bool {
        isValid([code], of: message, key: key)
    }

    /// Whether one of `codes` is, as above. The code of the message is computed once.
    static func isValid(_ codes: [[UInt8]], of message: [UInt8], key: [UInt8]) -> Bool {
        let right = self.code(of: message, key: key)
        // Safe: both have 32 bytes.
        return codes.contains { code in unsafe code.count == 32 && CRYPTO_memcmp(code, right, 32) == 0 }
    }
}
