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

/// A place in the list of a container's children.
struct JMESPathCursor: BitwiseCopyable {
    var place: Int
    var end: Int
}

/// How much had been made at some time.
struct JMESPathMark: BitwiseCopyable {
    fileprivate var tokens: Int
    fileprivate var text: Int
}

/// The values that JMESPath expressions work on: those of a scanned document, and those that were made.
///
/// A value is known by its *handle*: the index of a token on the scanner's tape, or ``ownBase`` plus the index of a
/// token on a tape of its own, which holds the constants of the expressions and after them what functions and
/// projections made. Arrays and objects made here hold references, so that nothing of the document is copied. Handles
/// are valid until ``reset()`` or until the document changes.
package struct JMESPathValues: ~Copyable {
    /// Handles from here on are of own tokens.
    static let ownBase = 1 << 30
    /// The handle of null.
    package static let null = ownBase + Int(JMESPathProgram.null)
    /// Most bytes of text that one evaluation may make, besides four times the document.
    private static let textLimit = 1 << 24

    private(set) var own: RawArray<Token>
    var text: ByteWriter
    /// Handles of arguments and elements, while they are collected.
    var stack = RawArray<Int>(capacity: 256)
    /// Texts without escapes, while they are compared or copied.
    var left = ByteWriter(capacity: 256)
    var right = ByteWriter(capacity: 256)
    /// The document, while it is open.
    private var tape: ElementList<Token>
    private var bytes = ByteView("")
    /// What the evaluation has cost, and where it is.
    var work: JMESPathWork
    private let constantCount: Int
    private let literalCount: Int

    /// Begins with the constants of `program` and the text `extra`. Of the limits, `values` caps the tokens that are
    /// made until ``reset()``.
    init(_ program: JMESPathProgram, extra: String, limits: ScanLimits) {
        constantCount = program.constants.count
        let own = RawArray(program.constants)
        tape = own.list(0..<0)
        self.own = own
        text = ByteWriter(capacity: program.literals.count + 1024)
        text.append(program.literals)
        text.append(Array(extra.utf8))
        literalCount = text.count
        text.reserve(ByteView.padding)
        work = JMESPathWork(limits: limits)
    }

    /// Forgets everything that was made.
    mutating func reset() {
        own.truncate(to: constantCount)
        text.truncate(to: literalCount)
    }

    /// How much was made so far, for ``release(to:)``.
    var mark: JMESPathMark { JMESPathMark(tokens: own.count, text: text.count) }

    /// Forgets what was made since `mark`. Handles from before stay valid.
    mutating func release(to mark: JMESPathMark) {
        // Nothing is left of a mark from before a ``reset()``.
        own.truncate(to: min(mark.tokens, own.count))
        text.truncate(to: min(mark.text, text.count))
    }

    /// Whether `handle` is of a value that is there.
    func has(_ handle: Int) -> Bool { handle >= 0 && handle - JMESPathValues.ownBase < own.count }

    /// Borrows the document until ``close()``, and begins to count work anew.
    mutating func open(_ scanner: borrowing JSONScanner, _ bytes: ByteView) {
        tape = scanner.tape.list(0..<scanner.tape.count)
        self.bytes = bytes
        stack.removeAll()
        work.begin(textEnd: text.count + JMESPathValues.textLimit + 4 * bytes.count)
    }

    mutating func close() {
        tape = own.list(0..<0)
        bytes = ByteView("")
    }

    // MARK: Caps

    func failure(_ kind: EvaluationError.Kind, argument: Int = 0) -> EvaluationError {
        work.failure(kind, argument: argument)
    }

    /// Counts `count` steps of work.
    @inline(__always)
    mutating func count(_ count: Int) throws(EvaluationError) { try work.count(count) }

    /// Makes sure that `count` more tokens may be made.
    func allowTokens(_ count: Int) throws(EvaluationError) {
        if own.count - constantCount + count > work.limits.values { throw failure(.tooManyValues) }
    }

    /// Makes sure that `count` more bytes may be made.
    func allowText(_ count: Int) throws(EvaluationError) {
        if text.count + count > work.textEnd { throw failure(.tooManyValues) }
    }

    func allowDepth(_ depth: Int) throws(EvaluationError) { try work.allowDepth(depth) }

    // MARK: Tokens

    @inline(__always)
    func token(of handle: Int) -> Token {
        handle < JMESPathValues.ownBase ? tape[handle] : own[handle - JMESPathValues.ownBase]
    }

    @inline(__always)
    func kind(of handle: Int) -> UInt8 { token(of: handle).kind }

    /// The bytes of a scalar.
    @inline(__always)
    func content(_ handle: Int) -> ByteView {
        let token = token(of: handle)
        return handle < JMESPathValues.ownBase ? bytes[token.range] : text.view(token.range)
    }

    /// What a child stands for.
    @inline(__always)
    func resolved(_ place: Int) -> Int {
        guard place >= JMESPathValues.ownBase else { return place }
        let token = own[place - JMESPathValues.ownBase]
        return token.kind == TokenKind.reference ? Int(token.start) : place
    }

    /// The handle of a boolean.
    func flag(_ value: Bool) -> Int {
        JMESPathValues.ownBase + Int(value ? JMESPathProgram.yes : JMESPathProgram.no)
    }

    // MARK: Children

    /// The children of a container; of a scalar, none.
    @inline(__always)
    func children(of handle: Int) -> JMESPathCursor {
        let token = token(of: handle)
        guard token.isContainer else { return JMESPathCursor(place: 0, end: 0) }
        let base = handle < JMESPathValues.ownBase ? 0 : JMESPathValues.ownBase
        return JMESPathCursor(place: handle + 1, end: base + Int(token.next))
    }

    /// The next child that no later duplicate hides, or -1; what it stands for is ``resolved(_:)``.
    @inline(__always)
    func next(_ cursor: inout JMESPathCursor) -> Int {
        while cursor.place < cursor.end {
            let place = cursor.place
            let token = token(of: place)
            let base = place < JMESPathValues.ownBase ? 0 : JMESPathValues.ownBase
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

    /// Whether a value is a property of the document of which nobody can tell what it says.
    @inline(__always)
    func isUnclear(_ handle: Int) -> Bool {
        guard handle < JMESPathValues.ownBase, kind(of: handle) == TokenKind.object else { return false }
        return UnclearProperty.isOne(bytes[token(of: handle).range])
    }

    /// The object's member, or null.
    mutating func member(of handle: Int, _ field: JMESPathField) -> Int {
        guard kind(of: handle) == TokenKind.object else { return JMESPathValues.null }
        if handle < JMESPathValues.ownBase, field.number != NameTable.unknown {
            return documentMember(of: handle, field.number)
        }
        var cursor = children(of: handle)
        work.charge((cursor.end - cursor.place) >> 4)
        var found = JMESPathValues.null
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
        work.charge((end - object) >> 6)
        var child = object + 1
        while child < end {
            let token = tape[child]
            if token.name == name, !token.isShadowed { return child }
            child = Int(token.next)
        }
        return JMESPathValues.null
    }

    @inline(__always)
    private func keyIsInDocument(_ place: Int, _ token: Token) -> Bool {
        place < JMESPathValues.ownBase || token.flags & Token.documentKey != 0
    }

    private func hasKey(_ place: Int, _ token: Token, _ name: ByteView) -> Bool {
        let key = keyBytes(of: place)
        if keyIsInDocument(place, token), JMESPathValues.hasBackslash(key) {
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

    private static func hasBackslash(_ bytes: ByteView) -> Bool {
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
        keyIsInDocument(place, token(of: place)) && JMESPathValues.hasBackslash(keyBytes(of: place))
    }

    /// Puts the values of a container on the stack.
    mutating func pushChildren(of handle: Int) throws(EvaluationError) {
        var cursor = children(of: handle)
        while case let place = next(&cursor), place >= 0 {
            try count(1)
            stack.append(resolved(place))
        }
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
        return JMESPathValues.ownBase + own.count - 1
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
        return JMESPathValues.ownBase + own.count - 1
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

    /// A copy of the object `root` with the member `matched`, whose key is the text at `matchKey`.
    mutating func object(_ root: Int, adding matched: Int, named matchKey: Range<Int>) throws(EvaluationError) -> Int {
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

    /// Adds a member to the object that was begun as `object`, with the text of constant `key` as its key; the
    /// last of two of the same name counts.
    mutating func appendEntry(key: Int, _ value: Int, to object: Int) {
        let key = own[key]
        for index in object - JMESPathValues.ownBase + 1..<own.count
        where text.view(own[index].keyRange).equals(text.view(key.range)) {
            own[index].flags |= Token.shadowed
        }
        var member = reference(to: value)
        member.keyStart = key.start
        member.keyLength = key.length
        own.append(member)
    }

    /// A value of the result of a match expression, which is the list of its matches.
    mutating func appendMatch(_ handle: Int) -> Range<Int> {
        own.append(reference(to: handle))
        return own.count - 1..<own.count
    }

    // MARK: Numbers

    /// Whether a number is an integer: written without point and exponent, and not made as a double.
    func isInteger(_ handle: Int) -> Bool {
        token(of: handle).flags & Token.float == 0 && NumberText.isInteger(content(handle))
    }

    mutating func make(integer value: Int64, flags: UInt8 = 0) throws(EvaluationError) -> Int {
        let start = text.count
        text.append(Decimal64(mantissa: value))
        return try make(TokenKind.number, from: start, flags: flags)
    }

    mutating func make(double value: Double) throws(EvaluationError) -> Int {
        let start = text.count
        DoubleText.append(value, to: &text)
        return try make(TokenKind.number, from: start, flags: Token.float)
    }

    /// Without decimals that are zero.
    mutating func make(decimal value: Decimal64, flags: UInt8 = 0) throws(EvaluationError) -> Int {
        var value = value
        while value.exponent < 0, value.mantissa % 10 == 0 {
            value.mantissa /= 10
            value.exponent += 1
        }
        let start = text.count
        text.append(value)
        return try make(TokenKind.number, from: start, flags: flags)
    }

    // MARK: Texts

    /// The text of a string without escapes, padded; valid until the next call with the same `second`, and until text
    /// is made.
    mutating func plainText(_ handle: Int, second: Bool) -> ByteView {
        let view = content(handle)
        guard token(of: handle).flags & Token.escaped != 0 else { return view }
        if second {
            right.removeAll()
            JSONUnescape.append(view, into: &right)
            right.reserve(ByteView.padding)
            return right.view
        }
        left.removeAll()
        JSONUnescape.append(view, into: &left)
        // Room is made before the view is: growing moves the bytes.
        left.reserve(ByteView.padding)
        return left.view
    }

    /// Adds the text of a string to the own text.
    mutating func appendPlain(_ handle: Int) throws(EvaluationError) {
        let token = token(of: handle)
        try allowText(Int(token.length))
        try count(1 + Int(token.length) >> 6)
        if token.flags & Token.escaped != 0 {
            text.append(plainText(handle, second: false))
        } else {
            appendBytes(token.range, of: handle)
        }
    }

    /// Adds bytes of a scalar as they are.
    mutating func appendBytes(_ range: Range<Int>, of handle: Int) {
        if handle < JMESPathValues.ownBase { text.append(bytes[range]) } else { text.appendCopy(of: range) }
    }

    /// Adds a member's key to the own text.
    mutating func appendKey(_ place: Int) throws(EvaluationError) {
        let key = keyBytes(of: place)
        try allowText(key.count)
        left.removeAll()
        hasEscapedKey(place) ? JSONUnescape.append(key, into: &left) : left.append(key)
        text.append(left.view)
    }
}
