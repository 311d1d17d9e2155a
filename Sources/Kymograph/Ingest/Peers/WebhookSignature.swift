import FoundationEssentials
import KymographCore

/// The signature of a request by Standard Webhooks (specification, "Signature scheme"; Svix gives its fields other
/// names): HMAC with SHA-256 over the identity of the message, the time at which it was sent, and its body, joined by
/// full stops.
struct WebhookSignature: Sendable {
    /// Seconds by which the clocks of both sides may differ. So long can a request that was overheard be sent again.
    private static let tolerance: Int64 = 300
    /// Beginnings of the names of its fields.
    static let fieldPrefixes = ["webhook-", "svix-"]

    private let id: String
    /// As it was signed, and in seconds since 1970.
    private let timestamp: String
    private let seconds: Int64
    private let codes: [[UInt8]]

    /// Reads the fields of a request; nil when one is of another form. Several signatures, of keys that replace one
    /// another, are separated by blanks; those of other versions than 1 are passed over, and one must be left.
    init?(id: String, timestamp: String, signatures: String) {
        // With a full stop in it, what was signed could be divided in another way.
        guard !id.isEmpty, !id.contains("."), 1...12 ~= timestamp.utf8.count,
            timestamp.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let seconds = Int64(timestamp)
        else { return nil }
        (self.id, self.timestamp, self.seconds) = (id, timestamp, seconds)
        let found = signatures.split(separator: " ").compactMap { text in
            text.hasPrefix("v1,") ? Data(base64Encoded: String(text.dropFirst(3))).map(Array.init) : nil
        }
        codes = found.filter { $0.count == 32 }
        guard !codes.isEmpty else { return nil }
    }

    /// Whether it was made not long before or after `now`.
    func isTimely(at now: Instant) -> Bool { abs(now.nanoseconds / 1_000_000_000 - seconds) <= Self.tolerance }

    /// What is signed of a message with `body`, which is as it was sent.
    func message(_ body: ArraySlice<UInt8>) -> [UInt8] { Array("\(id).\(timestamp).".utf8) + body }

    /// Whether `key` made it for `message`.
    func isValid(for message: [UInt8], key: [UInt8]) -> Bool { HMAC256.isValid(codes, of: message, key: key) }

    /// The key in `secret`, which is `whsec_` and Base64 of 24 bytes or more; nil for another text.
    static func key(_ secret: String) -> [UInt8]? {
        guard secret.hasPrefix("whsec_"), let key = Data(base64Encoded: String(secret.dropFirst(6))), key.count >= 24
        else { return nil }
        return Array(key)
    }
}
