import KymographCore

/// Names of folders as Hive has them: `day=2026-11-28`, `type=heartRate`.
enum PartitionName {
    /// Longest name of a folder in bytes: file systems take 255.
    private static let longest = 200

    /// The folder of the day that begins at `instant`.
    static func day(_ instant: Instant) -> String { "day=\(instant.text.prefix(10))" }

    /// The folder of a type. What is no letter, digit, hyphen, underscore or full stop of ASCII is escaped by per cent
    /// signs, so that no name leads out of the folder above. Of a long one a digest takes the place of the end.
    static func type(_ name: String) -> String {
        let pieces = name.unicodeScalars.map { escaped(String($0)) }
        let whole = "type=\(pieces.joined())"
        guard whole.utf8.count > longest else { return whole }
        // Between characters: readers undo the escapes, and refuse what is no UTF-8 then.
        var head = "type="
        for piece in pieces {
            guard head.utf8.count + piece.utf8.count <= longest - 65 else { break }
            head += piece
        }
        return "\(head)~\(Digest256.hex(of: Array(name.utf8)))"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            if isPlain(byte) {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.utf8.count < 2 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
