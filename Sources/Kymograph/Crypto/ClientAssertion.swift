import FoundationEssentials
import KymographCore

/// The signed statement by which a client proves to a token endpoint who it is: a JSON Web Token (RFC 7523, section 3;
/// SMART App Launch 2, "Client Authentication: Asymmetric").
struct ClientAssertion {
    /// How long it is valid, in seconds. SMART allows 300; the rest is for clocks that differ.
    static let lifetime: Int64 = 240

    /// Who signs: `iss` and `sub`.
    var client: String
    /// Whom it is for: the token endpoint's URL, `aud`.
    var audience: String
    /// Name of the key in the client's key set, `kid`.
    var keyIdentifier: String

    /// The token, with an identifier (`jti`) that was never used before.
    func signed(by key: borrowing PrivateKey, at now: Instant) throws(PrivateKey.Fault) -> String {
        let algorithm = try key.algorithm()
        let expiry = now.nanoseconds / 1_000_000_000 + Self.lifetime
        let header = #"{"alg":"\#(algorithm.rawValue)","kid":\#(quoted(keyIdentifier)),"typ":"JWT"}"#
        let identifier = Base64URL.encode(RandomBytes.take(24))
        let claims = """
            {"iss":\(quoted(client)),"sub":\(quoted(client)),"aud":\(quoted(audience)),"exp":\(expiry),\
            "jti":"\(identifier)"}
            """
        let content = "\(Base64URL.encode(header.utf8)).\(Base64URL.encode(claims.utf8))"
        return "\(content).\(Base64URL.encode(try key.signature(of: Array(content.utf8))))"
    }

    private func quoted(_ text: String) -> String {
        var writer = ByteWriter(capacity: text.utf8.count + 2)
        writer.append(UInt8(ascii: "\""))
        writer.appendJSON(text)
        writer.append(UInt8(ascii: "\""))
        return writer.view.string
    }
}

/// Cryptographically secure random bytes.
enum RandomBytes {
    /// `count` bytes of the kernel's generator (`getrandom`); ends the process when the system has no randomness.
    /// OpenSSL has one for each thread, and reads in a megabyte of its library for a code of twelve letters.
    static func take(_ count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() as UInt64) }
    }
}

/// Base64 for URLs, without padding (RFC 4648, section 5).
enum Base64URL {
    /// The text of `bytes`.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let plain = Data(bytes).base64EncodedString()
        return String(plain.compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }
}
