/// What the objects of a source's packets look like: which members they have, of which kind, and the texts that decide
/// what they are mapped to.
///
/// The packets of a sensor differ in their numbers. An object of a known shape is told by looking once at its tokens.
struct ObjectShapes: ~Copyable {
    /// What a member of a shape is.
    struct Member: BitwiseCopyable {
        var kind: UInt8
        var flags: UInt8
        var name: UInt16
        /// Whether the text is part of the shape; then its length and its first sixteen bytes.
        var isFixed = false
        var length: UInt32 = 0
        var low: UInt64 = 0
        var high: UInt64 = 0
    }

    /// Members of a shape, as a run of ``members``.
    struct Shape: BitwiseCopyable {
        var start: UInt32
        var end: UInt32
    }

    /// Most shapes that are kept.
    private static let most = 16
    /// Objects of which a shape is sought: what does not repeat itself is mapped without.
    private static let mostTries = 1_024
    /// Longest text that can be part of a shape.
    private static let longestText = 16

    private var members = RawArray<Member>()
    private var shapes = RawArray<Shape>()
    /// The shape that was found last: sensors send the same again and again.
    private var last = 0
    private var tries = 0

    /// Shapes that are known.
    var count: Int { shapes.count }

    /// Whether another shape may be learnt; counts the try.
    mutating func mayLearn() -> Bool {
        tries += 1
        return shapes.count < ObjectShapes.most && tries <= ObjectShapes.mostTries
    }

    /// The number of the shape that an object with these members has, or -1 when it is none that is known.
    @inline(__always)
    mutating func find(_ tokens: ElementList<Token>, _ bytes: ByteView) -> Int {
        if last < shapes.count, matches(shapes[last], tokens, bytes) { return last }
        for number in 0..<shapes.count where matches(shapes[number], tokens, bytes) {
            last = number
            return number
        }
        return -1
    }

    @inline(__always)
    private func matches(_ shape: Shape, _ tokens: ElementList<Token>, _ bytes: ByteView) -> Bool {
        guard Int(shape.end &- shape.start) == tokens.count else { return false }
        for index in 0..<tokens.count {
            let token = tokens[index]
            let member = members[Int(shape.start) &+ index]
            guard token.kind == member.kind, token.flags == member.flags, token.name == member.name else {
                return false
            }
            if member.isFixed && !ObjectShapes.isSame(token, member, bytes) { return false }
        }
        return true
    }

    @inline(__always)
    private static func isSame(_ token: Token, _ member: Member, _ bytes: ByteView) -> Bool {
        guard token.length == member.length else { return false }
        let words = self.words(token, bytes)
        return words.low == member.low && words.high == member.high
    }

    /// The first sixteen bytes of a text, zeros behind its end.
    @inline(__always)
    private static func words(_ token: Token, _ bytes: ByteView) -> (low: UInt64, high: UInt64) {
        let start = Int(token.start)
        let low = bytes.word(at: start) & mask(token.length)
        return (low, token.length <= 8 ? 0 : bytes.word(at: start &+ 8) & mask(token.length &- 8))
    }

    @inline(__always)
    private static func mask(_ count: UInt32) -> UInt64 {
        count >= 8 ? .max : ~(UInt64.max &<< UInt64(truncatingIfNeeded: count &* 8))
    }

    /// Whether the text of the member at `place` is part of shape `number`.
    func isFixed(_ place: Int, in number: Int) -> Bool { members[Int(shapes[number].start) + place].isFixed }

    /// Learns the shape of an object as number ``count``; false when it is none that can be known.
    ///
    /// The texts of members whose names are `isFixed` (by their numbers) are part of the shape.
    mutating func learn(
        _ tokens: ElementList<Token>, _ bytes: ByteView, isFixed: borrowing RawArray<Bool>
    ) -> Bool {
        guard find(tokens, bytes) < 0 else { return false }
        let start = members.count
        for index in 0..<tokens.count {
            let token = tokens[index]
            var member = Member(kind: token.kind, flags: token.flags, name: token.name)
            let decides = token.name != NameTable.unknown && isFixed[Int(token.name)]
            member.isFixed = decides && token.kind == TokenKind.string
            let isPlain = token.flags == 0 && token.length <= ObjectShapes.longestText
            // A number where a text decides might decide as well.
            if decides, token.kind == TokenKind.number || !isPlain {
                members.truncate(to: start)
                return false
            }
            if member.isFixed {
                member.length = token.length
                (member.low, member.high) = ObjectShapes.words(token, bytes)
            }
            members.append(member)
        }
        shapes.append(Shape(start: UInt32(start), end: UInt32(members.count)))
        return true
    }
}
