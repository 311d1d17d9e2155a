/// A member name that expressions mention.
struct JMESPathField: BitwiseCopyable {
    /// Its number in the scanner's ``NameTable``, or ``NameTable/unknown``.
    var number: UInt16
    /// Its text among the constants'.
    var start: UInt32
    var length: UInt32

    var range: Range<Int> { Int(start)..<Int(start + length) }
}

/// What an expression gave.
package struct JMESPathResult: BitwiseCopyable {
    package enum Kind: UInt8, BitwiseCopyable {
        /// Null.
        case none
        /// One value.
        case one
        /// The array of a projection, which can stand for its elements.
        case projection
    }

    package var kind: Kind
    /// The value, or the projection's array.
    package var handle = -1
    /// Whether the value is `false`.
    var isFalse = false

    static let none = JMESPathResult(kind: .none)
}

/// Evaluates compiled JMESPath expressions over the tape of a scanned document.
///
/// After warm-up nothing is allocated, except for numbers that need more than 15 digits as text.
package struct JMESPathEvaluator: ~Copyable {
    /// The root of an evaluation with the member `matchedToken`, kept for the next expression about the same match.
    private struct MatchRoot {
        var handle = -1
        var root = -1
        var match = -1
    }

    private let nodes: RawArray<JMESPathNode>
    private let slices: RawArray<JMESPathSlice>
    private let fields: RawArray<JMESPathField>
    /// The text of ``JMESPathProgram/matchedToken``.
    private let matchKey: Range<Int>
    private(set) var values: JMESPathValues
    private var functions = JMESPathFunctions()
    private var matchRoot = MatchRoot()
    /// Whether the last value is the result of a projection.
    private var isProjection = false

    /// Prepares the expressions of `program` for a scanner that knows `names`, in their order.
    ///
    /// Of the limits, `values` caps the tokens that are made until ``reset()``, and the steps of one evaluation at
    /// four times as many; `depth` caps nesting of values, at as many levels more as an expression can add.
    package init(program: JMESPathProgram, limits: ScanLimits, names: [String] = []) {
        nodes = RawArray(program.nodes)
        slices = RawArray(program.slices)
        var numbers: [String: UInt16] = [:]
        for (number, name) in names.enumerated() { numbers[name] = UInt16(number) }
        fields = RawArray(
            program.names.indices.map { index in
                let token = program.constants[Int(program.nameConstants[index])]
                let number = numbers[program.names[index]] ?? NameTable.unknown
                return JMESPathField(number: number, start: token.start, length: token.length)
            })
        let key = JMESPathProgram.matchedToken
        matchKey = program.literals.count..<program.literals.count + key.utf8.count
        values = JMESPathValues(program, extra: key, limits: limits)
    }

    /// Integer results that were wrapped around (quirk 13), since the start.
    var wraps: Int { functions.wraps }

    /// Forgets everything that was made.
    package mutating func reset() {
        values.reset()
        matchRoot = MatchRoot()
    }

    /// How much was made so far, for ``release(to:)``.
    var mark: JMESPathMark { values.mark }

    /// Forgets what was made since `mark`. Handles from before stay valid.
    mutating func release(to mark: JMESPathMark) {
        values.release(to: mark)
        if !values.has(matchRoot.handle) { matchRoot = MatchRoot() }
    }

    /// Evaluates an expression on the value `root`.
    ///
    /// With `matched` ≥ 0 the root is a copy of `root` with a member `matchedToken` that is the value `matched`, in
    /// place of one of the same name (mapping dialect, section 2.3). Both are handles (``JMESPathValues``); `bytes` is
    /// the document that `scanner` has scanned, padded.
    ///
    /// - Throws: ``EvaluationError`` where the JMESPath specification has an error, and at the limits of an expression.
    package mutating func evaluate(
        _ reference: JMESPathReference, scanner: borrowing JSONScanner, root: Int, matched: Int, bytes: ByteView
    ) throws(EvaluationError) -> JMESPathResult {
        guard !reference.isAbsent else { return .none }
        values.open(scanner, bytes)
        defer { values.close() }
        let root = matched < 0 ? root : try rootWithMatch(root, matched)
        let handle = try value(of: reference.root, at: root)
        let kind = values.kind(of: handle)
        if kind == TokenKind.null { return .none }
        return JMESPathResult(
            kind: isProjection ? .projection : .one, handle: handle, isFalse: kind == TokenKind.no)
    }

    private mutating func rootWithMatch(_ root: Int, _ matched: Int) throws(EvaluationError) -> Int {
        if matchRoot.handle >= 0, matchRoot.root == root, matchRoot.match == matched { return matchRoot.handle }
        let handle = try values.object(root, adding: matched, named: matchKey)
        matchRoot = MatchRoot(handle: handle, root: root, match: matched)
        return handle
    }

    // MARK: Nodes

    /// The value of node `index` for the value `current`.
    private mutating func value(of index: Int32, at current: Int) throws(EvaluationError) -> Int {
        let node = nodes[Int(index)]
        values.work.place = node.offset
        try values.count(1)
        switch node.operation {
        case .chain:
            let before = try value(of: node.left, at: current)
            return try value(of: node.right, at: before)
        case .or:
            let before = try value(of: node.left, at: current)
            return values.isTrue(before) ? before : try value(of: node.right, at: current)
        case .and:
            let before = try value(of: node.left, at: current)
            return values.isTrue(before) ? try value(of: node.right, at: current) : before
        case .projection, .valueProjection, .filterProjection:
            let result = try project(node, at: current)
            isProjection = true
            return result
        case .current, .field, .constant, .element, .slice, .flatten, .list, .hash, .not, .equal, .notEqual, .less,
            .lessOrEqual, .greater, .greaterOrEqual, .call, .entry, .expression:
            let result = try plainValue(of: node, at: current)
            isProjection = false
            return result
        }
    }

    private mutating func plainValue(of node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        switch node.operation {
        case .field:
            let member = values.member(of: current, fields[Int(node.value)])
            if values.isUnclear(member) { throw values.failure(.unclear) }
            return member
        case .constant: return JMESPathValues.ownBase + Int(node.value)
        case .element: return try functions.collections.element(Int(node.value), of: current, &values)
        case .slice: return try functions.collections.slice(slices[Int(node.value)], of: current, &values)
        case .flatten:
            let array = try value(of: node.left, at: current)
            return try functions.collections.flatten(array, &values)
        case .list: return try list(node, at: current)
        case .hash: return try hash(node, at: current)
        case .not: return values.flag(!values.isTrue(try value(of: node.left, at: current)))
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            let one = try value(of: node.left, at: current)
            let other = try value(of: node.right, at: current)
            return try functions.collections.comparison(node.operation, one, other, &values)
        case .call: return try call(node, at: current)
        case .current, .chain, .or, .and, .projection, .valueProjection, .filterProjection, .entry, .expression:
            return current
        }
    }

    /// The right side on each element of the left one, without nulls; null when there is nothing to project.
    private mutating func project(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let source = try value(of: node.left, at: current)
        let wanted = node.operation == .valueProjection ? TokenKind.object : TokenKind.array
        guard values.kind(of: source) == wanted else { return JMESPathValues.null }
        let mark = values.stack.count
        var cursor = values.children(of: source)
        while case let place = values.next(&cursor), place >= 0 {
            let element = values.resolved(place)
            if node.operation == .filterProjection, !values.isTrue(try value(of: node.value, at: element)) { continue }
            let result = try value(of: node.right, at: element)
            if values.kind(of: result) != TokenKind.null { values.stack.append(result) }
        }
        return try values.makeArray(from: mark)
    }

    /// `[a, b]`; of null, null.
    private mutating func list(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        guard values.kind(of: current) != TokenKind.null else { return JMESPathValues.null }
        return try values.makeArray(from: try pushItems(of: node, at: current))
    }

    /// `{a: x, b: y}`; of null, null. The last of two members of the same name counts.
    private mutating func hash(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        guard values.kind(of: current) != TokenKind.null else { return JMESPathValues.null }
        let mark = try pushItems(of: node, at: current)
        let object = try values.makeContainer(TokenKind.object, count: values.stack.count - mark)
        var item = node.left
        for index in mark..<values.stack.count {
            values.appendEntry(key: Int(nodes[Int(item)].value), values.stack[index], to: object)
            item = nodes[Int(item)].next
        }
        values.stack.truncate(to: mark)
        return object
    }

    /// Pushes the value of each item of a list, or of each member of a hash; where the first is on the stack.
    private mutating func pushItems(of node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let mark = values.stack.count
        let isHash = node.operation == .hash
        var item = node.left
        while item >= 0 {
            let result = try value(of: isHash ? nodes[Int(item)].left : item, at: current)
            values.stack.append(result)
            item = nodes[Int(item)].next
        }
        return mark
    }

    // MARK: Functions

    private mutating func call(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let first = values.stack.count
        defer { values.stack.truncate(to: first) }
        var argument = node.left
        while argument >= 0 {
            let node = nodes[Int(argument)]
            let isExpression = node.operation == .expression
            let pushed = isExpression ? -1 - Int(node.left) : try value(of: argument, at: current)
            values.stack.append(pushed)
            argument = node.next
        }
        values.work.place = node.offset
        values.work.calling = node.function
        for index in first..<values.stack.count {
            try functions.check(values.stack[index], argument: index - first, &values)
        }
        if let result = try functions.result(of: node.function, first, &values) { return result }
        return node.function == .map ? try mapped(first) : try byKey(node.function, first)
    }

    /// The result of the expression for each element, nulls too.
    private mutating func mapped(_ first: Int) throws(EvaluationError) -> Int {
        let expression = Int32(-1 - values.stack[first])
        let mark = values.stack.count
        var cursor = values.children(of: values.stack[first + 1])
        while case let place = values.next(&cursor), place >= 0 {
            let result = try value(of: expression, at: values.resolved(place))
            values.stack.append(result)
        }
        return try values.makeArray(from: mark)
    }

    /// Puts elements and keys on the stack, and chooses or sorts by them.
    private mutating func byKey(_ function: JMESPathFunction, _ first: Int) throws(EvaluationError) -> Int {
        let expression = Int32(-1 - values.stack[first + 1])
        let callPlace = values.work.place
        let elements = values.stack.count
        try values.pushChildren(of: values.stack[first])
        let keys = values.stack.count
        for index in elements..<keys {
            let key = try value(of: expression, at: values.stack[index])
            values.stack.append(key)
        }
        // The expression may have called functions itself.
        values.work.calling = function
        values.work.place = callPlace
        try checkKeys(from: keys)
        return function == .sortBy
            ? try functions.collections.sortedArray(elements: elements, keys: keys, &values)
            : try functions.collections.extreme(elements, keys: keys, &values)
    }

    /// Keys must be all numbers or all strings.
    private mutating func checkKeys(from keys: Int) throws(EvaluationError) {
        for index in keys..<values.stack.count {
            let kind = values.kind(of: values.stack[index])
            if kind == values.kind(of: values.stack[keys]), kind == TokenKind.number || kind == TokenKind.string {
                continue
            }
            var error = values.failure(.invalidType, argument: 1)
            error.expected = [.number, .string]
            throw error
        }
    }

    // MARK: Results

    /// The one value of a result as a handle, ``PathEvaluator/none`` or ``PathEvaluator/several``.
    ///
    /// A projection of one element is that element, and of none is nothing; with `compatible` it stays an array, as in
    /// the reference system (quirk 11).
    func single(_ result: JMESPathResult, compatible: Bool) -> Int {
        guard result.kind == .projection else { return result.kind == .none ? PathEvaluator.none : result.handle }
        let elements = elements(of: result.handle)
        if elements.count > 1 { return PathEvaluator.several }
        if compatible { return result.handle }
        return elements.isEmpty ? PathEvaluator.none : handle(at: elements.lowerBound)
    }

    /// The matches of a type match expression, to be read with ``handle(at:)``.
    ///
    /// Each element of a projection is one; any other value is one, arrays too, but not null and not `false`; with
    /// `compatible` false is a match as well (quirk 12).
    mutating func matches(_ result: JMESPathResult, compatible: Bool) -> Range<Int> {
        switch result.kind {
        case .none: return 0..<0
        case .projection: return elements(of: result.handle)
        case .one:
            if result.isFalse && !compatible { return 0..<0 }
            return values.appendMatch(result.handle)
        }
    }

    /// The value at a place of ``matches(_:compatible:)``.
    func handle(at place: Int) -> Int { values.resolved(JMESPathValues.ownBase + place) }

    /// The token of a value; its `range` is valid in ``bytes(of:document:)``.
    func token(_ handle: Int, scanner: borrowing JSONScanner) -> Token {
        handle < JMESPathValues.ownBase ? scanner.tape[handle] : values.token(of: handle)
    }

    /// The bytes in which a value's range is valid, padded; valid until the next evaluation.
    func bytes(of handle: Int, document: ByteView) -> ByteView {
        handle < JMESPathValues.ownBase ? document : values.text.view
    }

    /// Appends a value as compact JSON, numbers with the digits they have.
    ///
    /// - Throws: ``EvaluationError`` when the text grows beyond its limit.
    package mutating func appendJSON(
        of handle: Int, scanner: borrowing JSONScanner, bytes: ByteView, to writer: inout ByteWriter
    ) throws(EvaluationError) {
        values.open(scanner, bytes)
        defer { values.close() }
        let start = values.text.count
        try JMESPathJSON.write(handle, &values)
        writer.append(values.text.view(start..<values.text.count))
        values.text.truncate(to: start)
    }

    /// What the elements or members of a made container stand for; of a scalar, nothing.
    func parts(of made: Int) -> [Int] {
        let token = values.token(of: made)
        guard token.isContainer else { return [] }
        return (made + 1..<JMESPathValues.ownBase + Int(token.next)).map { values.resolved($0) }
    }

    /// The places of the elements of a made array.
    private func elements(of array: Int) -> Range<Int> {
        array - JMESPathValues.ownBase + 1..<Int(values.token(of: array).next)
    }
}
