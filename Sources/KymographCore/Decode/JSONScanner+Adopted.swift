/// Objects that need not be scanned.
extension JSONScanner {
    /// Takes an object that somebody has written and knows the tokens of, instead of scanning its text: `members` are
    /// scalars, each with the number of its name, no two with one name.
    mutating func adopt(_ members: ElementList<Token>, of bytes: ByteView) {
        begin()
        var payload = Token(kind: TokenKind.object, start: 0)
        payload.next = UInt32(truncatingIfNeeded: JSONScanner.payload + 1 + members.count)
        payload.length = UInt32(truncatingIfNeeded: bytes.count)
        tape.append(payload)
        containers = 1
        for index in 0..<members.count {
            var token = members[index]
            let place = tape.count
            token.next = UInt32(truncatingIfNeeded: place + 1)
            if token.name != NameTable.unknown {
                nameMask |= 1 << UInt64(token.name & 63)
                slots[Int(token.name)] = scanNumber << 32 | UInt64(place)
            }
            tape.append(token)
        }
        finishEnvelope(end: bytes.count)
    }
}
