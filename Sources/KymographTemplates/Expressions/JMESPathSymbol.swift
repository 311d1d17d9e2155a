import KymographCore

/// Operators and brackets of JMESPath (jmespath.org, "Grammar"); raw values are how they are written.
enum JMESPathSymbol: String {
    case filter = "[?"
    case flatten = "[]"
    case or = "||"
    case and = "&&"
    case equal = "=="
    case notEqual = "!="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"
    case dot = "."
    case star = "*"
    case openBracket = "["
    case closeBracket = "]"
    case openBrace = "{"
    case closeBrace = "}"
    case openParenthesis = "("
    case closeParenthesis = ")"
    case comma = ","
    case colon = ":"
    case pipe = "|"
    case ampersand = "&"
    case not = "!"
    case current = "@"

    /// The symbol that `first` and `second` make together, or nil.
    init?(_ first: UInt8, _ second: UInt8) {
        switch (Unicode.Scalar(first), Unicode.Scalar(second)) {
        case ("[", "?"): self = .filter
        case ("[", "]"): self = .flatten
        case ("|", "|"): self = .or
        case ("&", "&"): self = .and
        case ("=", "="): self = .equal
        case ("!", "="): self = .notEqual
        case ("<", "="): self = .lessOrEqual
        case (">", "="): self = .greaterOrEqual
        default: return nil
        }
    }

    /// The symbol that `byte` is alone, or nil.
    init?(_ byte: UInt8) {
        switch Unicode.Scalar(byte) {
        case "<": self = .less
        case ">": self = .greater
        case ".": self = .dot
        case "*": self = .star
        case "[": self = .openBracket
        case "]": self = .closeBracket
        case "{": self = .openBrace
        case "}": self = .closeBrace
        case "(": self = .openParenthesis
        case ")": self = .closeParenthesis
        case ",": self = .comma
        case ":": self = .colon
        case "|": self = .pipe
        case "&": self = .ampersand
        case "!": self = .not
        case "@": self = .current
        default: return nil
        }
    }
}
