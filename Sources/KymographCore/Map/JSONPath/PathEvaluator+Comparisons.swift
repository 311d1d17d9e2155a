/// A value of a comparison, from the document or from the program.
struct Comparand {
    var kind: UInt8
    var number = Decimal64(mantissa: 0)
    /// Whether the number is exact; others are compared as floating point, from their text.
    var isExact = true
    /// Of a string its content, of a number of the document its digits.
    var text = ByteView("")
    var isEscaped = false

    var isBool: Bool { kind == TokenKind.yes || kind == TokenKind.no }
}

/// Comparisons (mapping dialect, section 3.1). Equality does not convert between types: `"60" == 60` is false. Order
/// does: a text beside a number is read as one, whichever side it is on; a text that is none is not in order.
extension PathEvaluator {
    func comparand(_ operand: PathOperand, node: Int, bytes: ByteView) -> Comparand {
        switch operand.kind {
        case .path: return comparand(scanner.tape[Int(nodes[node])], bytes: bytes)
        case .number: return Comparand(kind: TokenKind.number, number: operand.number)
        case .text:
            let start = Int(operand.textStart)
            let text = literals.view(start..<(start + Int(operand.textLength)))
            return Comparand(kind: TokenKind.string, text: text)
        case .yes: return Comparand(kind: TokenKind.yes)
        case .no: return Comparand(kind: TokenKind.no)
        case .null: return Comparand(kind: TokenKind.null)
        }
    }

    func comparand(_ token: Token, bytes: ByteView) -> Comparand {
        switch token.kind {
        case TokenKind.number:
            let digits = bytes[token.range]
            guard case .number(let number) = DecimalParser.parse(digits) else {
                return Comparand(kind: TokenKind.number, isExact: false, text: digits)
            }
            return Comparand(kind: TokenKind.number, number: number, text: digits)
        case TokenKind.string:
            let isEscaped = token.flags & Token.escaped != 0
            return Comparand(kind: TokenKind.string, text: bytes[token.range], isEscaped: isEscaped)
        default: return Comparand(kind: token.kind)
        }
    }

    mutating func compare(
        _ left: Comparand, _ operation: PathPredicate.Operation, _ right: Comparand, _ bytes: ByteView
    ) -> Bool {
        // Of containers nothing can be said but that they are different, and not even that strictly.
        guard left.kind > TokenKind.array, right.kind > TokenKind.array else { return operation == .notEqual }
        if operation.isOrder {
            let order = isCompatible ? referenceOrder(left, right) : order(left, right)
            return order.map { PathEvaluator.satisfies($0, operation) } ?? false
        }
        let isEqual = left.kind == right.kind && order(left, right) == 0
        return isEqual == (operation == .equal || operation == .strictlyEqual)
    }

    /// Compares two exact numbers.
    @inline(__always)
    static func compares(_ left: Decimal64, _ operation: PathPredicate.Operation, _ right: Decimal64) -> Bool {
        let order = order(left, right)
        if operation.isOrder { return satisfies(order, operation) }
        return (order == 0) == (operation == .equal || operation == .strictlyEqual)
    }

    private static func satisfies(_ order: Int, _ operation: PathPredicate.Operation) -> Bool {
        switch operation {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        // They are not about order.
        case .and, .or, .exists, .equal, .notEqual, .strictlyEqual, .strictlyNotEqual, .matches: false
        }
    }

    // MARK: Order

    /// Below, at or above zero; nil when the two are not in order.
    private mutating func order(_ left: Comparand, _ right: Comparand) -> Int? {
        if left.kind != right.kind {
            guard let left = number(left), let right = number(right) else { return nil }
            return PathEvaluator.order(left, right)
        }
        switch left.kind {
        case TokenKind.number:
            if left.isExact && right.isExact { return PathEvaluator.order(left.number, right.number) }
            return PathEvaluator.floatingOrder(left, right)
        case TokenKind.string: return textOrder(left, right)
        default: return 0
        }
    }

    @inline(__always)
    private static func order(_ left: Decimal64, _ right: Decimal64) -> Int {
        left.isEqualInValue(to: right) ? 0 : left.isLess(than: right) ? -1 : 1
    }

    /// The order of numbers of which one has more digits than ``Decimal64`` holds; rare, so it may allocate.
    private static func floatingOrder(_ left: Comparand, _ right: Comparand) -> Int? {
        if left.text.count > 0, left.text.equals(right.text) { return 0 }
        guard let a = floating(left), let b = floating(right) else { return nil }
        return a == b ? 0 : a < b ? -1 : 1
    }

