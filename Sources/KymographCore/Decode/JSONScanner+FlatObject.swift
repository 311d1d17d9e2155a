/// The short path for what devices mostly send: one object of texts and plain numbers, mostly with the keys of the
/// document before, in the same order.
///
/// Everything else — nesting, escapes, non-ASCII, other white space than one blank, signs, exponents, literals, long or
/// repeated keys — makes it give up, and the general scan starts over. It accepts nothing that the general scan
/// refuses.
extension JSONScanner {
    /// Says that the short path gave up.
    private static let gaveUp = -1
    /// Failures in a row after which the short path is tried only now and then.
    private static let patience = 8

    /// Scans a flat object at `start` and returns the offset behind it, or nil when it is none that this can do.
    mutating func scanFlat(_ bytes: ByteView, from start: Int) -> Int? {
        guard flatFailures < JSONScanner.patience || scanNumber & 63 == 0, limits.values > KeyGuesses.places else {
            return nil
        }
        guard start < bytes.count, bytes[start] == UInt8(ascii: "{") else { return nil }
        var payload = Token(kind: TokenKind.object, start: UInt32(truncatingIfNeeded: start))
        tape.append(payload)
        let end = scanMembers(bytes, from: start + 1)
        guard end > 0 && end <= bytes.count else {
            flatFailures += 1
            begin()
            return nil
        }
        flatFailures = 0
        containers = 1
        payload.next = UInt32(truncatingIfNeeded: tape.count)
        payload.length = UInt32(truncatingIfNeeded: end - start)
        tape[JSONScanner.payload] = payload
        return end
    }

    /// Scans `"key":value` after `"key":value` up to the closing brace.
    ///
    /// Bytes behind the end of the document may be read, but a result that depends on them is refused by the caller:
    /// the place only ever moves forward, and must end within the document.
    private mutating func scanMembers(_ bytes: ByteView, from start: Int) -> Int {
        var index = start
        var mask: UInt64 = 0
        while index < bytes.count {
            let place = tape.count
            guard bytes[index] == UInt8(ascii: "\"") else { return JSONScanner.gaveUp }
            var length = guesses.length(at: place, bytes, start: index + 1)
            if length == 0 { length = learnKey(bytes, index + 1) }
            guard length > 0 else { return JSONScanner.gaveUp }
            var token = Token(kind: TokenKind.string, start: 0)
            token.name = guesses.name(at: place)
            token.keyStart = UInt32(truncatingIfNeeded: index + 1)
            token.keyLength = UInt32(truncatingIfNeeded: length)
            index += length + 2
            guard bytes[index] == UInt8(ascii: ":") else { return JSONScanner.gaveUp }
            index = JSONScanner.afterBlank(bytes, index + 1)
            index = JSONScanner.flatValue(bytes, index, &token)
            guard index > 0, note(token.name, &mask) else { return JSONScanner.gaveUp }
            token.next = UInt32(truncatingIfNeeded: place + 1)
            tape.append(token)
            if bytes[index] == UInt8(ascii: "}") {
                nameMask = mask
                return index + 1
            }
            guard bytes[index] == UInt8(ascii: ",") else { return JSONScanner.gaveUp }
            index = JSONScanner.afterBlank(bytes, index + 1)
        }
        return JSONScanner.gaveUp
    }

    /// The length of a key that is not the one guessed, which becomes the next guess; 0 when it is not for this path.
    @inline(never)
    private mutating func learnKey(_ bytes: ByteView, _ start: Int) -> Int {
        let string = JSONStringScan.scan(bytes, from: start)
        let length = string.end - start
        guard string.failure == JSONStringScan.valid, string.flags == 0 else { return 0 }
        let name = names.find(bytes, start: start, length: length)
        return guesses.learn(name, at: tape.count, bytes, start: start, length: length) ? length : 0
    }

    @inline(__always)
    private static func afterBlank(_ bytes: ByteView, _ index: Int) -> Int {
        bytes[index] == UInt8(ascii: " ") ? index + 1 : index
    }

    /// Notes where a name is; false when the object has it twice.
    @inline(__always)
    private mutating func note(_ name: UInt16, _ mask: inout UInt64) -> Bool {
        guard name != NameTable.unknown else { return !marksUnnamed }
        guard slots[Int(name)] >> 32 != scanNumber else { return false }
        mask |= 1 << UInt64(name & 63)
        slots[Int(name)] = scanNumber << 32 | UInt64(tape.count)
        return true
    }

    /// Completes `token` with the value at `index` and returns the place behind it.
    @inline(__always)
    private static func flatValue(_ bytes: ByteView, _ index: Int, _ token: inout Token) -> Int {
        if bytes[index] == UInt8(ascii: "\"") {
            let end = plainTextEnd(bytes, index + 1)
            token.start = UInt32(truncatingIfNeeded: index + 1)
            token.length = UInt32(truncatingIfNeeded: end - index - 1)
            return end < 0 ? gaveUp : end + 1
        }
        let end = plainNumberEnd(bytes, index)
        token.kind = TokenKind.number
        token.start = UInt32(truncatingIfNeeded: index)
        token.length = UInt32(truncatingIfNeeded: end - index)
        return end
    }

    /// The closing quote of a text without escapes, control characters and non-ASCII.
    @inline(__always)
    private static func plainTextEnd(_ bytes: ByteView, _ start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let special = JSONStringScan.firstSpecial(bytes, index)
            if special < 8 { return bytes[index + special] == UInt8(ascii: "\"") ? index + special : gaveUp }
            index += 8
        }
        return gaveUp
    }

    /// The end of a number of digits with or without fraction, without leading zero.
    @inline(__always)
    private static func plainNumberEnd(_ bytes: ByteView, _ start: Int) -> Int {
        guard start < bytes.count else { return gaveUp }
        var index = digits(bytes, start)
        let isZeroPadded = bytes[start] == UInt8(ascii: "0") && index > start + 1
        if index == start || isZeroPadded { return gaveUp }
        if bytes[index] == UInt8(ascii: ".") {
            let fraction = index + 1
            index = digits(bytes, fraction)
            if index == fraction { return gaveUp }
        }
        return index
    }
}
