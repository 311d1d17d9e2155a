/// Framings whose borders are bytes that payloads do not hold.
extension FrameDecoder {
    /// `delimiter` is `width` bytes, the last one lowest.
    mutating func nextDelimited(
        _ piece: ByteView, from position: inout Int, delimiter: UInt64, width: Int
    ) -> FrameEvent? {
        let last = UInt8(truncatingIfNeeded: delimiter)
        var unsearched = position
        while let found = piece.firstIndex(of: last, from: unsearched) {
            unsearched = found + 1
            let part = piece[position..<unsearched]
            guard width == 1 || isBorder(part, delimiter, width) else { continue }
            position = unsearched
            if let event = complete(part, width: width) { return event }
        }
        guard position < piece.count else { return nil }
        let rest = piece[position..<piece.count]
        position = piece.count
        return keep(rest, width: width)
    }

    /// Whether what came before and `part` end with the delimiter.
    private func isBorder(_ part: ByteView, _ delimiter: UInt64, _ width: Int) -> Bool {
        for back in 0..<width {
            guard let byte = byte(back, beforeEndOf: part) else { return false }
            if byte != UInt8(truncatingIfNeeded: delimiter >> (8 * UInt64(back))) { return false }
        }
        return true
    }

    /// The byte `back` places before the last one of what came before and `part`.
    private func byte(_ back: Int, beforeEndOf part: ByteView) -> UInt8? {
        if back < part.count { return part[part.count - 1 - back] }
        let before = back - part.count
        if isSkipping { return before < 8 ? UInt8(truncatingIfNeeded: skipped >> (8 * UInt64(before))) : nil }
        return before < unfinished.count ? unfinished[unfinished.count - 1 - before] : nil
    }

    /// A frame ends with `part`, whose last `width` bytes are the delimiter.
    private mutating func complete(_ part: ByteView, width: Int) -> FrameEvent? {
        if isSkipping {
            isSkipping = false
            return nil
        }
        if unfinished.count == 0 { return payload(part[0..<(part.count - width)]) }
        isSpent = true
        let total = unfinished.count + part.count - width
        if total > longestRaw { return tooLong(part) }
        unfinished.append(part)
        unfinished.truncate(to: total)
        if let event = payload(padded()) { return event }
        forgetSpent()
        return nil
    }

    /// Keeps `rest` until its border comes, unless it is too long already.
    private mutating func keep(_ rest: ByteView, width: Int) -> FrameEvent? {
        if isSkipping {
            skip(rest)
            return nil
        }
        guard unfinished.count + rest.count > longestRaw + width - 1 else {
            unfinished.append(rest)
            return nil
        }
        let before = unfinished.count
        for back in stride(from: min(8, before) - 1, through: 0, by: -1) {
            skipped = skipped << 8 | UInt64(unfinished[before - 1 - back])
        }
        skip(rest)
        isSkipping = true
        isSpent = before > 0
        return tooLong(rest)
    }

    private mutating func skip(_ rest: ByteView) {
        for index in max(0, rest.count - 8)..<rest.count { skipped = skipped << 8 | UInt64(rest[index]) }
    }

    /// Rejects what is unfinished and `part`.
    private mutating func tooLong(_ part: ByteView) -> FrameEvent {
        guard unfinished.count > 0 else { return .rejected(.frameTooLong, beginning(part)) }
        if unfinished.count < cap { unfinished.append(part[0..<min(part.count, cap - unfinished.count)]) }
        return .rejected(.frameTooLong, beginning(padded()))
    }
}
