import KymographCore
import KymographTemplates

/// What of a dead letter may be seen without revealing it: nothing that came from a device, a peer or a server.
enum LetterMask {
    /// The part of `detail` that only mappings have written: which mapping, type and expression, or at which byte; nil
    /// when there is none. The rest may have values, addresses and names.
    static func detail(_ detail: String, kind: String) -> String? {
        guard kind == "payload" else { return nil }
        let part = detail.firstRange(of: "; ").map { detail[..<$0.lowerBound] } ?? detail[...]
        if part.hasPrefix(NearestTemplate.prefix) {
            return part.firstRange(of: ": typeMatchExpression").map { String(part[..<$0.lowerBound]) }
        }
        return part.hasPrefix("mapping ") || part.hasPrefix("at byte ") ? String(part) : nil
    }

    /// The shape of a payload: names of members and kinds of values, laid out for people.
    static func shape(_ bytes: [UInt8]) -> String {
        String(decoding: PrettyJSON.format(PayloadShape.of(bytes)), as: UTF8.self)
    }
}
