import COpenSSL

/// SHA-1 (FIPS 180-4) as text, which clients of Nightscout make of a secret. It protects nothing.
enum SHA1Text {
    /// The digest of `message` in 40 hexadecimal digits, in lower case.
    static func of(_ message: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 20)
        // Safe: OpenSSL reads the message as long as it is, and writes 20 bytes.
        _ = unsafe SHA1(message, message.count, &digest)
        return digest.map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count < 2 ? "0\(text)" : text
        }.joined()
    }
}
