/// The bytes that separate the parts of one HL7 v2 message, as MSH-1 and MSH-2 name them.
package struct HL7Delimiters: BitwiseCopyable, Equatable {
    /// Between fields.
    package var field = UInt8(ascii: "|")
    /// Between the components of a field.
    package var component = UInt8(ascii: "^")
    /// Between the repetitions of a field.
    package var repetition = UInt8(ascii: "~")
    /// Around the name of a byte that would be a delimiter.
    package var escape = UInt8(ascii: "\\")
    /// Between the parts of a component.
    package var subcomponent = UInt8(ascii: "&")
    /// What marks a text that was cut, from v2.7 on; 0 where MSH-2 has none.
    package var truncation: UInt8 = 0

    /// Those that nearly all messages have.
    package init() {}

    /// Those of the message `bytes`; nil when it does not begin with MSH, or names no four or five distinct ones.
    package init?(of bytes: ByteView) {
        guard bytes.count >= 9, bytes[0..<3].equals(ByteView("MSH")) else { return nil }
        field = bytes[3]
        var end = 4
        while end < min(bytes.count, 10), bytes[end] != field { end += 1 }
        guard end == 8 || end == 9, end < bytes.count else { return nil }
        (component, repetition, escape, subcomponent) = (bytes[4], bytes[5], bytes[6], bytes[7])
        truncation = end == 9 ? bytes[8] : 0
        let named = [UInt8](bytes[3..<end].array)
        guard Set(named).count == named.count, named.allSatisfy(Self.mayDelimit) else { return nil }
    }

    /// Whether `byte` can stand between parts of a message: a printable sign that no name or number has.
    private static func mayDelimit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "\""), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }
}

/// How the texts of a message are written (MSH-18).
package enum HL7Charset: Sendable {
    case ascii
    case utf8
    case latin1

    /// The one that MSH-18 names, ASCII when it is empty; nil for one that is not read.
    package init?(named name: ByteView) {
        if name.count == 0 || name.equals(ByteView("ASCII")) {
            self = .ascii
        } else if name.equals(ByteView("UNICODE UTF-8")) {
            self = .utf8
        } else if name.equals(ByteView("8859/1")) {
            self = .latin1
        } else {
            return nil
        }
    }

    /// Whether all of `bytes` can be texts of it.
    func holds(_ bytes: ByteView) -> Bool {
        switch self {
        case .latin1: true
        case .ascii: bytes.isASCII
        case .utf8: bytes.isASCII || String(validating: bytes.array, as: UTF8.self) != nil
        }
    }
}

extension ByteView {
    /// Whether no byte has its highest bit set. The view must be padded.
    fileprivate var isASCII: Bool {
        var (index, seen): (Int, UInt64) = (0, 0)
        while index &+ 8 <= count {
            seen |= word(at: index)
            index &+= 8
        }
        while index < count {
            seen |= UInt64(self[index])
            index &+= 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
