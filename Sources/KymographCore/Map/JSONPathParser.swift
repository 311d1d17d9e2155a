/// Why an expression cannot be used, and where in it.
public struct ExpressionError: Error, Equatable, Sendable {
    /// What is wrong.
    public var message: String
    /// Bytes before the place in the expression.
    public var offset: Int
}

/// Compiles JSONPath in the dialect of the reference system (mapping dialect, section 3.1) into a ``PathProgram``.
///
/// Paths: optional `$`, then `.name`, `.*`, `..name`, `..*`, `['name']`, `[n]`, `[*]`, `[?(filter)]`, `..[?(filter)]`.
/// Filters: existence, `== != <> < <= > >=`, joined by `&&` and `||` in order of appearance without precedence: a
/// change of operator takes the whole rest (quirk 9).
struct JSONPathParser {
    private let text: [UInt8]
    private var index = 0
    private var program: PathProgram

    /// Compiles `expression`, adding to `program`.
    static func compile(_ expression: String, into program: inout PathProgram) throws(ExpressionError) -> PathReference
    {
        var parser = JSONPathParser(text: Array(expression.utf8), program: program)
        let path = try parser.wholePath()
        program = parser.program
        return path
    }

    private init(text: [UInt8], program: PathProgram) {
        self.text = text
        self.program = program
    }

    private var byte: UInt8? { index < text.count ? text[index] : nil }

    private func at(_ expected: String) -> Bool { text[index...].starts(with: expected.utf8) }

    private mutating func skip(_ expected: String) -> Bool {
        guard at(expected) else { return false }
        index += expected.utf8.count
        return true
    }

    private mutating func skipSpaces() {
        while byte == UInt8(ascii: " ") { index += 1 }
    }

    private func error(_ message: String) -> ExpressionError { ExpressionError(message: message, offset: index) }

    // MARK: Paths

    private mutating func wholePath() throws(ExpressionError) -> PathReference {
        var steps: [PathStep] = []
        if byte == UInt8(ascii: "$"),
            index + 1 == text.count || text[index + 1] == UInt8(ascii: ".")
                || text[index + 1] == UInt8(ascii: "[")
        {
            index += 1
        } else if byte != UInt8(ascii: "["), byte != UInt8(ascii: ".") {
            steps.append(memberStep(try name(stops: ".[")))
        }
        try readSteps(into: &steps, inFilter: false)
        // A blank at the end ends the path, as in the reference implementation.
        skipSpaces()
        guard index == text.count else { throw error("unexpected '\(shown)'") }
        return store(steps, fromRoot: true)
    }

    private var shown: String { byte.map { String(decoding: [$0], as: UTF8.self) } ?? "end of expression" }

    private mutating func memberStep(_ name: String) -> PathStep {
        PathStep(operation: .member, name: program.number(of: name))
    }

    private mutating func readSteps(into steps: inout [PathStep], inFilter: Bool) throws(ExpressionError) {
        let stops = inFilter ? ".[ )=<>!|&" : ".[ "
        while let next = byte {
            if next == UInt8(ascii: ".") {
                try readDotStep(into: &steps, stops: stops)
            } else if next == UInt8(ascii: "[") {
                steps.append(try bracketStep(descending: false))
            } else {
                return
            }
        }
    }

    private mutating func readDotStep(into steps: inout [PathStep], stops: String) throws(ExpressionError) {
        let descending = skip("..")
        if !descending { index += 1 }
        if byte == UInt8(ascii: "[") {
            steps.append(try bracketStep(descending: descending))
        } else if skip("*") {
            steps.append(PathStep(operation: descending ? .descendants : .children))
            // `..*` is everything below the node, which is the children of the node and of all its descendants.
            if descending { steps.append(PathStep(operation: .children)) }
        } else {
            var step = memberStep(try name(stops: stops))
            if descending { step.operation = .descendantMembers }
            steps.append(step)
        }
    }

