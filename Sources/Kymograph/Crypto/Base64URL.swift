import FoundationEssentials

/// Base64 for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    /// The text of `bytes`.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let plain = Data(bytes).base64EncodedString()
        return String(plain.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }
}
