/// A place in the list of a container's children.
struct JMESPathCursor: BitwiseCopyable {
    var place: Int
    var end: Int
}

/// Values and what is in them.
extension JMESPathEvaluator {
    @inline(__always)
    func token(of handle: Int) -> Token {
        handle < JMESPathEvaluator.ownBase ? tape[handle] : own[handle - JMESPathEvaluator.ownBase]
    }

    @inline(__always)
    func kind(of handle: Int) -> UInt8 { token(of: handle).kind }

    /// The bytes of a scalar.
    @inline(__always)
    func content(_ handle: Int) -> ByteView {
        let token = token(of: handle)
        return handle < JMESPathEvaluator.ownBase ? bytes[token.range] : text.view(token.range)
    }

    /// What a child stands for.
    @inline(__always)
    func resolved(_ place: Int) -> Int {
        guard place >= JMESPathEvaluator.ownBase else { return place }
        let token = own[place - JMESPathEvaluator.ownBase]
        return token.kind == TokenKind.reference ? Int(token.start) : place
    }

    /// The handle of a boolean.
    func flag(_ value: Bool) -> Int {
        JMESPathEvaluator.ownBase + Int(value ? JMESPathProgram.yes : JMESPathProgram.no)
    }

    // MARK: Children

    /// The children of a container; of a scalar, none.
    @inline(__always)
    func children(of handle: Int) -> JMESPathCursor {
        let token = token(of: handle)
        guard token.isContainer else { return JMESPathCursor(place: 0, end: 0) }
        let base = handle < JMESPathEvaluator.ownBase ? 0 : JMESPathEvaluator.ownBase
        return JMESPathCursor(place: handle + 1, end: base + Int(token.next))
    }

    /// The next child that no later duplicate hides, or -1; what it stands for is ``resolved(_:)``.
    @inline(__always)
    func next(_ cursor: inout JMESPathCursor) -> Int {
        while cursor.place < cursor.end {
            let place = cursor.place
            let token = token(of: place)
            let base = place < JMESPathEvaluator.ownBase ? 0 : JMESPathEvaluator.ownBase
            cursor.place = base + Int(token.next)
            if !token.isShadowed { return place }
        }
        return -1
    }

    /// How many children a container has.
    mutating func childCount(of handle: Int) throws(EvaluationError) -> Int {
        var cursor = children(of: handle)
        var found = 0
        while next(&cursor) >= 0 { found += 1 }
        try count(found)
        return found
    }

    /// The object's member, or null.
    mutating func member(of handle: Int, _ field: JMESPathField) -> Int {
        guard kind(of: handle) == TokenKind.object else { return JMESPathEvaluator.null }
        if handle < JMESPathEvaluator.ownBase, field.number != NameTable.unknown {
            return documentMember(of: handle, field.number)
        }
        var cursor = children(of: handle)
        charge((cursor.end - cursor.place) >> 4)
        var found = JMESPathEvaluator.null
        while case let place = next(&cursor), place >= 0 {
            let token = token(of: place)
            if keyIsInDocument(place, token), field.number != NameTable.unknown {
                if token.name == field.number { return resolved(place) }
            } else if hasKey(place, token, text.view(field.range)) {
                // The scanner marks duplicates of the names it knows; of others, the last one counts all the same.
                found = resolved(place)
            }
        }
        return found
    }

    /// The document's member of a name that the scanner knows: the usual case.
    @inline(__always)
    private mutating func documentMember(of object: Int, _ name: UInt16) -> Int {
        let end = Int(tape[object].next)
        charge((end - object) >> 6)
        var child = object + 1
        while child < end {
            let token = tape[child]
            if token.name == name, !token.isShadowed { return child }
            child = Int(token.next)
        }
        return JMESPathEvaluator.null
    }

    @inline(__always)
    private func keyIsInDocument(_ place: Int, _ token: Token) -> Bool {
        place < JMESPathEvaluator.ownBase || token.flags & Token.documentKey != 0
    }

    private func hasKey(_ place: Int, _ token: Token, _ name: ByteView) -> Bool {
        let key = keyBytes(of: place)
        if keyIsInDocument(place, token), JMESPathEvaluator.hasBackslash(key) {
            return name.equals(Array(JSONUnescape.string(key).utf8))
        }
        return key.equals(name)
    }

    /// The bytes of a member's key: as written when it is the document's, else its text.
    func keyBytes(of place: Int) -> ByteView {
        let token = token(of: place)
        guard keyIsInDocument(place, token) else { return text.view(token.keyRange) }
        // The envelope's members have no key in the document when it was built around the payload.
        guard token.keyLength == 0, token.name <= NameTable.systemProperties else { return bytes[token.keyRange] }
        switch token.name {
        case NameTable.body: return ByteView("Body")
        case NameTable.properties: return ByteView("Properties")
        default: return ByteView("SystemProperties")
        }
    }

    static func hasBackslash(_ bytes: ByteView) -> Bool {
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\\") { return true }
        return false
    }

