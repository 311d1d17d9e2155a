/// The byte stuffing of SLIP (RFC 1055).
enum SLIP {
    static let end: UInt8 = 0xC0
    static let escape: UInt8 = 0xDB
    static let escapedEnd: UInt8 = 0xDC
    static let escapedEscape: UInt8 = 0xDD

    /// Appends what `raw`, a frame without its ends, stands for. False when an escape is followed by anything but the
    /// two bytes that may follow it.
    static func decode(_ raw: ByteView, into output: inout ByteWriter) -> Bool {
        var start = 0
        while let found = raw.firstIndex(of: escape, from: start) {
            output.append(raw[start..<found])
            guard found + 1 < raw.count else { return false }
            switch raw[found + 1] {
            case escapedEnd: output.append(end)
            case escapedEscape: output.append(escape)
            default: return false
            }
            start = found + 2
        }
        output.append(raw[start..<raw.count])
        return true
    }
}
