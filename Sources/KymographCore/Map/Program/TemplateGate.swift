/// What must be true of a payload for a template to match, as far as a few instructions can tell.
///
/// Every reading is held against every template of its source, and nearly all templates are told apart by one text:
/// `@type == 'heartRate'`. The gate compares that text's length and first sixteen bytes.
struct TemplateGate: BitwiseCopyable {
    /// Names without which the match expression selects nothing, as bits of ``JSONScanner/nameMask``.
    let requiredNames: UInt64
    /// The text's first eight bytes.
    private(set) var low: UInt64 = 0
    private var lowMask: UInt64 = 0
    /// The eight bytes behind them.
    private(set) var high: UInt64 = 0
    private var highMask: UInt64 = 0
    /// Bytes of the text.
    private(set) var length: UInt32 = 0
    /// The member that holds the text; ``NameTable/unknown`` when no text decides.
    private(set) var name: UInt16 = NameTable.unknown
    /// Whether only a selection tells: comparisons may fail where quirks are copied.
    let needsSelection: Bool
    /// Whether passing the gate is the whole condition.
    private(set) var isDecisive = false

    /// The gate of a template whose match expression is `match`.
    init(_ match: ExpressionCode, requiredNames: UInt64, isCompatible: Bool, in program: PathProgram) {
        self.requiredNames = requiredNames
        needsSelection = isCompatible
        let path = match.path
        guard path.count == 1 else { return }
        let step = program.steps[Int(path.start)]
        let predicate = Int(step.argument)
        guard step.operation == .filterDescendants, program.isAboutPayload(predicate),
            let test = TemplateGate.test(predicate, in: program)
        else { return }
        (low, lowMask) = (test.firstWord, test.firstMask)
        (high, highMask) = test.secondWord(in: program)
        length = UInt32(test.textLength)
        name = test.firstName
        isDecisive = TextTest(program.predicates[predicate], in: program).isUsable && length <= 16
    }

    /// Whether the template can be found by the text of the member `name`.
    func isSorted(by name: UInt16) -> Bool { name != NameTable.unknown && self.name == name && !needsSelection }

    /// A text test without which the predicate cannot hold.
    private static func test(_ index: Int, in program: PathProgram) -> TextTest? {
        let predicate = program.predicates[index]
        if predicate.operation == .and {
            return test(Int(predicate.left), in: program) ?? test(Int(predicate.right), in: program)
        }
        let test = TextTest(predicate, in: program)
        return test.stepCount == 1 && !test.isNegated ? test : nil
    }

    /// Whether the text in `token` is not the one wanted. Texts with escapes are never told.
    @inline(__always)
    func excludes(_ token: Token, _ bytes: ByteView) -> Bool {
        guard token.kind == TokenKind.string else { return true }
        guard token.flags & Token.escaped == 0 else { return false }
        guard token.length == length else { return true }
        let start = Int(token.start)
        return (bytes.word(at: start) ^ low) & lowMask | (bytes.word(at: start &+ 8) ^ high) & highMask != 0
    }
}
