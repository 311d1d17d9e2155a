/// Compiles JMESPath (jmespath.org, "Grammar", with the functions of the mapping dialect, section 3.2) by operator
/// precedence (V. Pratt, "Top down operator precedence", 1973).
///
/// One thing is read as the reference system does and not as jmespath.py does: `!a.b` is not (a.b).
struct JMESPathParser {
    /// Expressions inside expressions, and operations on each other's results.
    static let deepestNesting = 64
    static let deepestTree = 128

    let lexemes: [JMESPathLexeme]
    var index = 0
    var program: JMESPathProgram
    let firstNode: Int
    /// How many nodes are above each other, for the nodes of this expression.
    var heights: [Int] = []
    var nesting = 0

    /// Compiles `text`, adding to `program`; on an error `program` stays as it was.
    ///
    /// - Throws: ``ExpressionError`` with the byte where the expression goes wrong, also for unknown functions and for
    ///   the wrong number of arguments.
    static func compile(
        _ text: String, into program: inout JMESPathProgram
    ) throws(ExpressionError) -> JMESPathReference {
        var parser = JMESPathParser(lexemes: try JMESPathLexer.split(text), program: program)
        if parser.kind == .end { throw parser.error("the expression is empty") }
        let root = try parser.expression(Power.none)
        guard parser.kind == .end else { throw parser.unexpected("the end of the expression") }
        program = parser.program
        return JMESPathReference(root: root)
    }

    private init(lexemes: [JMESPathLexeme], program: JMESPathProgram) {
        self.lexemes = lexemes
        self.program = program
        firstNode = program.nodes.count
    }

    /// How strongly what follows an expression binds to it.
    enum Power {
        static let none = 0
        static let pipe = 1
        static let or = 2
        static let and = 3
        static let comparison = 5
        static let not = 8
        static let flatten = 9
        /// A projection ends before anything that binds less.
        static let projectionStop = 10
        static let star = 20
        static let filter = 21
        static let dot = 40
        static let bracket = 55
        static let call = 60
    }

    // MARK: Pieces

    var kind: JMESPathLexeme.Kind { lexemes[index].kind }
    var offset: Int { lexemes[index].offset }

    func following(_ count: Int) -> JMESPathLexeme.Kind { lexemes[min(index + count, lexemes.count - 1)].kind }

    func at(_ symbol: String) -> Bool { kind == .symbol(symbol) }

    mutating func skip(_ symbol: String) -> Bool {
        guard at(symbol) else { return false }
        index += 1
        return true
    }

    mutating func expect(_ symbol: String) throws(ExpressionError) {
        guard skip(symbol) else { throw unexpected("'\(symbol)'") }
    }

    func error(_ message: String) -> ExpressionError { ExpressionError(message: message, offset: offset) }

    func unexpected(_ wanted: String) -> ExpressionError { error("expected \(wanted), found \(shown)") }

    var shown: String {
        switch kind {
        case .name(let text): "'\(text)'"
        case .quotedName(let text): "the name \"\(text)\""
        case .text(let text): "the text '\(text)'"
        case .literal(let text): "the literal `\(text)`"
        case .number(let number): "the number \(number)"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end of the expression"
        }
    }

    // MARK: Nodes

    mutating func add(_ node: JMESPathNode, at offset: Int) throws(ExpressionError) -> Int32 {
        var node = node
        node.offset = Int32(truncatingIfNeeded: offset)
        var tallest = max(height(node.left), height(node.right))
        if node.operation == .filterProjection { tallest = max(tallest, height(node.value)) }
        var sibling = node.left
        while node.operation == .list || node.operation == .hash || node.operation == .call, sibling >= 0 {
            tallest = max(tallest, height(sibling))
            sibling = program.nodes[Int(sibling)].next
        }
        guard tallest < JMESPathParser.deepestTree else {
            throw ExpressionError(message: "the expression has too many steps; split it", offset: offset)
        }
        program.nodes.append(node)
        heights.append(tallest + 1)
        return Int32(program.nodes.count - 1)
    }

    func height(_ node: Int32) -> Int { node < 0 ? 0 : heights[Int(node) - firstNode] }

    mutating func chain(_ left: Int32, _ right: Int32, _ offset: Int) throws(ExpressionError) -> Int32 {
        try add(JMESPathNode(operation: .chain, left: left, right: right), at: offset)
    }

    mutating func current() throws(ExpressionError) -> Int32 {
        try add(JMESPathNode(operation: .current), at: offset)
    }

    mutating func constant(_ place: Int32, _ offset: Int) throws(ExpressionError) -> Int32 {
        try add(JMESPathNode(operation: .constant, value: place), at: offset)
    }

    mutating func field(_ name: String, _ offset: Int) throws(ExpressionError) -> Int32 {
        try add(JMESPathNode(operation: .field, value: program.number(of: name)), at: offset)
    }

    // MARK: Expressions

    mutating func expression(_ power: Int) throws(ExpressionError) -> Int32 {
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= JMESPathParser.deepestNesting else { throw error("the expression is nested too deeply") }
        var left = try prefix()
        while power < powerOfCurrent { left = try infix(left) }
        return left
    }

