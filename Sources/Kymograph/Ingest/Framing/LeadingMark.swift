/// A byte order mark at the beginning of a stream, which comes in any pieces (Unicode, section 23.8).
struct LeadingMark {
    private static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]
    private var passed = 0

    /// Whether `byte`, the next one of the stream, belongs to the mark and is passed over.
    mutating func takes(_ byte: UInt8) -> Bool {
        guard passed < LeadingMark.bytes.count else { return false }
        guard byte == LeadingMark.bytes[passed] else {
            passed = LeadingMark.bytes.count
            return false
        }
        passed += 1
        return true
    }
}
