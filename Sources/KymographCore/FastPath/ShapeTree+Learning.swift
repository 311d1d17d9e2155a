/// Documents that become known.
extension ShapeTree {
    /// Whether another shape may be learnt; counts the try.
    mutating func mayLearn() -> Bool {
        tries += 1
        guard tries > ShapeTree.mostTries else { return true }
        if tries > ShapeTree.patience { forget() }
        return false
    }

    private mutating func forget() {
        segments.removeAll()
        layouts.removeAll()
        (count, tries) = (0, 0)
    }

    /// Learns the shape of the flat document on `tape` as number ``count``; false when it is none that can be known.
    ///
    /// The texts of members whose names are `isFixed` (by their numbers) are part of the shape and none of its values.
    mutating func learn(
        _ tape: borrowing RawArray<Token>, _ bytes: ByteView, isFixed: borrowing RawArray<Bool>
    ) -> Bool {
        let payload = tape[JSONScanner.payload]
        guard ShapeTree.canKnow(tape, isFixed: isFixed) else { return false }
        var start = Int(payload.start)
        var parent = -1
        for index in JSONScanner.payload + 1..<Int(payload.next) {
            let token = tape[index]
            if ShapeTree.isFixed(token, isFixed) { continue }
            let following = token.kind == TokenKind.string ? Following.text : Following.number
            guard add(bytes[start..<Int(token.start)], following, &parent) else { return false }
            start = token.range.upperBound
        }
        let end = payload.range.upperBound
        guard add(bytes[start..<end], Following.nothing, &parent) else { return false }
        segments[parent].next = UInt16(count)
        count += 1
        return true
    }

    /// Which of the values of a document on `tape` the token is; nil when it is no value of the shape.
    static func place(of token: Int, _ tape: borrowing RawArray<Token>, isFixed: borrowing RawArray<Bool>) -> Int? {
        guard !ShapeTree.isFixed(tape[token], isFixed) else { return nil }
        var place = 0
        for index in JSONScanner.payload + 1..<token where !ShapeTree.isFixed(tape[index], isFixed) { place += 1 }
        return place
    }

    private static func isFixed(_ token: Token, _ names: borrowing RawArray<Bool>) -> Bool {
        token.kind == TokenKind.string && token.name != NameTable.unknown && names[Int(token.name)]
    }

    /// Whether there are only texts and numbers that can be told by their bytes. A number where a text decides might
    /// decide as well.
    private static func canKnow(_ tape: borrowing RawArray<Token>, isFixed: borrowing RawArray<Bool>) -> Bool {
        let payload = tape[JSONScanner.payload]
        let members = JSONScanner.payload + 1..<Int(payload.next)
        guard payload.kind == TokenKind.object, !members.isEmpty, members.count <= mostValues else { return false }
        for index in members {
            let token = tape[index]
            guard token.flags == 0, token.kind == TokenKind.string || token.kind == TokenKind.number else {
                return false
            }
            let isNumber = token.kind == TokenKind.number
            if isNumber, token.name != NameTable.unknown, isFixed[Int(token.name)] { return false }
        }
        return true
    }

    /// Adds what leads to a value behind `parent` where it is not known yet, in pieces if it is long, and makes its
    /// last piece the parent.
    private mutating func add(_ bytes: ByteView, _ following: UInt8, _ parent: inout Int) -> Bool {
        var start = 0
        // The last piece may be empty: it says what follows, and a piece of full length does not.
        while bytes.count - start >= ShapeTree.longest {
            let piece = bytes[start..<start + ShapeTree.longest]
            guard add(ShapeTree.segment(piece, Following.bytes), &parent) else { return false }
            start += ShapeTree.longest
        }
        return add(ShapeTree.segment(bytes[start..<bytes.count], following), &parent)
    }

    private mutating func add(_ segment: Segment, _ parent: inout Int) -> Bool {
        var number = parent < 0 ? 0 : Int(segments[parent].next)
        let first = number
        var former = -1
        var others = 0
        if parent >= 0 && number == 0 || segments.count == 0 { number = -1 }
        while number >= 0 {
            if segments[number].isSame(segment) {
                parent = number
                return segment.following != Following.nothing
            }
            former = number
            others += 1
            number = segments[number].other == 0 ? -1 : Int(segments[number].other)
        }
        guard others < ShapeTree.mostOthers, segments.count < ShapeTree.most else { return false }
        let added = segments.count
        segments.append(segment)
        if former >= 0 {
            segments[former].other = UInt16(added)
            updateFork(first)
        } else if parent >= 0 {
            segments[parent].next = UInt16(added)
        }
        parent = added
        return true
    }

    /// Finds out what tells `first` and its others apart.
    private mutating func updateFork(_ first: Int) {
        var shared = Int(segments[first].length)
        var shortest = shared
        var number = Int(segments[first].other)
        while number > 0 {
            shared = min(shared, segments[first].sharedBytes(segments[number]))
            shortest = min(shortest, Int(segments[number].length))
            number = Int(segments[number].other)
        }
        segments[first].forkOffset = UInt8(shared)
        segments[first].forkMask = ShapeTree.mask(shortest - shared)
    }

    /// Which bits of a word are of its first `count` bytes.
    private static func mask(_ count: Int) -> UInt64 {
        count >= 8 ? .max : ~(UInt64.max << UInt64(count * 8))
    }

    private static func segment(_ bytes: ByteView, _ following: UInt8) -> Segment {
        var segment = Segment()
        let count = bytes.count
        segment.length = UInt8(count)
        segment.last = UInt8(max(count - 8, 0))
        segment.mask = mask(count)
        segment.words.0 = bytes.word(at: 0) & segment.mask
        segment.words.3 = bytes.word(at: Int(segment.last)) & segment.mask
        if count > 16 {
            segment.words.1 = bytes.word(at: 8)
            segment.words.2 = bytes.word(at: count - 16)
        }
        segment.following = following
        return segment
    }
}

extension ShapeTree.Segment {
    /// Whether both stand for the same bytes before the same kind of value.
    fileprivate func isSame(_ other: Self) -> Bool {
        length == other.length && following == other.following && words == other.words
    }

    /// How many bytes both begin with.
    fileprivate func sharedBytes(_ other: Self) -> Int {
        let count = Int(min(length, other.length))
        return (0..<count).first { byte($0) != other.byte($0) } ?? count
    }

    private func byte(_ place: Int) -> UInt8 {
        let (word, start) =
            switch place {
            case ..<8: (words.0, 0)
            case Int(last)...: (words.3, Int(last))
            case ..<16: (words.1, 8)
            default: (words.2, Int(last) - 8)
            }
        return UInt8(truncatingIfNeeded: word >> UInt64((place - start) * 8))
    }
}
