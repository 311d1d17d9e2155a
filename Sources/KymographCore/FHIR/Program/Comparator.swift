/// How a value compares with what was measured (http://hl7.org/fhir/quantity-comparator).
enum Comparator: UInt8 {
    case none, less, lessOrEqual, greaterOrEqual, greater

    /// The FHIR code; empty for none.
    var code: StaticString {
        switch self {
        case .none: ""
        case .less: "<"
        case .lessOrEqual: "<="
        case .greaterOrEqual: ">="
        case .greater: ">"
        }
    }

    /// The comparator that `text` is; nothing and `=` are none. nil for anything else.
    static func of(_ text: ByteView) -> Comparator? {
        let text = text.trimmed
        let (comparator, length) = prefix(of: text)
        if length == text.count { return comparator }
        return text.count == 1 && text[0] == UInt8(ascii: "=") ? Comparator.none : nil
    }

    /// The comparator and the number of a text such as `<5` or `>= 7.0`; nil when it is none.
    static func number(_ text: ByteView) -> (comparator: Comparator, number: Decimal64)? {
        let text = text.trimmed
        let (comparator, length) = prefix(of: text)
        return text[length..<text.count].trimmed.decimal.map { (comparator, $0) }
    }

    private static func prefix(of text: ByteView) -> (comparator: Comparator, length: Int) {
        guard text.count > 0 else { return (.none, 0) }
        let isEqual = text.count > 1 && text[1] == UInt8(ascii: "=")
        switch text[0] {
        case UInt8(ascii: "<"): return isEqual ? (.lessOrEqual, 2) : (.less, 1)
        case UInt8(ascii: ">"): return isEqual ? (.greaterOrEqual, 2) : (.greater, 1)
        default: return (.none, 0)
        }
    }
}
