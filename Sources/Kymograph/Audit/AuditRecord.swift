import FoundationEssentials
import KymographCore

/// One line of the audit trail: a deed, and what chains it to the record before.
///
/// The digest is SHA-256 of the line from its beginning up to the digest's own member. So whoever changes, removes or
/// inserts a record must change all that follow, and then the digests differ that others have noted.
package struct AuditRecord: Codable, Sendable {
    /// 1, 2, 3, …
    package var sequence: Int
    /// When it was done, RFC 3339 in UTC with milliseconds.
    package var time: String
    /// ``AuditDeed/kind``; in files of other versions perhaps one that this one does not know.
    package var event: String
    /// ``AuditDeed/agent``.
    package var agent: String
    /// ``AuditDeed/text``.
    package var text: String
    /// The digest of the record before, in hexadecimal; 64 zeros in the first.
    package var previous: String

    /// What stands in the first record in place of a digest.
    static let origin = String(repeating: "0", count: 64)
    /// Bytes of a text at most, so that a record can be found from the end of a file.
    private static let longestText = 4_096
    private static let digestMember = Array(",\"digest\":\"".utf8)
    /// Bytes of a line behind what its digest is of.
    private static let tail = digestMember.count + 64 + 2
    /// Bytes of a line at most: texts may need six times their length, in escapes.
    static let longestLine = 6 * 3 * longestText + 1_024

    /// The record of `deed` behind the one with `sequence` and `digest`.
    init(_ deed: AuditDeed, after head: AuditHead) {
        sequence = head.sequence + 1
        time = LogStyle.time(deed.at)
        event = deed.kind.rawValue
        agent = Self.bounded(deed.agent)
        text = Self.bounded(deed.text)
        previous = head.digest
    }

    private static func bounded(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        var bytes = Array(text.utf8.prefix(longestText))
        // Not within a character.
        while !bytes.isEmpty, String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self) + "…"
    }

    /// The line without its end, and its digest.
    var line: (bytes: [UInt8], digest: String) {
        let members = [
            "\"sequence\":\(sequence)", "\"time\":\(JSONText.quoted(time))", "\"event\":\(JSONText.quoted(event))",
            "\"agent\":\(JSONText.quoted(agent))", "\"text\":\(JSONText.quoted(text))",
            "\"previous\":\(JSONText.quoted(previous))",
        ]
        let body = Array("{\(members.joined(separator: ","))".utf8)
        let digest = Digest256.hex(of: body)
        return (body + Self.digestMember + Array("\(digest)\"}".utf8), digest)
    }

    /// The record of a line, and its digest; nil when the line is none, or its digest is not of it.
    static func read(_ line: [UInt8]) -> (record: AuditRecord, digest: String)? {
        guard line.count > tail else { return nil }
        let body = Array(line.dropLast(tail))
        let digest = Digest256.hex(of: body)
        guard Array(line.suffix(tail)) == digestMember + Array("\(digest)\"}".utf8),
            let record = try? JSONDecoder().decode(AuditRecord.self, from: Data(line))
        else { return nil }
        return (record, digest)
    }

    /// Whether `line` has the form of a whole record, whatever its digest is.
    static func isWhole(_ line: [UInt8]) -> Bool {
        let end = line.suffix(tail)
        return end.count == tail && end.starts(with: digestMember) && end.suffix(2).elementsEqual("\"}".utf8)
    }
}

/// The last record of a trail.
package struct AuditHead: Equatable, Sendable {
    /// Its number; 0 of a trail without records.
    package var sequence: Int
    /// Its digest in hexadecimal.
    package var digest: String

    /// That of a trail without records.
    static let origin = AuditHead(sequence: 0, digest: AuditRecord.origin)

    /// `12:DIGEST`.
    package var text: String { "\(sequence):\(digest)" }

    /// One that was noted as ``text``; nil when it is none.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let sequence = Int(parts[0]), sequence >= 0, parts[1].utf8.count == 64,
            parts[1].allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { return nil }
        self.init(sequence: sequence, digest: parts[1].lowercased())
    }

    init(sequence: Int, digest: String) { (self.sequence, self.digest) = (sequence, digest) }
}
