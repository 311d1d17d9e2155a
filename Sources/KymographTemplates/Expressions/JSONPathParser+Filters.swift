import KymographCore

/// Filters: conditions joined by `&&` and `||` in order of appearance without precedence, where a change of operator
/// takes the whole rest (quirk 9). Parentheses group conditions; they are an extension of ours.
extension JSONPathParser {
    /// A filter; its question mark was taken.
    mutating func filterStep(descending: Bool, close: String) throws(ExpressionError) -> PathStep {
        guard skip("(") else { throw error("expected '(' after '?', found '\(shown)'") }
        let predicate = try nested { parser throws(ExpressionError) in try parser.joined() }
        skipSpaces()
        guard skip(")") else { throw error(filterEndMessage) }
        skipSpaces()
        guard skip(close) else { throw error("expected '\(close)' after the filter, found '\(shown)'") }
        return PathStep(operation: descending ? .filterDescendants : .filterChildren, argument: predicate)
    }

    private var filterEndMessage: String {
        "expected ')' at the end of the filter, found '\(shown)'"
    }

    /// Conditions joined by one operator; a change of operator takes all the rest (quirk 9).
    private mutating func joined() throws(ExpressionError) -> Int32 {
        var left = try condition()
        var previous: PathPredicate.Operation?
        while true {
            skipSpaces()
            guard let operation = joiner() else { return left }
            if let previous, previous != operation {
                // `a && b || c` is And(a, Or(b, c)): the last condition and the rest become one.
                let last = program.predicates[Int(left)]
                let rest = try nested { parser throws(ExpressionError) in try parser.joined() }
                let nested = add(PathPredicate(operation: operation, left: last.right, right: rest))
                return add(PathPredicate(operation: previous, left: last.left, right: nested))
            }
            let right = try condition()
            left = add(PathPredicate(operation: operation, left: left, right: right))
            previous = operation
        }
    }

    private mutating func joiner() -> PathPredicate.Operation? {
        if skip("&&") { return .and }
        if skip("||") { return .or }
        return nil
    }

    private mutating func add(_ predicate: PathPredicate) -> Int32 {
        var predicate = predicate
        predicate.requiredNames = program.requiredNames(of: predicate)
        predicate.needsObject = program.needsObject(predicate)
        program.predicates.append(predicate)
        return Int32(program.predicates.count - 1)
    }

    private mutating func condition() throws(ExpressionError) -> Int32 {
        skipSpaces()
        if skip("(") {
            let group = try nested { parser throws(ExpressionError) in try parser.joined() }
            skipSpaces()
            guard skip(")") else { throw error("expected ')' at the end of the group, found '\(shown)'") }
            return group
        }
        conditions += 1
        guard conditions <= JSONPathParser.mostConditions else { throw error("more than 1,000 conditions") }
        let left = try operand()
        skipSpaces()
        guard let operation = try comparison() else {
            guard program.operands[Int(left)].kind == .path else { throw error("a constant alone is no condition") }
            return add(PathPredicate(operation: .exists, left: left))
        }
        skipSpaces()
        let place = index
        let right = try operand()
        if operation == .matches { try compilePattern(right, at: place) }
        return add(PathPredicate(operation: operation, left: left, right: right))
    }

    private mutating func comparison() throws(ExpressionError) -> PathPredicate.Operation? {
        if skip("===") { return .strictlyEqual }
        if skip("==") { return .equal }
        if skip("=~") { return .matches }
        if skip("!==") { return .strictlyNotEqual }
        if skip("!=") || skip("<>") { return .notEqual }
        if skip("<=") { return .lessOrEqual }
        if skip(">=") { return .greaterOrEqual }
        if skip("<") { return .less }
        if skip(">") { return .greater }
        if byte == UInt8(ascii: "=") { throw error("'=' is no operator; use '=='") }
        return nil
    }

    // MARK: Sides

