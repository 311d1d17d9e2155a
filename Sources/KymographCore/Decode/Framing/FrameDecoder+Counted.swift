/// Framings that say how long the next frame is.
extension FrameDecoder {
    /// What is known of the length of a frame.
    private enum Size {
        case more(Int)
        case whole(Int)
        case wrong(Rejection)
    }

    /// Bytes that a length which is too large is shown with.
    private static let shownBytes = 64

    mutating func nextCounted(_ piece: ByteView, from position: inout Int) -> FrameEvent? {
        while position < piece.count {
            let rest = piece[position..<piece.count]
            if unfinished.count == 0 {
                switch size(rest) {
                case .whole(let total) where total <= rest.count:
                    position += total
                    if let event = payload(rest[0..<total]) { return event }
                    continue
                case .wrong(let reason):
                    position = piece.count
                    return .broken(reason, rest[0..<min(rest.count, FrameDecoder.shownBytes)])
                case .more, .whole: break
                }
            }
            if let event = gather(piece, from: &position) { return event }
        }
        return nil
    }

    /// Adds to the unfinished frame as much of `piece` as it is known to need, and hands it on when it is complete.
    private mutating func gather(_ piece: ByteView, from position: inout Int) -> FrameEvent? {
        let taken = min(missing, piece.count - position)
        unfinished.append(piece[position..<(position + taken)])
        position += taken
        switch size(unfinished.view) {
        case .wrong(let reason):
            isSpent = true
            position = piece.count
            return .broken(reason, beginning(padded()))
        case .whole(let total) where total == unfinished.count:
            isSpent = true
            if let event = payload(padded()) { return event }
            forgetSpent()
        case .more, .whole: break
        }
        return nil
    }

    /// Bytes that the unfinished frame is known to need, at least one.
    private var missing: Int {
        switch size(unfinished.view) {
        case .more(let count): count
        case .whole(let total): total - unfinished.count
        case .wrong: 1
        }
    }

    /// The length of the frame that begins with `bytes`.
    private func size(_ bytes: ByteView) -> Size {
        guard case .length(let field) = framing.borders else { return .whole(fixedBytes) }
        switch field.read(bytes) {
        case .more(let count): return .more(count)
        case .none: return .wrong(.frameMalformed)
        case .lengths(let head, let rest):
            guard rest >= 0 else { return .wrong(.frameMalformed) }
            let content = field.keepsHead ? head + rest : rest
            return content <= cap + framing.check.width ? .whole(head + rest) : .wrong(.frameTooLong)
        }
    }

    private var fixedBytes: Int {
        if case .fixed(let count) = framing.borders { count + framing.check.width } else { 0 }
    }
}