    /// Whether two members have the same key.
    mutating func sameKey(_ first: Int, _ second: Int) -> Bool {
        let one = keyBytes(of: first)
        let other = keyBytes(of: second)
        if !hasEscapedKey(first), !hasEscapedKey(second) { return one.equals(other) }
        left.removeAll()
        hasEscapedKey(first) ? JSONUnescape.append(one, into: &left) : left.append(one)
        right.removeAll()
        hasEscapedKey(second) ? JSONUnescape.append(other, into: &right) : right.append(other)
        return left.view.equals(right.view)
    }

    /// Whether a member's key is written with escapes.
    func hasEscapedKey(_ place: Int) -> Bool {
        keyIsInDocument(place, token(of: place)) && JMESPathEvaluator.hasBackslash(keyBytes(of: place))
    }

    // MARK: Types

    /// What JMESPath takes for true: all but false, null and what is empty.
    func isTrue(_ handle: Int) -> Bool {
        let token = token(of: handle)
        switch token.kind {
        case TokenKind.null, TokenKind.no: return false
        case TokenKind.string: return token.length > 0
        case TokenKind.object, TokenKind.array:
            var cursor = children(of: handle)
            return next(&cursor) >= 0
        default: return true
        }
    }

    /// Whether a value is of one of the types.
    mutating func has(_ handle: Int, oneOf types: JMESPathTypes) throws(EvaluationError) -> Bool {
        switch kind(of: handle) {
        case TokenKind.null: return types.contains(.null)
        case TokenKind.yes, TokenKind.no: return types.contains(.boolean)
        case TokenKind.object: return types.contains(.object)
        case TokenKind.string: return !types.isDisjoint(with: [.string, .plainString])
        case TokenKind.number:
            return !types.isDisjoint(with: [.number, .float]) || types.contains(.integer) && isInteger(handle)
        default:
            if types.contains(.array) { return true }
            if types.contains(.numbers), try hasOnly(TokenKind.number, handle) { return true }
            guard types.contains(.strings) else { return false }
            return try hasOnly(TokenKind.string, handle)
        }
    }

    private mutating func hasOnly(_ kind: UInt8, _ array: Int) throws(EvaluationError) -> Bool {
        var cursor = children(of: array)
        while case let place = next(&cursor), place >= 0 {
            try count(1)
            if self.kind(of: resolved(place)) != kind { return false }
        }
        return true
    }

    // MARK: Making values

    /// A token that stands for the value `handle`.
    func reference(to handle: Int) -> Token {
        Token(kind: TokenKind.reference, start: UInt32(handle), next: UInt32(own.count + 1))
    }

    /// Makes a scalar of the text from `start` on.
    mutating func make(_ kind: UInt8, from start: Int, flags: UInt8 = 0) throws(EvaluationError) -> Int {
        try allowText(0)
        try allowTokens(1)
        // Numbers are read eight bytes at a time.
        text.reserve(ByteView.padding)
        own.append(
            Token(
                kind: kind, flags: flags, start: UInt32(start), length: UInt32(text.count - start),
                next: UInt32(own.count + 1)))
        return JMESPathEvaluator.ownBase + own.count - 1
    }

    /// Makes an array of the values on the stack from `mark` on, and takes them off.
    mutating func makeArray(from mark: Int) throws(EvaluationError) -> Int {
        let array = try makeContainer(TokenKind.array, count: stack.count - mark)
        for index in mark..<stack.count { own.append(reference(to: stack[index])) }
        stack.truncate(to: mark)
        return array
    }

    /// Begins a container whose `count` children are appended next.
    mutating func makeContainer(_ kind: UInt8, count: Int) throws(EvaluationError) -> Int {
        try allowTokens(count + 1)
        own.append(Token(kind: kind, start: 0, next: UInt32(own.count + 1 + count)))
        return JMESPathEvaluator.ownBase + own.count - 1
    }

    /// Makes an object of the members at the places on the stack from `mark` on, and takes them off.
    mutating func makeObject(from mark: Int) throws(EvaluationError) -> Int {
        let object = try makeContainer(TokenKind.object, count: stack.count - mark)
        for index in mark..<stack.count { appendMember(stack[index]) }
        stack.truncate(to: mark)
        return object
    }

    private mutating func appendMember(_ place: Int) {
        let member = token(of: place)
        var copy = reference(to: resolved(place))
        copy.name = member.name
        copy.keyStart = member.keyStart
        copy.keyLength = member.keyLength
        if keyIsInDocument(place, member) { copy.flags = Token.documentKey }
        own.append(copy)
    }

    /// A copy of the object `root` with the member `matchedToken`.
    mutating func object(_ root: Int, adding matched: Int) throws(EvaluationError) -> Int {
        let mark = stack.count
        if kind(of: root) == TokenKind.object {
            var cursor = children(of: root)
            while case let place = next(&cursor), place >= 0 {
                if !hasKey(place, token(of: place), text.view(matchKey)) { stack.append(place) }
            }
        }
        try count(stack.count - mark)
        let object = try makeContainer(TokenKind.object, count: stack.count - mark + 1)
        for index in mark..<stack.count { appendMember(stack[index]) }
        stack.truncate(to: mark)
        var member = reference(to: matched)
        member.keyStart = UInt32(matchKey.lowerBound)
        member.keyLength = UInt32(matchKey.count)
        own.append(member)
        return object
    }
}
