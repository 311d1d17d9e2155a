import KymographCore

/// What stands in brackets, braces and parentheses.
extension JMESPathParser {
    // MARK: Brackets

    /// Whether the bracket holds an index, a slice or a star, rather than expressions.
    var startsBracketStep: Bool {
        switch following(1) {
        case .number, .symbol(.colon): true
        case .symbol(.star): following(2) == .symbol(.closeBracket)
        case .name, .quotedName, .text, .literal, .symbol, .end: false
        }
    }

    func bracketError() -> ExpressionError {
        switch following(1) {
        case .text, .quotedName, .name:
            error("'[' takes an index, a slice, '*' or '?'; a member is written with a dot, as in a.b or a.\"b c\"")
        case .literal, .number, .symbol, .end: error("expected an index, a slice, '*' or '?' after '['")
        }
    }

    mutating func bracketStep(_ left: Int32) throws(ExpressionError) -> Int32 {
        let start = offset
        index += 1
        if skip(.star) {
            try expect(.closeBracket)
            return try projection(.projection, of: left, rest: try projected(Power.star), start)
        }
        if case .number(let number) = kind, following(1) == .symbol(.closeBracket) {
            index += 2
            let element = try add(JMESPathNode(operation: .element, value: number), at: start)
            return try chain(left, element, start)
        }
        let slice = try slice(start)
        let sliced = try chain(left, slice, start)
        return try projection(.projection, of: sliced, rest: try projected(Power.star), start)
    }

    mutating func slice(_ start: Int) throws(ExpressionError) -> Int32 {
        var slice = JMESPathSlice()
        slice.start = bound()
        guard at(.colon) else { throw unexpected("']' or ':'") }
        index += 1
        slice.stop = bound()
        if skip(.colon) {
            let place = offset
            let step = bound()
            if step == 0 { throw ExpressionError(message: "the step of a slice cannot be 0", offset: place) }
            if step != JMESPathSlice.absent { slice.step = step }
        }
        try expect(.closeBracket)
        program.slices.append(slice)
        return try add(JMESPathNode(operation: .slice, value: Int32(program.slices.count - 1)), at: start)
    }

    mutating func bound() -> Int32 {
        guard case .number(let number) = kind else { return JMESPathSlice.absent }
        index += 1
        return number
    }

    // MARK: Lists

    /// Reads nodes up to `close` and links them; gives the first.
    mutating func nodes(
        until close: JMESPathSymbol, _ read: (inout JMESPathParser) throws(ExpressionError) -> Int32
    ) throws(ExpressionError) -> (first: Int32, count: Int) {
        var first: Int32 = -1
        var last: Int32 = -1
        var count = 0
        repeat {
            let node = try read(&self)
            if last < 0 { first = node } else { program.nodes[Int(last)].next = node }
            last = node
            count += 1
        } while skip(.comma)
        guard skip(close) else { throw unexpected("',' or '\(close.rawValue)'") }
        return (first, count)
    }

    mutating func list(_ start: Int) throws(ExpressionError) -> Int32 {
        let first = try nodes(until: .closeBracket) { (parser) throws(ExpressionError) in
            try parser.expression(Power.none)
        }
        .first
        return try add(JMESPathNode(operation: .list, left: first), at: start)
    }

    mutating func hash(_ start: Int) throws(ExpressionError) -> Int32 {
        let first = try nodes(until: .closeBrace) { (parser) throws(ExpressionError) in try parser.entry() }.first
        return try add(JMESPathNode(operation: .hash, left: first), at: start)
    }

    mutating func entry() throws(ExpressionError) -> Int32 {
        let start = offset
        var key = ""
        switch kind {
        case .name(let name), .quotedName(let name): key = name
        case .text, .literal, .number, .symbol, .end: throw unexpected("a member name")
        }
        index += 1
        try expect(.colon)
        let value = try expression(Power.none)
        return try add(JMESPathNode(operation: .entry, left: value, value: program.constant(text: key)), at: start)
    }

    // MARK: Functions

    mutating func call(_ name: String, _ start: Int) throws(ExpressionError) -> Int32 {
        guard let function = JMESPathFunction.named(name) else {
            let advice = NearestName.advice(
                for: name, among: JMESPathFunction.names,
                otherwise: "functions are \(JMESPathFunction.names.joined(separator: ", "))")
            throw ExpressionError(message: "there is no function '\(name)'; \(advice)", offset: start)
        }
        index += 1
        var (first, count): (Int32, Int) = (-1, 0)
        if !skip(.closeParenthesis) {
            (first, count) = try nodes(until: .closeParenthesis) { (parser) throws(ExpressionError) in
                try parser.argument()
            }
        }
        try check(count, of: function, start)
        return try add(JMESPathNode(operation: .call, function: function, left: first), at: start)
    }

    func check(_ count: Int, of function: JMESPathFunction, _ start: Int) throws(ExpressionError) {
        let wanted = function.parameters.count
        if count == wanted || function.isVariadic && count > wanted { return }
        let arguments = wanted == 1 ? "argument" : "arguments"
        let number = function.isVariadic ? "at least \(wanted) \(arguments)" : "\(wanted) \(arguments)"
        throw ExpressionError(message: "function '\(function.name)' takes \(number), found \(count)", offset: start)
    }

    mutating func argument() throws(ExpressionError) -> Int32 {
        let start = offset
        guard skip(.ampersand) else { return try expression(Power.none) }
        return try add(JMESPathNode(operation: .expression, left: try expression(Power.none)), at: start)
    }
}
