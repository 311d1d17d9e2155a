extension String {
    /// Whether this is `other` but for the case of its letters. Two names of ASCII, as nearly all are, cost no memory.
    func isCaseVariant(of other: String) -> Bool {
        let mine = utf8.span
        let theirs = other.utf8.span
        for index in 0..<min(mine.count, theirs.count) {
            let (left, right) = (mine[index], theirs[index])
            guard left | right < 0x80 else { return lowercased() == other.lowercased() }
            if left != right && String.lowered(left) != String.lowered(right) { return false }
        }
        return mine.count == theirs.count
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