    private mutating func operand() throws(ExpressionError) -> Int32 {
        skipSpaces()
        var operand: PathOperand
        switch byte {
        case UInt8(ascii: "@"), UInt8(ascii: "$"): operand = PathOperand(kind: .path, path: try filterPath())
        case UInt8(ascii: "'"): operand = textOperand(Array(try quoted().utf8))
        case UInt8(ascii: "/"): operand = textOperand(try patternLiteral())
        case UInt8(ascii: "("): throw error("parentheses group whole conditions; none is expected here")
        case UInt8(ascii: "!"): throw error("negation is not part of the dialect; compare with '!='")
        default: operand = try constant()
        }
        program.operands.append(operand)
        return Int32(program.operands.count - 1)
    }

    private mutating func filterPath() throws(ExpressionError) -> PathReference {
        let fromRoot = byte == UInt8(ascii: "$")
        index += 1
        var steps: [PathStep] = []
        if let next = byte, !JSONPathParser.filterStops.utf8.contains(next) {
            steps.append(try nameStep(stops: JSONPathParser.filterStops, descending: false))
        }
        try readSteps(into: &steps, stops: JSONPathParser.filterStops)
        return store(steps, fromRoot: fromRoot)
    }

    private mutating func textOperand(_ content: [UInt8]) -> PathOperand {
        let start = program.literals.count
        program.literals += content
        return PathOperand(kind: .text, textStart: Int32(start), textLength: Int32(content.count))
    }

    private mutating func constant() throws(ExpressionError) -> PathOperand {
        if skip("true") { return PathOperand(kind: .yes) }
        if skip("false") { return PathOperand(kind: .no) }
        if skip("null") { return PathOperand(kind: .null) }
        let start = index
        while let next = byte, !" )".utf8.contains(next) { index += 1 }
        let padded = PaddedBytes(copying: text[start..<index])
        guard case .number(let number) = DecimalParser.parse(padded.view) else {
            index = start
            if let first = byte, "+-.0123456789".utf8.contains(first) {
                throw error("'\(padded.view.string)' is no number; a number ends at a blank or ')'")
            }
            throw error("expected '@name', '$path', a number, 'text', true, false or null, found '\(shown)'")
        }
        return PathOperand(kind: .number, number: number)
    }

    // MARK: Regular expressions

    /// `/pattern/flags` as it is written.
    private mutating func patternLiteral() throws(ExpressionError) -> [UInt8] {
        let start = index
        index += 1
        while let next = byte, next != UInt8(ascii: "/") {
            index = min(index + (next == UInt8(ascii: "\\") ? 2 : 1), text.count)
        }
        guard skip("/") else { throw error("the regular expression is not closed", at: start) }
        while let next = byte, next | 0x20 >= UInt8(ascii: "a"), next | 0x20 <= UInt8(ascii: "z") { index += 1 }
        return Array(text[start..<index])
    }

    /// Compiles the right side of `=~`, which was written at `place`.
    private mutating func compilePattern(_ number: Int32, at place: Int) throws(ExpressionError) {
        let operand = program.operands[Int(number)]
        let start = Int(operand.textStart)
        let written = program.literals[start..<(start + Int(operand.textLength))]
        guard operand.kind == .text, written.first == UInt8(ascii: "/"),
            let end = written.dropFirst().lastIndex(of: UInt8(ascii: "/"))
        else { throw error("the right side of '=~' must be /pattern/ or '/pattern/'", at: place) }
        let pattern = Array(written[(start + 1)..<end])
        let isLiteral = text[place] == UInt8(ascii: "/")
        do {
            let compiled = try PatternCompiler.compile(
                pattern, flags: Array(written[(end + 1)...]), into: &program.patterns)
            program.operands[Int(number)].pattern = Int32(compiled)
        } catch {
            throw ExpressionError(
                message: "regular expression: \(error.message)", offset: isLiteral ? place + 1 + error.offset : place)
        }
    }
}
