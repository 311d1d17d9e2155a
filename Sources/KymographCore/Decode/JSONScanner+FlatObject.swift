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
        guard flatFailures < JSONScanner.patience || scanNumber & 63 == 0, limits.values > MemberGuesses.places else {
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
        var place = tape.count
        while place < MemberGuesses.places {
            var guess = members[place]
            if !guess.matches(bytes, at: index) {
                if bytes[index] == UInt8(ascii: "}"), index > start {
                    nameMask = mask
                    return index &+ 1
                }
                guard members.swap(at: place, bytes, index) || learn(bytes, index, place) else {
                    return JSONScanner.gaveUp
                }
                guess = members[place]
            }
            let value = index &+ Int(guess.length)
            guard value < bytes.count else { return JSONScanner.gaveUp }
            let isText = bytes[value] == UInt8(ascii: "\"")
            let end =
                isText
                ? PlainValue.textEnd(bytes, value &+ 1) : PlainValue.numberEnd(bytes, value)
            guard end > 0, note(guess.name, place, &mask) else { return JSONScanner.gaveUp }
            let first = isText ? value &+ 1 : value
            var token = Token(kind: isText ? TokenKind.string : TokenKind.number, name: guess.name, start: 0)
            token.start = UInt32(truncatingIfNeeded: first)
            token.length = UInt32(truncatingIfNeeded: end &- first)
            token.next = UInt32(truncatingIfNeeded: place &+ 1)
            token.keyStart = UInt32(truncatingIfNeeded: index &+ Int(guess.keyOffset))
            token.keyLength = guess.keyLength
            tape.appendReserved(token)
            index = isText ? end &+ 1 : end
            place &+= 1
        }
        return JSONScanner.gaveUp
    }

    /// Checks what leads to a value and is none of the guesses, and remembers it; false when it is not for this path.
    @inline(never)
    private mutating func learn(_ bytes: ByteView, _ start: Int, _ place: Int) -> Bool {
        var index = start
        if place > JSONScanner.payload + 1 {
            guard bytes[index] == UInt8(ascii: ",") else { return false }
            index = JSONScanner.afterBlank(bytes, index + 1)
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return false }
        let string = JSONStringScan.scan(bytes, from: index + 1)
        guard string.failure == JSONStringScan.valid, string.flags == 0, string.end > index + 1 else { return false }
        let key = index + 1..<string.end
        guard string.end + 1 < bytes.count, bytes[string.end + 1] == UInt8(ascii: ":") else { return false }
        let end = JSONScanner.afterBlank(bytes, string.end + 2)
        guard end - start <= MemberGuesses.longest else { return false }
        let name = names.find(bytes, start: key.lowerBound, length: key.count)
        if name == NameTable.unknown, marksUnnamed { return false }
        members.learn(bytes, at: start, length: end - start, key: key, name: name, place: place)
        return true
    }

    @inline(__always)
    private static func afterBlank(_ bytes: ByteView, _ index: Int) -> Int {
        bytes[index] == UInt8(ascii: " ") ? index + 1 : index
    }

    /// Notes where a name is; false when the object has it twice.
    @inline(__always)
    private mutating func note(_ name: UInt16, _ place: Int, _ mask: inout UInt64) -> Bool {
        guard name != NameTable.unknown else { return true }
        let number = Int(name)
        guard slots[number] >> 32 != scanNumber else { return false }
        mask |= 1 &<< UInt64(name & 63)
        slots[number] = scanNumber &<< 32 | UInt64(truncatingIfNeeded: place)
        return true
    }
}