    private static func floating(_ side: Comparand) -> Double? {
        if side.text.count > 0 { return Double(side.text.string) }
        return Double("\(side.number.mantissa)e\(side.number.exponent)")
    }

    /// A number, or the number that a text says.
    private mutating func number(_ side: Comparand) -> Decimal64? {
        if side.kind == TokenKind.number { return side.isExact ? side.number : nil }
        guard side.kind == TokenKind.string else { return nil }
        let content = side.isEscaped ? unescaped(side.text) : copied(side.text)
        guard case .number(let number) = DecimalParser.parse(content) else { return nil }
        return number
    }

    /// The text without escapes, valid until the next call.
    mutating func unescaped(_ content: ByteView) -> ByteView {
        text.removeAll()
        JSONUnescape.append(content, into: &text)
        text.reserve(ByteView.padding)
        return text.view
    }

    /// A copy with padding, because numbers are read eight bytes at a time.
    private mutating func copied(_ content: ByteView) -> ByteView {
        text.removeAll()
        text.append(content)
        text.reserve(ByteView.padding)
        return text.view
    }

    private mutating func textOrder(_ left: Comparand, _ right: Comparand) -> Int {
        guard left.isEscaped || right.isEscaped else { return PathEvaluator.order(left.text, right.text) }
        text.removeAll()
        if left.isEscaped { JSONUnescape.append(left.text, into: &text) } else { text.append(left.text) }
        let middle = text.count
        if right.isEscaped { JSONUnescape.append(right.text, into: &text) } else { text.append(right.text) }
        return PathEvaluator.order(text.view(0..<middle), text.view(middle..<text.count))
    }

    /// Ordinal comparison of UTF-8.
    private static func order(_ left: ByteView, _ right: ByteView) -> Int {
        var index = 0
        while index < left.count && index < right.count {
            if left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
            index += 1
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }

    // MARK: The reference's order

    /// The order as the reference finds it: null is below everything; else both are converted to the type of the left
    /// side, or of the right side when the left one is a text. Notes a failure where that cannot be done.
    @inline(never)
    private mutating func referenceOrder(_ left: Comparand, _ right: Comparand) -> Int? {
        if left.kind == TokenKind.null || right.kind == TokenKind.null {
            return (left.kind == TokenKind.null ? 0 : 1) - (right.kind == TokenKind.null ? 0 : 1)
        }
        let governing = left.kind == TokenKind.string ? right : left
        let order: Int?
        if governing.isBool {
            order = truth(left).flatMap { left in truth(right).map { (left ? 1 : 0) - ($0 ? 1 : 0) } }
        } else if governing.kind == TokenKind.number, left.isBool || right.isBool {
            order = truthOrder(left, right)
        } else if governing.kind == TokenKind.number, left.kind != right.kind {
            order = convertedOrder(left, right, isInteger: PathEvaluator.isInteger(governing))
        } else {
            order = self.order(left, right)
        }
        if order == nil { comparisonFailed = true }
        return order
    }

    private static func isInteger(_ side: Comparand) -> Bool { side.number.exponent >= 0 }

    /// A number beside true or false, which count as 1 and 0.
    private mutating func truthOrder(_ left: Comparand, _ right: Comparand) -> Int? {
        func value(_ side: Comparand) -> Decimal64? {
            side.isBool ? Decimal64(mantissa: side.kind == TokenKind.yes ? 1 : 0) : side.isExact ? side.number : nil
        }
        guard let left = value(left), let right = value(right) else { return nil }
        return PathEvaluator.order(left, right)
    }

    /// A text beside a number: beside an integer it must be one.
    private mutating func convertedOrder(_ left: Comparand, _ right: Comparand, isInteger: Bool) -> Int? {
        guard left.isExact, right.isExact else { return PathEvaluator.floatingOrder(left, right) }
        guard let left = number(left), let right = number(right) else { return nil }
        if isInteger && (left.exponent < 0 || right.exponent < 0) { return nil }
        return PathEvaluator.order(left, right)
    }

    /// True and false, the texts of the same meaning, and numbers other than 0.
    private mutating func truth(_ side: Comparand) -> Bool? {
        switch side.kind {
        case TokenKind.yes: return true
        case TokenKind.no: return false
        case TokenKind.number: return side.isExact ? side.number.mantissa != 0 : true
        default:
            let content = (side.isEscaped ? unescaped(side.text) : side.text).string.lowercased()
            let trimmed = content.drop { $0 == " " }
            let word = trimmed.prefix { $0 != " " }
            guard trimmed.dropFirst(word.count).allSatisfy({ $0 == " " }) else { return nil }
            return word == "true" ? true : word == "false" ? false : nil
        }
    }
}
