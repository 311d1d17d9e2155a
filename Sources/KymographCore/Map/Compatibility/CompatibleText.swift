/// Scalars as the reference system turns them into text (mapping dialect, sections 1.1 and 2.4; quirks 1 and 33).
enum CompatibleText {
    /// Appends a scalar; null appends nothing. True when the token is a container.
    ///
    /// `isTransport` says that the token comes from the envelope's Properties or SystemProperties, whose texts are not
    /// looked at for times.
    static func append(_ token: Token, _ bytes: ByteView, isTransport: Bool, to writer: inout ByteWriter) -> Bool {
        switch token.kind {
        case TokenKind.number: appendNumber(bytes[token.range], to: &writer)
        case TokenKind.string:
            let start = writer.count
            _ = token.appendText(bytes, to: &writer)
            if !isTransport || token.flags & Token.date != 0 { replaceTime(from: start, in: &writer) }
        default: return token.appendText(bytes, to: &writer)
        }
        return false
    }

    /// Integers keep their digits, however long; all else goes through a double.
    static func appendNumber(_ text: ByteView, to writer: inout ByteWriter) {
        if NumberText.isInteger(text) {
            let isMinusZero = text.count == 2 && text[0] == UInt8(ascii: "-") && text[1] == UInt8(ascii: "0")
            writer.append(isMinusZero ? text[1..<2] : text)
        } else {
            DoubleText.appendDotNet(NumberText.double(text), to: &writer)
        }
    }

    /// Rewrites what was written from `start` when it looks like a time: fraction and zone are lost (quirk 1).
    private static func replaceTime(from start: Int, in writer: inout ByteWriter) {
        writer.reserve(ByteView.padding)
        guard let time = CompatibleTime.sniffed(writer.view(start..<writer.count)) else { return }
        writer.truncate(to: start)
        let clock = CivilTime(time.instant, offsetMinutes: 0)
        writer.appendTwo(clock.month)
        writer.append("/")
        writer.appendTwo(clock.day)
        writer.append("/")
        writer.appendTwo(clock.year / 100)
        writer.appendTwo(clock.year % 100)
        writer.append(" ")
        writer.appendTwo(clock.hour)
        writer.append(":")
        writer.appendTwo(clock.minute)
        writer.append(":")
        writer.appendTwo(clock.second)
    }
}
