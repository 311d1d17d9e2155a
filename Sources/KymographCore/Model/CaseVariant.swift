extension String {
    /// Whether this is `other` but for the case of its letters. Two names of ASCII, as nearly all are, cost no memory.
    func isCaseVariant(of other: String) -> Bool {
        var theirs = other.utf8.makeIterator()
        for byte in utf8 {
            guard byte < 0x80 else { return lowercased() == other.lowercased() }
            guard let their = theirs.next() else { return false }
            guard their < 0x80 else { return lowercased() == other.lowercased() }
            if byte != their && String.lowered(byte) != String.lowered(their) { return false }
        }
        return theirs.next() == nil
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
