extension TokenKind {
    /// Stands for another token inside an array or object that an expression made; `start` is its handle.
    static let reference: UInt8 = 8
}

extension Token {
    /// Flag: the string is a time that a function made.
    static let date: UInt8 = 8
    /// Flag: the number is a double, whether or not its text shows it.
    static let float: UInt8 = 16
    /// Flag: the key of this made token lies in the document.
    static let documentKey: UInt8 = 32
}

/// A member name that expressions mention.
struct JMESPathField: BitwiseCopyable {
    /// Its number in the scanner's ``NameTable``, or ``NameTable/unknown``.
    var number: UInt16
    /// Its text among the evaluator's own.
    var start: UInt32
    var length: UInt32

    var range: Range<Int> { Int(start)..<Int(start + length) }
}

/// How much an evaluator had made at some time.
struct JMESPathMark: BitwiseCopyable {
    fileprivate var tokens: Int
    fileprivate var text: Int
}

/// Evaluates compiled JMESPath expressions over the tape of a scanned document.
///
/// A value is known by its *handle*: the index of a token on the scanner's tape, or ``ownBase`` plus the index of a
/// token on the evaluator's own tape, which holds the constants of the expressions and after them what functions and
/// projections made. Arrays and objects made here hold references, so that nothing of the document is copied. Handles
/// are valid until ``reset()`` or until the document changes.
///
/// After warm-up nothing is allocated, except for numbers that need more than 15 digits as text.
struct JMESPathEvaluator: ~Copyable {
    /// Handles from here on are of own tokens.
    static let ownBase = 1 << 30
    /// The handle of null.
    static let null = ownBase + Int(JMESPathProgram.null)
    /// Most bytes of text that one evaluation may make, besides four times the document.
    static let textLimit = 1 << 24

    // What the expressions are.
    let nodes: RawArray<JMESPathNode>
    let slices: RawArray<JMESPathSlice>
    let fields: RawArray<JMESPathField>
    /// What arguments must be, ``parametersPerFunction`` for each function.
    private let types: RawArray<JMESPathTypes>
    private let constantCount: Int
    private let literalCount: Int
    /// The text of ``JMESPathProgram/matchedToken``.
    let matchKey: Range<Int>

    // What they make.
    var own: RawArray<Token>
    var text: ByteWriter
    var stack = RawArray<Int>(capacity: 256)
    var left = ByteWriter(capacity: 256)
    var right = ByteWriter(capacity: 256)
    var places = RawArray<Int32>(capacity: 64)
    var mergedPlaces = RawArray<Int32>(capacity: 64)

    // The document, while an expression is evaluated.
    var tape: ElementList<Token>
    var bytes = ByteView("")

    /// Whether the last value is the result of a projection.
    var isProjection = false
    /// Where the evaluation is, for errors.
    var place: Int32 = 0
    var calling = JMESPathFunction.abs
    /// Integer results that did not fit 64 bits and were wrapped around (quirk 13), since the start.
    private(set) var wraps = 0

    private var steps = 0
    private let limits: ScanLimits
    private var textEnd = 0
    // The root with the member `matchedToken`.
    private var overlay = -1
    private var overlayRoot = -1
    private var overlayMatch = -1

    private static let parametersPerFunction = 3

    /// Prepares the expressions of `program` for a scanner that knows `names`, in their order.
    ///
    /// Of the limits, `values` caps the tokens that are made until ``reset()``, and the steps of one evaluation at
    /// four times as many; `depth` caps nesting of values, at as many levels more as an expression can add.
    init(program: JMESPathProgram, limits: ScanLimits, names: [String] = []) {
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
        types = RawArray(
            JMESPathFunction.allCases.flatMap { function in
                (0..<JMESPathEvaluator.parametersPerFunction).map {
                    function.parameters[min($0, function.parameters.count - 1)]
                }
            })
        constantCount = program.constants.count
        let own = RawArray(program.constants)
        tape = own.list(0..<0)
        self.own = own
        text = ByteWriter(capacity: program.literals.count + 1024)
        text.append(program.literals)
        matchKey = text.count..<text.count + JMESPathProgram.matchedToken.utf8.count
        text.append(Array(JMESPathProgram.matchedToken.utf8))
        literalCount = text.count
        text.reserve(ByteView.padding)
        self.limits = limits
    }

    /// Forgets everything that was made.
    mutating func reset() {
        own.truncate(to: constantCount)
        text.truncate(to: literalCount)
        forgetOverlay()
    }

    /// How much was made so far, for ``release(to:)``.
    var mark: JMESPathMark { JMESPathMark(tokens: own.count, text: text.count) }

    /// Forgets what was made since `mark`. Handles from before stay valid.
    mutating func release(to mark: JMESPathMark) {
        // Nothing is left of a mark from before a ``reset()``.
        own.truncate(to: min(mark.tokens, own.count))
        text.truncate(to: min(mark.text, text.count))
        if overlay - JMESPathEvaluator.ownBase >= own.count { forgetOverlay() }
    }

    private mutating func forgetOverlay() {
        overlay = -1
        overlayRoot = -1
        overlayMatch = -1
    }

