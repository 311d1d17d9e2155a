/// A predicate of the shape `@member == 'text'`, by which most mappings choose their templates, or `@member != 'text'`.
///
/// Recognised at load: tested on every reading by every template, it must not cost a general comparison.
struct TextTest: BitwiseCopyable {
    /// Steps of the member chain; no step when the predicate has another shape.
    var firstStep: Int32 = 0
    var stepCount: Int32 = 0
    /// The chain's first member.
    var firstName: UInt16 = NameTable.unknown
    /// Place of the text in the program's literals.
    var textStart: Int32 = 0
    var textLength: Int32 = 0
    /// The text's first bytes, up to eight, and which bytes of a word they fill: they decide nearly every test.
    var firstWord: UInt64 = 0
    var firstMask: UInt64 = 0

    /// Whether the member must be another text, or no text.
    var isNegated = false

    /// Whether the predicate is of this shape.
    var isUsable: Bool { stepCount > 0 }

    init(_ predicate: PathPredicate, in program: PathProgram) {
        switch predicate.operation {
        case .equal, .strictlyEqual: break
        case .notEqual, .strictlyNotEqual: isNegated = true
        case .and, .or, .exists, .less, .lessOrEqual, .greater, .greaterOrEqual, .matches: return
        }
        let path = program.operands[Int(predicate.left)].path
        let text = program.operands[Int(predicate.right)]
        guard program.operands[Int(predicate.left)].kind == .path, text.kind == .text else { return }
        guard path.isMemberChain, !path.fromRoot, path.count > 0 else { return }
        firstStep = path.start
        stepCount = path.count
        firstName = program.steps[Int(path.start)].name
        textStart = text.textStart
        textLength = text.textLength
        (firstWord, firstMask) = word(0, in: program)
    }

    /// The text's bytes from the ninth, up to eight, and which bytes of a word they fill.
    func secondWord(in program: PathProgram) -> (word: UInt64, mask: UInt64) { word(8, in: program) }

    private func word(_ offset: Int, in program: PathProgram) -> (word: UInt64, mask: UInt64) {
        var (word, mask) = (0 as UInt64, 0 as UInt64)
        let text = program.literals[Int(textStart)...].prefix(Int(textLength)).dropFirst(offset).prefix(8)
        for (place, byte) in text.enumerated() {
            word |= UInt64(byte) << UInt64(place * 8)
            mask |= 0xFF << UInt64(place * 8)
        }
        return (word, mask)
    }
}

extension ByteView {
    /// Whether both views hold the same bytes. Both must be padded, so that the last word needs no bounds test.
    @inline(__always)
    func equalsPadded(_ other: ByteView) -> Bool {
        guard count == other.count else { return false }
        var index = 0
        while index + 8 <= count {
            if word(at: index) != other.word(at: index) { return false }
            index += 8
        }
        let rest = ~(UInt64.max << UInt64(truncatingIfNeeded: (count - index) * 8))
        return (word(at: index) ^ other.word(at: index)) & rest == 0
    }
}
