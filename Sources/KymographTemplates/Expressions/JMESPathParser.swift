import KymographCore

/// Compiles JMESPath (jmespath.org, "Grammar", with the functions of the mapping dialect, section 3.2) by operator
/// precedence (V. Pratt, "Top down operator precedence", 1973).
///
/// One thing is read as the reference system does and not as jmespath.py does: `!a.b` is not (a.b).
struct JMESPathParser {
    /// Expressions inside expressions.
    static let deepestNesting = 64

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
        let lexemes = try JMESPathLexer.split(text)
        let extent = program.extent
        // Handed over, not lent: a catalogue's program would else be copied for each of its expressions.
        var parser = JMESPathParser(lexemes: lexemes, program: consume program)
        do throws(ExpressionError) {
            let root = try parser.whole()
            program = parser.program
            return JMESPathReference(root: root)
        } catch {
            program = parser.program
            program.cut(to: extent)
            throw error
        }
    }

    private mutating func whole() throws(ExpressionError) -> Int32 {
        if kind == .end { throw error("the expression is empty") }
        let root = try expression(Power.none)
        guard kind == .end else { throw unexpected("the end of the expression") }
        return root
    }

    private init(lexemes: [JMESPathLexeme], program: consuming JMESPathProgram) {
        self.lexemes = lexemes
        firstNode = program.nodes.count
        self.program = program
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

    func at(_ symbol: JMESPathSymbol) -> Bool { kind == .symbol(symbol) }

    mutating func skip(_ symbol: JMESPathSymbol) -> Bool {
        guard at(symbol) else { return false }
        index += 1
        return true
    }

    mutating func expect(_ symbol: JMESPathSymbol) throws(ExpressionError) {
        guard skip(symbol) else { throw unexpected("'\(symbol.rawValue)'") }
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
        case .symbol(let symbol): "'\(symbol.rawValue)'"
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
        guard tallest < JMESPathProgram.deepestTree else {
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
        case .pipe: return Power.pipe
        case .or: return Power.or
        case .and: return Power.and
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: return Power.comparison
        case .flatten: return Power.flatten
        case .star: return Power.star
        case .filter: return Power.filter
        case .dot: return Power.dot
        case .openBracket: return Power.bracket
        case .openParenthesis: return Power.call
        case .closeBracket, .openBrace, .closeBrace, .closeParenthesis, .comma, .colon, .ampersand, .not, .current:
            return Power.none
        }
    }

    /// What can start an expression.
    mutating func prefix() throws(ExpressionError) -> Int32 {
        let start = offset
        switch kind {
        case .name(let name):
            index += 1
            return at(.openParenthesis) ? try call(name, start) : try field(name, start)
        case .quotedName(let name):
            index += 1
            if at(.openParenthesis) { throw error("a function's name is written without quotes") }
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

    mutating func prefix(_ symbol: JMESPathSymbol, _ start: Int) throws(ExpressionError) -> Int32 {
        switch symbol {
        case .current:
            let current = try current()
            index += 1
            return current
        case .star: return try valueProjection(of: try current())
        case .filter, .flatten: return try infix(try current())
        case .openBracket:
            if startsBracketStep { return try bracketStep(try current()) }
            index += 1
            return try list(start)
        case .openBrace:
            index += 1
            return try hash(start)
        case .openParenthesis:
            index += 1
            let inner = try expression(Power.none)
            try expect(.closeParenthesis)
            return inner
        case .not:
            index += 1
            return try add(JMESPathNode(operation: .not, left: try expression(Power.not)), at: start)
        case .ampersand: throw error("'&' makes an argument of a function, and stands nowhere else")
        case .or, .and, .equal, .notEqual, .lessOrEqual, .greaterOrEqual, .less, .greater, .dot, .closeBracket,
            .closeBrace, .closeParenthesis, .comma, .colon, .pipe:
            throw unexpected("an expression")
        }
    }

    /// What can follow an expression.
    mutating func infix(_ left: Int32) throws(ExpressionError) -> Int32 {
        let start = offset
        guard case .symbol(let symbol) = kind else { throw unexpected("an operator") }
        switch symbol {
        case .dot: return try dot(left, start)
        case .pipe:
            index += 1
            return try chain(left, try expression(Power.pipe), start)
        case .filter: return try filter(left, start)
        case .flatten:
            index += 1
            let flat = try add(JMESPathNode(operation: .flatten, left: left), at: start)
            return try projection(.projection, of: flat, rest: try projected(Power.flatten), start)
        case .openBracket:
            guard startsBracketStep else { throw bracketError() }
            return try bracketStep(left)
        case .star: throw error("unexpected '*'; write '.*' or '[*]'")
        case .openParenthesis: throw error("only a function's name can stand before '('")
        case .or, .and, .equal, .notEqual, .lessOrEqual, .greaterOrEqual, .less, .greater, .closeBracket, .openBrace,
            .closeBrace, .closeParenthesis, .comma, .colon, .ampersand, .not, .current:
            return try binary(symbol, left, start)
        }
    }

    mutating func binary(_ symbol: JMESPathSymbol, _ left: Int32, _ start: Int) throws(ExpressionError) -> Int32 {
        guard let operation = JMESPathParser.operation(symbol) else { throw unexpected("an operator") }
        let power = powerOfCurrent
        index += 1
        let right = try expression(power)
        return try add(JMESPathNode(operation: operation, left: left, right: right), at: start)
    }

    private static func operation(_ symbol: JMESPathSymbol) -> JMESPathNode.Operation? {
        switch symbol {
        case .or: .or
        case .and: .and
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        case .filter, .flatten, .dot, .star, .openBracket, .closeBracket, .openBrace, .closeBrace, .openParenthesis,
            .closeParenthesis, .comma, .colon, .pipe, .ampersand, .not, .current:
            nil
        }
    }

    mutating func dot(_ left: Int32, _ start: Int) throws(ExpressionError) -> Int32 {
        index += 1
        if at(.star) { return try valueProjection(of: left) }
        return try chain(left, try afterDot(Power.dot), start)
    }

    mutating func afterDot(_ power: Int) throws(ExpressionError) -> Int32 {
        let start = offset
        switch kind {
        case .name, .quotedName, .symbol(.star): return try expression(power)
        case .symbol(.openBracket):
            index += 1
            return try list(start)
        case .symbol(.openBrace):
            index += 1
            return try hash(start)
        case .text, .literal, .number, .symbol, .end: throw unexpected("a member name, '*', '[' or '{' after the dot")
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
        if at(.dot) {
            index += 1
            return try afterDot(power)
        }
        if at(.openBracket) && !startsBracketStep { throw bracketError() }
        guard at(.openBracket) || at(.filter) else { throw unexpected("'.', '[' or an operator after the projection") }
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
        try expect(.closeBracket)
        let rest = try projected(Power.filter)
        return try projection(.filterProjection, of: left, rest: rest, condition: condition, start)
    }
}
