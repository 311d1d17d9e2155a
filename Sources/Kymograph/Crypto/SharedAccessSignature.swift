import FoundationEssentials
import KymographCore

/// A signature by which a client of Azure Event Hubs proves that it has a policy's key (Azure, "Generate SAS token"):
/// `SharedAccessSignature sr=…&sig=…&se=…&skn=…`.
struct SharedAccessSignature: Sendable {
    /// What it is for, and until when, in seconds since 1970: as it was signed.
    private let resource: String
    private let expiry: String
    private let signature: [UInt8]
    /// The policy whose key it is of.
    let policy: String

    /// Reads the value of an `Authorization` field; nil when it is of another form.
    init?(_ value: String) {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "sharedaccesssignature" else { return nil }
        var parts: [Substring: String] = [:]
        for part in words[1].split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, parts.updateValue(String(pair[1]), forKey: pair[0]) == nil else { return nil }
        }
        guard parts.count == 4, let resource = parts["sr"], let expiry = parts["se"],
            let policy = parts["skn"].flatMap(Self.decoded),
            let signature = parts["sig"].flatMap(Self.decoded).flatMap({ Data(base64Encoded: $0) })
        else { return nil }
        (self.resource, self.expiry, self.policy, self.signature) = (resource, expiry, policy, Array(signature))
    }

    /// The value of an `Authorization` field that the key of `policy` signs, for `resource`, a URL, until `end`, in
    /// seconds since 1970. What is signed is in lower case, as Azure's own clients have it.
    static func authorization(for resource: String, until end: Int64, policy: String, key: [UInt8]) -> String {
        let named = encoded(resource.lowercased())
        let code = Data(HMAC256.code(of: Array("\(named)\n\(end)".utf8), key: key)).base64EncodedString()
        return "SharedAccessSignature sr=\(named)&sig=\(encoded(code))&se=\(end)&skn=\(encoded(policy))"
    }

    /// Until when it is good, in seconds since 1970; nil when that is no number.
    var end: Int64? { Int64(expiry) }

    /// Whether `key` made it for what `target` names, or for what that is in, and it is still good at `now`.
    func isValid(for target: RequestTarget, key: [UInt8], at now: Instant) -> Bool {
        guard let end = Int64(expiry), end > now.nanoseconds / 1_000_000_000,
            let named = Self.decoded(resource).map(RequestTarget.init(resource:)), named.host == target.host,
            target.path == named.path || target.path.hasPrefix(named.path + "/")
        else { return false }
        return HMAC256.isValid(signature, of: Array("\(resource)\n\(expiry)".utf8), key: key)
    }

    /// `text` with all bytes percent-encoded but letters, digits and `-._~` (RFC 3986, section 2.3).
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let isPlain = 0x30...0x39 ~= byte || 0x61...0x7A ~= byte | 0x20 || "-._~".utf8.contains(byte)
            if isPlain {
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
            }
        }
    }

    /// `text` with its percent-encoded bytes (RFC 3986, section 2.1); nil when it is not well-formed.
    private static func decoded(_ text: String) -> String? {
        PercentEscapes.strictlyDecoded(Array(text.utf8)[...]).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

/// What a request is sent to: a host without its port, and a path without a slash at its end, both in lower case.
struct RequestTarget: Hashable, Sendable {
    let host: String
    let path: String

    /// The target of a request with these.
    init(host: String, path: String) {
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } : host.prefix { $0 != ":" }
        self.host = name.lowercased()
        self.path = path.lowercased()
    }

    /// What a signature names: `https://ns.servicebus.windows.net/hub`, with any scheme or none.
    fileprivate init(resource: String) {
        let text = resource.lowercased()
        let rest = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let host = rest.prefix { $0 != "/" }
        var path = rest[host.endIndex...]
        while path.hasSuffix("/") { path = path.dropLast() }
        self.init(host: String(host), path: String(path))
    }
}
