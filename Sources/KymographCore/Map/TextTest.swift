/// A predicate of the shape `@member == 'text'`, by which most mappings choose their templates.
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

    /// Whether the predicate is of this shape.
    var isUsable: Bool { stepCount > 0 }

    init(_ predicate: PathPredicate, in program: PathProgram) {
        guard predicate.operation == .equal || predicate.operation == .strictlyEqual else { return }
        let path = program.operands[Int(predicate.left)].path
        let text = program.operands[Int(predicate.right)]
        guard program.operands[Int(predicate.left)].kind == .path, text.kind == .text else { return }
        guard path.isMemberChain, !path.fromRoot, path.count > 0 else { return }
        firstStep = path.start
        stepCount = path.count
        firstName = program.steps[Int(path.start)].name
        textStart = text.textStart
        textLength = text.textLength
        for (place, byte) in program.literals[Int(textStart)...].prefix(min(Int(textLength), 8)).enumerated() {
            firstWord |= UInt64(byte) << UInt64(place * 8)
            firstMask |= 0xFF << UInt64(place * 8)
        }
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
