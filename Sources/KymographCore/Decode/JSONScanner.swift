/// Why a document was refused, and at which byte.
package struct ScanFailure: Error, Equatable, Sendable {
    /// The reason.
    package var reason: Rejection
    /// Byte offset in the document.
    package var offset: Int

    package init(reason: Rejection, offset: Int) {
        (self.reason, self.offset) = (reason, offset)
    }
}

/// Bounds that keep hostile input cheap.
package struct ScanLimits: Sendable {
    /// Deepest nesting of objects and arrays, 1…1,024.
    package var depth: Int
    /// Most values in one document.
    package var values: Int

    /// Makes limits; the defaults suit device messages.
    package init(depth: Int = 64, values: Int = 1_000_000) {
        self.depth = depth
        self.values = values
    }
}

/// Scans one JSON document (RFC 8259) to a tape of ``Token``s: validating, without recursion, without allocation.
///
/// While scanning, each key is looked up among the names that any template mentions; ``nameMask`` tells afterwards
/// which occurred, so that most templates are ruled out by one bit test, and ``slot(of:)`` where the payload's own
/// members are.
///
/// The tape starts with the envelope `{Body, Properties, SystemProperties}` that the mapping dialect demands, built
/// around a payload that does not bring one (spec: mapping dialect, section 1.1).
package struct JSONScanner: ~Copyable {
    package var tape: RawArray<Token>
    let names: NameTable
    private var stack: RawArray<UInt32>
    /// Per name: scan number in the high half, token index in the low half.
    var slots: RawArray<UInt64>
    var scanNumber: UInt64 = 0
    static let lastScanNumber = UInt64(UInt32.max)
    private var keyText = ByteWriter(capacity: 256)
    private var shadows = ShadowedMembers()
    private var guesses = KeyGuesses()
    /// For the short path.
    var members = MemberGuesses()
    let limits: ScanLimits
    /// Whether duplicates matter whose names no template mentions, in flat payloads too.
    let marksUnnamed: Bool
    /// Whether the envelope's empty Properties and SystemProperties are put on the tape: no need when nobody asks.
    private let buildsProperties: Bool
    /// Whether the payload is the root even when it is no envelope.
    private let payloadIsRoot: Bool
    /// Failures of the short path in a row.
    var flatFailures = 0
    /// Whether a key of the document is written with escapes.
    private var hasEscapedKeys = false
    /// Bit `number & 63` of every name that occurred: a superset test.
    var nameMask: UInt64 = 0
    /// Containers inside the payload, the payload itself included.
    var containers = 0
    /// Index of the token that `$` stands for: the envelope.
    package private(set) var root = 0

    /// Whether the payload is an object without containers in it.
    @inline(__always)
    var isFlatObject: Bool { containers == 1 && tape[JSONScanner.payload].kind == TokenKind.object }

    /// Where the payload's token is.
    package static let payload = 1

    /// Looks keys up among `names`. With `marksUnnamed`, other members that occur twice are told apart as well.
    /// With `payloadIsRoot`, no envelope is built around the payload.
    package init(
        names: consuming NameTable, limits: ScanLimits, marksUnnamed: Bool = false, buildsProperties: Bool = true,
        payloadIsRoot: Bool = false
    ) {
        slots = RawArray(repeating: 0, count: max(names.count, 1))
        self.names = names
        self.limits = limits
        self.marksUnnamed = marksUnnamed
        self.buildsProperties = buildsProperties
        self.payloadIsRoot = payloadIsRoot
        tape = RawArray(capacity: 256)
        stack = RawArray(capacity: limits.depth + 1)
    }

    /// The payload's last member of this name, or nil.
    @inline(__always)
    func slot(of name: UInt16) -> Int? {
        let slot = slots[Int(name)]
        return slot >> 32 == scanNumber ? Int(slot & 0xFFFF_FFFF) : nil
    }

    /// Scans the value that starts at or after `start`, and returns the offset behind it.
    ///
    /// `bytes` must be padded (``ByteView/padding``) and shorter than 4 GiB.
    ///
    /// - Throws: ``ScanFailure`` with the first place that is no JSON (RFC 8259), no UTF-8, or beyond a limit.
    package mutating func scan(_ bytes: ByteView, from start: Int) throws(ScanFailure) -> Int {
        begin()
        let end = if let end = scanFlat(bytes, from: start) { end } else { try scanValues(bytes, from: start) }
        finishEnvelope(end: end)
        if containers > 1 || marksUnnamed { shadows.mark(&tape, bytes, hasEscapedKeys: hasEscapedKeys) }
        return end
    }

    /// Notes that a template matched `token`.
    mutating func markMatched(_ token: Int) { tape[token].flags |= Token.matched }

    /// Whether a template matched any token of `range`.
    func isMatched(_ range: Range<Int>) -> Bool {
        range.contains { tape[$0].flags & Token.matched != 0 }
    }

    mutating func begin() {
        scanNumber &+= 1
        if scanNumber > JSONScanner.lastScanNumber { forgetSlots() }
        tape.removeAll()
        stack.removeAll()
        nameMask = 0
        containers = 0
        hasEscapedKeys = false
        tape.append(Token(kind: TokenKind.object, start: 0))
    }

    /// Slots have room for numbers of 32 bits: begins anew with them.
    @inline(never)
    private mutating func forgetSlots() {
        for name in 0..<slots.count { slots[name] = 0 }
        scanNumber = 1
    }

    /// Closes the envelope, or steps aside when the payload is an envelope itself.
    mutating func finishEnvelope(end: Int) {
        if payloadIsRoot || slot(of: NameTable.body) != nil && payloadIsEnvelope {
            root = JSONScanner.payload
            return
        }
        root = 0
        tape[JSONScanner.payload].name = NameTable.body
        if buildsProperties {
            appendEmptyObject(NameTable.properties, at: end)
            appendEmptyObject(NameTable.systemProperties, at: end)
        }
        tape[0].next = UInt32(tape.count)
        tape[0].length = UInt32(end)
        nameMask |= 0b111
    }

    private var payloadIsEnvelope: Bool {
        var index = JSONScanner.payload + 1
        let end = Int(tape[JSONScanner.payload].next)
        while index < end {
            if tape[index].name > NameTable.systemProperties { return false }
            index = Int(tape[index].next)
        }
        return true
    }

    private mutating func appendEmptyObject(_ name: UInt16, at offset: Int) {
        var token = Token(kind: TokenKind.object, name: name, start: UInt32(offset))
        token.next = UInt32(tape.count + 1)
        tape.append(token)
    }

    // MARK: The state machine

    /// The loop over values. One function, because every split of it costs a spill of its four locals per value.
    private mutating func scanValues(_ bytes: ByteView, from start: Int) throws(ScanFailure) -> Int {
        var index = start
        var key = Token(kind: 0, start: 0)
        var inObject = false
        while true {
            index = JSONScanner.skipSpace(bytes, index)
            guard index < bytes.count else { throw failure(.invalidJSON, index) }
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                let string = JSONStringScan.scan(bytes, from: index + 1)
                if string.failure != JSONStringScan.valid { throw failure(string) }
                key.kind = TokenKind.string
                key.flags = string.flags
                appendScalar(&key, start: index + 1, end: string.end)
                index = string.end + 1
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                try open(&key, byte, index)
                inObject = byte == UInt8(ascii: "{")
                index = JSONScanner.skipSpace(bytes, index + 1)
                let close = byte + 2
                guard index < bytes.count else { throw failure(.invalidJSON, index) }
                if bytes[index] != close {
                    if inObject {
                        try readKey(bytes, &index, &key)
                    } else {
                        key = Token(kind: 0, start: 0)
                    }
                    continue
                }
                // The empty container falls through to the loop below, which closes it.
            } else if byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10 {
                let end = JSONScanner.numberEnd(bytes, index)
                if end < 0 { throw failure(.invalidJSON, -end) }
                key.kind = TokenKind.number
                key.flags = 0
                appendScalar(&key, start: index, end: end)
                index = end
            } else {
                let end = try literal(bytes, index, &key)
                appendScalar(&key, start: index, end: end)
                index = end
            }
            guard try advance(bytes, &index, &key, &inObject) else { return index }
        }
    }

    /// After a value: closes containers, and reads the comma and the next key. False when the document is complete.
    @inline(__always)
    private mutating func advance(
        _ bytes: ByteView, _ index: inout Int, _ key: inout Token, _ inObject: inout Bool
    ) throws(ScanFailure) -> Bool {
        while stack.count > 0 {
            index = JSONScanner.skipSpace(bytes, index)
            guard index < bytes.count else { throw failure(.invalidJSON, index) }
            let byte = bytes[index]
            if byte == UInt8(ascii: ",") {
                index = JSONScanner.skipSpace(bytes, index + 1)
                guard tape.count < limits.values else { throw failure(.tooManyValues, index) }
                if inObject { try readKey(bytes, &index, &key) } else { key = Token(kind: 0, start: 0) }
                return true
            }
            guard byte == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { throw failure(.invalidJSON, index) }
            index += 1
            close(at: index)
            inObject = stack.count > 0 && tape[Int(stack[stack.count - 1])].kind == TokenKind.object
        }
        return false
    }

    /// Completes the innermost container, which ends before `index`.
    @inline(__always)
    private mutating func close(at index: Int) {
        guard let top = stack.popLast() else { return }
        let container = Int(top)
        tape[container].next = UInt32(truncatingIfNeeded: tape.count)
        tape[container].length = UInt32(truncatingIfNeeded: index) - tape[container].start
    }

    @inline(__always)
    private mutating func appendScalar(_ key: inout Token, start: Int, end: Int) {
        key.start = UInt32(truncatingIfNeeded: start)
        key.length = UInt32(truncatingIfNeeded: end - start)
        key.next = UInt32(truncatingIfNeeded: tape.count + 1)
        noteName(key.name)
        tape.append(key)
    }

    @inline(__always)
    private mutating func noteName(_ name: UInt16) {
        guard name != NameTable.unknown else { return }
        nameMask |= 1 << UInt64(name & 63)
        if stack.count == 1 {
            if let earlier = slot(of: name) { tape[earlier].flags |= Token.shadowed }
            slots[Int(name)] = scanNumber << 32 | UInt64(tape.count)
        }
    }

    private mutating func open(_ key: inout Token, _ byte: UInt8, _ index: Int) throws(ScanFailure) {
        guard stack.count < limits.depth else { throw failure(.tooDeep, index) }
        guard tape.count < limits.values else { throw failure(.tooManyValues, index) }
        key.kind = byte == UInt8(ascii: "{") ? TokenKind.object : TokenKind.array
        key.flags = 0
        key.start = UInt32(truncatingIfNeeded: index)
        noteName(key.name)
        stack.append(UInt32(truncatingIfNeeded: tape.count))
        tape.append(key)
        containers += 1
    }

    /// Reads `"name" :` into `key` and moves `index` behind the colon.
    @inline(__always)
    private mutating func readKey(_ bytes: ByteView, _ index: inout Int, _ key: inout Token) throws(ScanFailure) {
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { throw failure(.invalidJSON, index) }
        let start = index + 1
        let guessed = guesses.length(at: tape.count, bytes, start: start)
        key.keyStart = UInt32(truncatingIfNeeded: start)
        if guessed > 0 {
            key.keyLength = UInt32(truncatingIfNeeded: guessed)
            key.name = guesses.name(at: tape.count)
            index = start + guessed + 1
        } else {
            index = try readUnknownKey(bytes, start, &key)
        }
        index = JSONScanner.skipSpace(bytes, index)
        guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { throw failure(.invalidJSON, index) }
        index += 1
    }

    /// Validates the key at `start` and looks it up; returns the place behind its quote.
    @inline(never)
    private mutating func readUnknownKey(
        _ bytes: ByteView, _ start: Int, _ key: inout Token
    ) throws(ScanFailure) -> Int {
        let string = JSONStringScan.scan(bytes, from: start)
        if string.failure != JSONStringScan.valid { throw failure(string) }
        let length = string.end - start
        key.keyLength = UInt32(truncatingIfNeeded: length)
        if string.flags == 0 {
            key.name = names.find(bytes, start: start, length: length)
            guesses.learn(key.name, at: tape.count, bytes, start: start, length: length)
        } else {
            key.name = escapedName(bytes[start..<string.end])
        }
        return string.end + 1
    }

    private mutating func escapedName(_ key: ByteView) -> UInt16 {
        hasEscapedKeys = true
        keyText.removeAll()
        JSONUnescape.append(key, into: &keyText)
        keyText.reserve(ByteView.padding)
        return names.find(keyText.view, start: 0, length: keyText.count)
    }

    private func literal(_ bytes: ByteView, _ index: Int, _ key: inout Token) throws(ScanFailure) -> Int {
        let word = bytes.word(at: index)
        key.flags = 0
        var length = 4
        switch UInt32(truncatingIfNeeded: word) {
        case 0x6575_7274: key.kind = TokenKind.yes
        case 0x6C6C_756E: key.kind = TokenKind.null
        case 0x736C_6166 where UInt8(truncatingIfNeeded: word >> 32) == UInt8(ascii: "e"):
            key.kind = TokenKind.no
            length = 5
        default:
            let isText = bytes[index] < 0x80 || UTF8Sequence.length(bytes, at: index) > 0
            throw failure(isText ? .invalidJSON : .invalidUTF8, index)
        }
        // What is behind the end may complete the word.
        guard index + length <= bytes.count else { throw failure(.invalidJSON, index) }
        return index + length
    }

    // MARK: Lexical parts

    private func failure(_ reason: Rejection, _ index: Int) -> ScanFailure {
        ScanFailure(reason: reason, offset: index)
    }

    private func failure(_ string: JSONStringScan.Result) -> ScanFailure {
        ScanFailure(reason: Rejection(rawValue: string.failure) ?? .invalidJSON, offset: string.end)
    }

    /// The first byte at or after `index` that is not JSON white space.
    @inline(__always)
    package static func skipSpace(_ bytes: ByteView, _ index: Int) -> Int {
        var at = index
        while at < bytes.count {
            let byte = bytes[at]
            if byte > 0x20 || !(byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09) { return at }
            at += 1
        }
        return at
    }

    /// The end of the number at `start`, or minus the place of the error (RFC 8259 section 6).
    @inline(__always)
    static func numberEnd(_ bytes: ByteView, _ start: Int) -> Int {
        var index = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
        let first = index
        index = digits(bytes, index)
        let count = index - first
        if count == 0 || (count > 1 && bytes[first] == UInt8(ascii: "0")) { return -index }
        if index < bytes.count && bytes[index] == UInt8(ascii: ".") {
            let fraction = index + 1
            index = digits(bytes, fraction)
            if index == fraction { return -index }
        }
        if index < bytes.count && bytes[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < bytes.count && (bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-")) {
                index += 1
            }
            let power = index
            index = digits(bytes, power)
            if index == power { return -index }
        }
        return index
    }

    /// The first byte at or after `start` that is no digit, sixteen at a time.
    @inline(__always)
    static func digits(_ bytes: ByteView, _ start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let nonDigits = bytes.nonDigits(at: index)
            if nonDigits != 0 { return min(index &+ nonDigits.trailingZeroBitCount, bytes.count) }
            index &+= 16
        }
        return bytes.count
    }
}

extension JSONScanner {
    /// Token indices of the direct children of a container.
    package func children(of index: Int) -> [Int] {
        var children: [Int] = []
        var child = index + 1
        while child < Int(tape[index].next) {
            children.append(child)
            child = Int(tape[child].next)
        }
        return children
    }
}
