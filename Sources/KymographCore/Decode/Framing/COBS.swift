/// Consistent Overhead Byte Stuffing (Cheshire and Baker, 1999).
enum COBS {
    /// Appends what `raw`, a frame without the zero after it, stands for. False when a code points past the end.
    static func decode(_ raw: ByteView, into output: inout ByteWriter) -> Bool {
        var index = 0
        while index < raw.count {
            let code = Int(raw[index])
            guard code > 0, index + code <= raw.count else { return false }
            output.append(raw[(index + 1)..<(index + code)])
            index += code
            // A full block, and the last one, stand for no zero.
            if code < 0xFF, index < raw.count { output.append(0) }
        }
        return true
    }
}