    private mutating func name(stops: String) throws(ExpressionError) -> String {
        let start = index
        while let next = byte, !stops.utf8.contains(next) {
            if "]()'\"*".utf8.contains(next) { throw error("unexpected '\(shown)' in a name") }
            index += 1
        }
        guard index > start else { throw error("expected a member name, found '\(shown)'") }
        return String(decoding: text[start..<index], as: UTF8.self)
    }

    private mutating func bracketStep(descending: Bool) throws(ExpressionError) -> PathStep {
        index += 1
        skipSpaces()
        if skip("?(") { return try filterStep(descending: descending) }
        var step: PathStep
        if byte == UInt8(ascii: "'") {
            step = memberStep(try quoted())
            if descending { step.operation = .descendantMembers }
        } else if descending {
            throw error("after '..[' a filter '?(…)' or a quoted name is expected")
        } else if skip("*") {
            step = PathStep(operation: .children)
        } else {
            step = PathStep(operation: .element, argument: try elementNumber())
        }
        skipSpaces()
        guard skip("]") else { throw error(bracketMessage) }
        return step
    }

    private var bracketMessage: String {
        switch byte {
        case UInt8(ascii: ","): "unions such as [0,1] are not supported; write one expression per value"
        case UInt8(ascii: ":"): "slices such as [0:2] are not supported; use [*] or an index"
        default: "expected ']', found '\(shown)'"
        }
    }

    private mutating func elementNumber() throws(ExpressionError) -> Int32 {
        if byte == UInt8(ascii: "-") { throw error("negative indexes are not part of the dialect") }
        let start = index
        while let next = byte, next &- UInt8(ascii: "0") < 10 { index += 1 }
        guard let number = Int32(String(decoding: text[start..<index], as: UTF8.self)) else {
            throw error("expected an index, '*', a quoted name or '?(…)', found '\(shown)'")
        }
        return number
    }

    private mutating func quoted() throws(ExpressionError) -> String {
        let start = index
        index += 1
        var content: [UInt8] = []
        while let next = byte, next != UInt8(ascii: "'") {
            if next == UInt8(ascii: "\\") { index += 1 }
            guard let taken = byte else { break }
            content.append(next == UInt8(ascii: "\\") ? JSONPathParser.escaped(taken) : taken)
            index += 1
        }
        guard skip("'") else { throw ExpressionError(message: "the quoted text is not closed", offset: start) }
        return String(decoding: content, as: UTF8.self)
    }