    var powerOfCurrent: Int {
        guard case .symbol(let symbol) = kind else { return Power.none }
        switch symbol {
        case "|": return Power.pipe
        case "||": return Power.or
        case "&&": return Power.and
        case "==", "!=", "<", "<=", ">", ">=": return Power.comparison
        case "[]": return Power.flatten
        case "*": return Power.star
        case "[?": return Power.filter
        case ".": return Power.dot
        case "[": return Power.bracket
        case "(": return Power.call
        default: return Power.none
        }
    }

    /// What can start an expression.
    mutating func prefix() throws(ExpressionError) -> Int32 {
        let start = offset
        switch kind {
        case .name(let name):
            index += 1
            return at("(") ? try call(name, start) : try field(name, start)
        case .quotedName(let name):
            index += 1
            if at("(") { throw error("a function's name is written without quotes") }
            return try field(name, start)
        case .text(let text):
            index += 1
            return try constant(program.constant(text: text), start)
        case .literal(let json):
            index += 1
            return try constant(try program.constant(json: json, offset: start), start)
        case .symbol(let symbol): return try prefix(symbol, start)
        case .number: throw error("a number is written in backticks: `1`")
        case .end: throw unexpected("an expression")
        }
    }

    mutating func prefix(_ symbol: String, _ start: Int) throws(ExpressionError) -> Int32 {
        switch symbol {
        case "@":
            let current = try current()
            index += 1
            return current
        case "*": return try valueProjection(of: try current())
        case "[?", "[]": return try infix(try current())
        case "[":
            if startsBracketStep { return try bracketStep(try current()) }
            index += 1
            return try list(start)
        case "{":
            index += 1
            return try hash(start)
        case "(":
            index += 1
            let inner = try expression(Power.none)
            try expect(")")
            return inner
        case "!":
            index += 1
            return try add(JMESPathNode(operation: .not, left: try expression(Power.not)), at: start)
        case "&": throw error("'&' makes an argument of a function, and stands nowhere else")
        default: throw unexpected("an expression")
        }
    }

    /// What can follow an expression.
    mutating func infix(_ left: Int32) throws(ExpressionError) -> Int32 {
        let start = offset
        guard case .symbol(let symbol) = kind else { throw unexpected("an operator") }
        switch symbol {
        case ".": return try dot(left, start)
        case "|":
            index += 1
            return try chain(left, try expression(Power.pipe), start)
        case "[?": return try filter(left, start)
        case "[]":
            index += 1
            let flat = try add(JMESPathNode(operation: .flatten, left: left), at: start)
            return try projection(.projection, of: flat, rest: try projected(Power.flatten), start)
        case "[":
            guard startsBracketStep else { throw bracketError() }
            return try bracketStep(left)
        case "*": throw error("unexpected '*'; write '.*' or '[*]'")
        case "(": throw error("only a function's name can stand before '('")
        default: return try binary(symbol, left, start)
        }
    }

    mutating func binary(_ symbol: String, _ left: Int32, _ start: Int) throws(ExpressionError) -> Int32 {
        let operations: [String: (JMESPathNode.Operation, Int)] = [
            "||": (.or, Power.or), "&&": (.and, Power.and), "==": (.equal, Power.comparison),
            "!=": (.notEqual, Power.comparison), "<": (.less, Power.comparison),
            "<=": (.lessOrEqual, Power.comparison), ">": (.greater, Power.comparison),
            ">=": (.greaterOrEqual, Power.comparison),
        ]
        guard let (operation, power) = operations[symbol] else { throw unexpected("an operator") }
        index += 1
        let right = try expression(power)
        return try add(JMESPathNode(operation: operation, left: left, right: right), at: start)
    }

    mutating func dot(_ left: Int32, _ start: Int) throws(ExpressionError) -> Int32 {
        index += 1
        if at("*") { return try valueProjection(of: left) }
        return try chain(left, try afterDot(Power.dot), start)
    }

    mutating func afterDot(_ power: Int) throws(ExpressionError) -> Int32 {
        let start = offset
        switch kind {
        case .name, .quotedName, .symbol("*"): return try expression(power)
        case .symbol("["):
            index += 1
            return try list(start)
        case .symbol("{"):
            index += 1
            return try hash(start)
        default: throw unexpected("a member name, '*', '[' or '{' after the dot")
        }
    }

    // MARK: Projections

    mutating func projection(
        _ operation: JMESPathNode.Operation, of left: Int32, rest: Int32, condition: Int32 = 0, _ start: Int
    ) throws(ExpressionError) -> Int32 {
        try add(JMESPathNode(operation: operation, left: left, right: rest, value: condition), at: start)
    }

    /// What is applied to each element: all that follows and binds at least as strongly as a projection.
    mutating func projected(_ power: Int) throws(ExpressionError) -> Int32 {
        if powerOfCurrent < Power.projectionStop { return try current() }
        if at(".") {
            index += 1
            return try afterDot(power)
        }
        if at("[") && !startsBracketStep { throw bracketError() }
        guard at("[") || at("[?") else { throw unexpected("'.', '[' or an operator after the projection") }
        return try expression(power)
    }

    mutating func valueProjection(of left: Int32) throws(ExpressionError) -> Int32 {
        let start = offset
        index += 1
        return try projection(.valueProjection, of: left, rest: try projected(Power.star), start)
    }

    mutating func filter(_ left: Int32, _ start: Int) throws(ExpressionError) -> Int32 {
        index += 1
        let condition = try expression(Power.none)
        try expect("]")
        let rest = try projected(Power.filter)
        return try projection(.filterProjection, of: left, rest: rest, condition: condition, start)
    }
}
