/// Marks members whose key occurs again later in their object: the last one wins, as in the reference reader.
///
/// Needed only for documents with nested containers; in a flat one the scanner's slots do it for the names that matter.
struct ShadowedMembers: ~Copyable {
    /// Objects with more members are deduplicated by hashing, because comparing all pairs would let one crafted line
    /// keep a core busy for a tenth of a second.
    private static let pairwiseLimit = 24

    private var table = RawArray<UInt32>(capacity: 64)
    private var unescaped = ByteWriter(capacity: 256)
    private var hasEscapedKeys = false

    /// Marks all shadowed members on `tape`, whose payload starts at ``JSONScanner/payload``.
    mutating func mark(_ tape: inout RawArray<Token>, _ bytes: ByteView, hasEscapedKeys: Bool) {
        self.hasEscapedKeys = hasEscapedKeys
        for index in JSONScanner.payload..<tape.count where tape[index].kind == TokenKind.object {
            if !hasEscapedKeys && !mayRepeat(tape, index, bytes) { continue }
            let members = memberCount(tape, index)
            if members <= ShadowedMembers.pairwiseLimit && !hasEscapedKeys {
                markPairwise(&tape, index, bytes)
            } else {
                markByHash(&tape, index, members, bytes)
            }
        }
    }

    /// Whether two members of an object may have the same key: false only where their numbers, or lengths and first
    /// bytes, differ. Saves comparing them in nearly all objects.
    private func mayRepeat(_ tape: borrowing RawArray<Token>, _ object: Int, _ bytes: ByteView) -> Bool {
        var (numbers, others): (UInt64, UInt64) = (0, 0)
        var child = object + 1
        let end = Int(tape[object].next)
        while child < end {
            let token = tape[child]
            if token.name != NameTable.unknown {
                let bit: UInt64 = 1 &<< UInt64(token.name)
                if numbers & bit != 0 { return true }
                numbers |= bit
            } else {
                // The byte behind the key is its quote at least.
                let bit: UInt64 = 1 &<< (UInt64(bytes[Int(token.keyStart)]) &+ UInt64(token.keyLength) &* 7)
                if others & bit != 0 { return true }
                others |= bit
            }
            child = Int(token.next)
        }
        return false
    }

    private func memberCount(_ tape: borrowing RawArray<Token>, _ object: Int) -> Int {
        var count = 0
        var child = object + 1
        let end = Int(tape[object].next)
        while child < end {
            count += 1
            child = Int(tape[child].next)
        }
        return count
    }

    /// Whether both have the same key; keys with escapes are compared as what they mean.
    private mutating func sameKey(_ left: Token, _ right: Token, _ bytes: ByteView) -> Bool {
        if left.name != NameTable.unknown || right.name != NameTable.unknown { return left.name == right.name }
        if !hasEscapedKeys {
            return left.keyLength == right.keyLength && bytes[left.keyRange].equals(bytes[right.keyRange])
        }
        unescaped.removeAll()
        JSONUnescape.append(bytes[left.keyRange], into: &unescaped)
        let middle = unescaped.count
        JSONUnescape.append(bytes[right.keyRange], into: &unescaped)
        return unescaped.view(0..<middle).equals(unescaped.view(middle..<unescaped.count))
    }

    private mutating func markPairwise(_ tape: inout RawArray<Token>, _ object: Int, _ bytes: ByteView) {
        let end = Int(tape[object].next)
        var child = object + 1
        while child < end {
            let next = Int(tape[child].next)
            var sibling = next
            while sibling < end {
                if sameKey(tape[child], tape[sibling], bytes) {
                    tape[child].flags |= Token.shadowed
                    break
                }
                sibling = Int(tape[sibling].next)
            }
            child = next
        }
    }

    /// Keeps the last member of each key in a table, and marks the one it replaces.
    private mutating func markByHash(_ tape: inout RawArray<Token>, _ object: Int, _ members: Int, _ bytes: ByteView) {
        var size = 64
        while size < members * 2 { size *= 2 }
        table.removeAll()
        table.grow(to: size, with: 0)
        let end = Int(tape[object].next)
        var child = object + 1
        while child < end {
            var slot = hash(tape[child], bytes) & (size - 1)
            while table[slot] != 0, !sameKey(tape[Int(table[slot])], tape[child], bytes) {
                slot = (slot + 1) & (size - 1)
            }
            if table[slot] != 0 { tape[Int(table[slot])].flags |= Token.shadowed }
            table[slot] = UInt32(child)
            child = Int(tape[child].next)
        }
    }

    /// FNV-1a of the key, or of its number when templates mention it.
    private mutating func hash(_ token: Token, _ bytes: ByteView) -> Int {
        if token.name != NameTable.unknown {
            return Int(truncatingIfNeeded: UInt64(token.name) &* 0x9E37_79B9_7F4A_7C15 >> 20)
        }
        guard hasEscapedKeys else { return ShadowedMembers.hash(bytes[token.keyRange]) }
        unescaped.removeAll()
        JSONUnescape.append(bytes[token.keyRange], into: &unescaped)
        return ShadowedMembers.hash(unescaped.view)
    }

    private static func hash(_ key: ByteView) -> Int {
        var mixed: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<key.count { mixed = (mixed ^ UInt64(key[index])) &* 0x0100_0000_01B3 }
        return Int(truncatingIfNeeded: mixed >> 20)
    }
}