    private static func escaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "r"): 0x0D
        default: byte
        }
    }

    private mutating func store(_ steps: [PathStep], fromRoot: Bool) -> PathReference {
        let start = program.steps.count
        program.steps += steps
        return PathReference(
            start: Int32(start), count: Int32(steps.count),
            isMemberChain: steps.allSatisfy { $0.operation == .member }, fromRoot: fromRoot,
            requiredNames: steps.reduce(0) { $0 | requiredNames($1) })
    }

    private func requiredNames(_ step: PathStep) -> UInt64 {
        switch step.operation {
        case .member, .descendantMembers: 1 << UInt64(step.name & 63)
        case .filterChildren, .filterDescendants: program.predicates[Int(step.argument)].requiredNames
        default: 0
        }
    }

    /// Names without which a predicate cannot hold.
    private func requiredNames(_ node: PathPredicate) -> UInt64 {
        let left = Int(node.left)
        let right = Int(node.right)
        switch node.operation {
        case .and: return program.predicates[left].requiredNames | program.predicates[right].requiredNames
        case .or: return program.predicates[left].requiredNames & program.predicates[right].requiredNames
        case .exists: return program.operands[left].path.requiredNames
        default: return program.operands[left].path.requiredNames | program.operands[right].path.requiredNames
        }
    }

    private func needsObject(_ node: PathPredicate) -> Bool {
        let left = Int(node.left)
        let right = Int(node.right)
        switch node.operation {
        case .and: return program.predicates[left].needsObject || program.predicates[right].needsObject
        case .or: return program.predicates[left].needsObject && program.predicates[right].needsObject
        case .exists: return startsAtMember(program.operands[left])
        default: return startsAtMember(program.operands[left]) || startsAtMember(program.operands[right])
        }
    }

    private func startsAtMember(_ operand: PathOperand) -> Bool {
        guard operand.kind == .path, !operand.path.fromRoot, operand.path.count > 0 else { return false }
        return program.steps[Int(operand.path.start)].operation == .member
    }

    // MARK: Filters

    private mutating func filterStep(descending: Bool) throws(ExpressionError) -> PathStep {
        let predicate = try joined()
        skipSpaces()
        guard skip(")") else { throw error("expected ')' at the end of the filter, found '\(shown)'") }
        skipSpaces()
        guard skip("]") else { throw error("expected ']' after the filter, found '\(shown)'") }
        return PathStep(operation: descending ? .filterDescendants : .filterChildren, argument: predicate)
    }

    /// Conditions joined by one operator; a change of operator takes all the rest (quirk 9).
    private mutating func joined() throws(ExpressionError) -> Int32 {
        var left = try condition()
        var previous: PathPredicate.Operation?
        while true {
            skipSpaces()
            guard let operation = try joiner() else { return left }
            if let previous, previous != operation {
                // `a && b || c` is And(a, Or(b, c)): the last condition and the rest become one.
                let last = program.predicates[Int(left)]
                let rest = try joined()
                let nested = add(PathPredicate(operation: operation, left: last.right, right: rest))
                return add(PathPredicate(operation: previous, left: last.left, right: nested))
            }
            let right = try condition()
            left = add(PathPredicate(operation: operation, left: left, right: right))
            previous = operation
        }
    }

    private mutating func joiner() throws(ExpressionError) -> PathPredicate.Operation? {
        if skip("&&") { return .and }
        if skip("||") { return .or }
        return nil
    }

    private mutating func add(_ predicate: PathPredicate) -> Int32 {
        var predicate = predicate
        predicate.requiredNames = requiredNames(predicate)
        predicate.needsObject = needsObject(predicate)
        program.predicates.append(predicate)
        return Int32(program.predicates.count - 1)
    }

    private mutating func condition() throws(ExpressionError) -> Int32 {
        let left = try operand()
        skipSpaces()
        guard let operation = try comparison() else {
            guard program.operands[Int(left)].kind == .path else { throw error("a constant alone is no condition") }
            return add(PathPredicate(operation: .exists, left: left))
        }
        return add(PathPredicate(operation: operation, left: left, right: try operand()))
    }

    private mutating func comparison() throws(ExpressionError) -> PathPredicate.Operation? {
        if at("=~") { throw error("regular expressions in filters are not supported; compare with '=='") }
        if skip("===") || skip("==") { return .equal }
        if skip("!==") || skip("!=") || skip("<>") { return .notEqual }
        if skip("<=") { return .lessOrEqual }
        if skip(">=") { return .greaterOrEqual }
        if skip("<") { return .less }
        if skip(">") { return .greater }
        if byte == UInt8(ascii: "=") { throw error("'=' is no operator; use '=='") }
        return nil
    }

    private mutating func operand() throws(ExpressionError) -> Int32 {
        skipSpaces()
        var operand: PathOperand
        switch byte {
        case UInt8(ascii: "@"), UInt8(ascii: "$"): operand = PathOperand(kind: .path, path: try filterPath())
        case UInt8(ascii: "'"): operand = text(try quoted())
        case UInt8(ascii: "("): throw error("parentheses in filters are not supported; use one filter per template")
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
        if let next = byte, !".[ )=<>!|&".utf8.contains(next) {
            steps.append(memberStep(try name(stops: ".[ )=<>!|&")))
        }
        try readSteps(into: &steps, inFilter: true)
        return store(steps, fromRoot: fromRoot)
    }

    private mutating func text(_ content: String) -> PathOperand {
        let start = program.literals.count
        program.literals += Array(content.utf8)
        return PathOperand(
            kind: .text, textStart: Int32(start), textLength: Int32(program.literals.count - start))
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
}