    /// Evaluates an expression on the value `root`.
    ///
    /// With `matched` ≥ 0 the root is a copy of `root` with a member `matchedToken` that is the value `matched`, in
    /// place of one of the same name (mapping dialect, section 2.3). Both are handles; `bytes` is the document that
    /// `scanner` has scanned, padded.
    mutating func evaluate(
        _ reference: JMESPathReference, scanner: borrowing JSONScanner, root: Int, matched: Int, bytes: ByteView
    ) throws(EvaluationError) -> JMESPathResult {
        guard !reference.isAbsent else { return .none }
        open(scanner, bytes)
        defer { close() }
        let root = matched < 0 ? root : try rootWithMatch(root, matched)
        let handle = try value(of: reference.root, at: root)
        let kind = kind(of: handle)
        if kind == TokenKind.null { return .none }
        return JMESPathResult(
            kind: isProjection ? .projection : .one, handle: handle, isFalse: kind == TokenKind.no)
    }

    /// Borrows the document until ``close()``.
    mutating func open(_ scanner: borrowing JSONScanner, _ bytes: ByteView) {
        tape = scanner.tape.list(0..<scanner.tape.count)
        self.bytes = bytes
        steps = 0
        stack.removeAll()
        textEnd = text.count + JMESPathEvaluator.textLimit + 4 * bytes.count
    }

    mutating func close() {
        tape = own.list(0..<0)
        bytes = ByteView("")
    }

    private mutating func rootWithMatch(_ root: Int, _ matched: Int) throws(EvaluationError) -> Int {
        if overlay >= 0, overlayRoot == root, overlayMatch == matched { return overlay }
        overlay = try object(root, adding: matched)
        overlayRoot = root
        overlayMatch = matched
        return overlay
    }

    // MARK: Caps

    func failure(_ kind: EvaluationError.Kind, argument: Int = 0) -> EvaluationError {
        EvaluationError(kind: kind, function: calling, argument: UInt8(clamping: argument), offset: place)
    }

    /// Counts `count` steps of work.
    @inline(__always)
    mutating func count(_ count: Int) throws(EvaluationError) {
        steps += count
        if steps > 4 * limits.values { throw failure(.tooManyValues) }
    }

    /// Counts work without looking at the cap, which the next node does.
    @inline(__always)
    mutating func charge(_ count: Int) { steps += count }

    /// Makes sure that `count` more tokens may be made.
    func allowTokens(_ count: Int) throws(EvaluationError) {
        if own.count - constantCount + count > limits.values { throw failure(.tooManyValues) }
    }

    /// Makes sure that `count` more bytes may be made.
    func allowText(_ count: Int) throws(EvaluationError) {
        if text.count + count > textEnd { throw failure(.tooManyValues) }
    }

    func allowDepth(_ depth: Int) throws(EvaluationError) {
        if depth > limits.depth + 2 * JMESPathProgram.deepestTree { throw failure(.tooDeep) }
    }

    /// Notes that an integer was wrapped around.
    mutating func countWrap(_ overflow: Bool) {
        if overflow { wraps += 1 }
    }

    // MARK: Nodes

    /// The value of node `index` for the value `current`.
    mutating func value(of index: Int32, at current: Int) throws(EvaluationError) -> Int {
        let node = nodes[Int(index)]
        place = node.offset
        try count(1)
        switch node.operation {
        case .chain:
            let before = try value(of: node.left, at: current)
            return try value(of: node.right, at: before)
        case .or:
            let before = try value(of: node.left, at: current)
            return isTrue(before) ? before : try value(of: node.right, at: current)
        case .and:
            let before = try value(of: node.left, at: current)
            return isTrue(before) ? try value(of: node.right, at: current) : before
        case .projection, .valueProjection, .filterProjection:
            let result = try project(node, at: current)
            isProjection = true
            return result
        default:
            let result = try plainValue(of: node, at: current)
            isProjection = false
            return result
        }
    }

    private mutating func plainValue(of node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        switch node.operation {
        case .field: return member(of: current, fields[Int(node.value)])
        case .constant: return JMESPathEvaluator.ownBase + Int(node.value)
        case .element: return try element(Int(node.value), of: current)
        case .slice: return try slice(slices[Int(node.value)], of: current)
        case .flatten: return try flatten(try value(of: node.left, at: current))
        case .list: return try list(node, at: current)
        case .hash: return try hash(node, at: current)
        case .not: return flag(!isTrue(try value(of: node.left, at: current)))
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
            return try comparison(node, at: current)
        case .call: return try call(node, at: current)
        default: return current
        }
    }

    private mutating func call(_ node: JMESPathNode, at current: Int) throws(EvaluationError) -> Int {
        let first = stack.count
        defer { stack.truncate(to: first) }
        var argument = node.left
        while argument >= 0 {
            let node = nodes[Int(argument)]
            let isExpression = node.operation == .expression
            stack.append(isExpression ? -1 - Int(node.left) : try value(of: argument, at: current))
            argument = node.next
        }
        place = node.offset
        calling = node.function
        for index in first..<stack.count { try check(stack[index], argument: index - first) }
        return try result(of: node.function, first)
    }

    /// Expressions are on the stack as -1 minus the number of their node.
    private mutating func check(_ handle: Int, argument: Int) throws(EvaluationError) {
        let parameter = min(argument, JMESPathEvaluator.parametersPerFunction - 1)
        let expected = types[Int(calling.rawValue) * JMESPathEvaluator.parametersPerFunction + parameter]
        if handle < 0 ? expected.contains(.expression) : try has(handle, oneOf: expected) { return }
        var error = failure(.invalidType, argument: argument)
        error.expected = expected
        throw error
    }
}
