import KymographCore

/// Finds where the JSON documents of a stream begin and end, by brackets and strings (RFC 8259). Whether a document is
/// JSON is for who reads it.
///
/// The elements of an array are documents of their own, so that a file that is one large array is read element by
/// element, as NDJSON is.
struct DocumentBorders {
    /// What a byte is.
    enum Step {
        /// White space between documents, or a bracket or comma of the array around them.
        case between
        /// The first byte of a document, or one within.
        case inside
        /// The last byte of a document.
        case last
        /// None that can be at this place: the end of the document before it is missing, or a beginning.
        case broken
    }

    /// What was read last in the innermost object or array.
    private enum Token {
        case opening
        case value
        case comma
        case colon
    }

    /// More brackets than any document has that could be read.
    private static let mostOpen = 4_096

    /// Whether what is open is an object, from the outermost.
    private var open: [Bool] = []
    private var token = Token.opening
    private var isInString = false
    private var isEscaped = false
    /// Whether an array is open whose elements are the documents.
    private(set) var isInArray: Bool

    /// Expects a document, or the first one of an array; with `isInArray` the next one of it.
    init(isInArray: Bool = false) { self.isInArray = isInArray }

    /// Whether a document is open.
    var isOpen: Bool { !open.isEmpty }

    /// Reads the next byte. After ``Step/broken`` it can only be made anew.
    mutating func step(_ byte: UInt8) -> Step {
        if isInString { return stepInString(byte) }
        switch byte {
        case 0x09, 0x0A, 0x0D, 0x20: return isOpen ? .inside : .between
        case UInt8(ascii: "{"), UInt8(ascii: "["): return begin(isObject: byte == UInt8(ascii: "{"))
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return end(isObject: byte == UInt8(ascii: "}"))
        case UInt8(ascii: ","): return separate(.comma)
        case UInt8(ascii: ":"): return separate(.colon)
        default:
            guard isOpen else { return .broken }
            isInString = byte == UInt8(ascii: "\"")
            token = .value
            return .inside
        }
    }

    private mutating func stepInString(_ byte: UInt8) -> Step {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
        // RFC 8259, section 7: a string has no line ends, so the document was cut within it.
        return byte == 0x0A ? .broken : .inside
    }

    private mutating func begin(isObject: Bool) -> Step {
        guard let isInObject = open.last else {
            if !isObject, !isInArray {
                isInArray = true
                return .between
            }
            return push(isObject)
        }
        // A member has a name first, and elements a comma between.
        guard isInObject ? token == .colon : token == .opening || token == .comma else { return .broken }
        return open.count < DocumentBorders.mostOpen ? push(isObject) : .broken
    }

    private mutating func push(_ isObject: Bool) -> Step {
        open.append(isObject)
        token = .opening
        return .inside
    }

    private mutating func end(isObject: Bool) -> Step {
        guard let isInObject = open.last else {
            guard !isObject, isInArray else { return .broken }
            isInArray = false
            return .between
        }
        guard isInObject == isObject else { return .broken }
        open.removeLast()
        token = .value
        return isOpen ? .inside : .last
    }

    private mutating func separate(_ separator: Token) -> Step {
        guard isOpen else { return isInArray && separator == .comma ? .between : .broken }
        token = separator
        return .inside
    }
}
