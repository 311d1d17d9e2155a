/// What is within the borders.
extension FrameDecoder {
    /// The payload of `raw`, a frame without its delimiter; nil when it is empty.
    mutating func payload(_ raw: ByteView) -> FrameEvent? {
        switch framing.borders {
        case .delimiter, .fixed: checked(raw, raw)
        case .length(let field): checked(field.keepsHead ? raw : withoutHead(raw, field), raw)
        case .slip: unstuff(raw, SLIP.decode)
        case .cobs: unstuff(raw, COBS.decode)
        }
    }

    private func withoutHead(_ raw: ByteView, _ field: LengthField) -> ByteView {
        guard case .lengths(let head, _) = field.read(raw) else { return raw }
        return raw[head..<raw.count]
    }

    private mutating func unstuff(
        _ raw: ByteView, _ decode: (ByteView, inout ByteWriter) -> Bool
    ) -> FrameEvent? {
        guard raw.count <= longestRaw else { return .rejected(.frameTooLong, beginning(raw)) }
        unstuffed.removeAll()
        guard decode(raw, &unstuffed) else { return .rejected(.frameMalformed, beginning(raw)) }
        unstuffed.reserve(ByteView.padding)
        return checked(unstuffed.view, raw)
    }

    /// `content` without its checksum, if that is right; `raw` is what was received.
    private func checked(_ content: ByteView, _ raw: ByteView) -> FrameEvent? {
        if content.count == 0 { return framing.keepsEmpty ? .frame(content) : nil }
        let count = content.count - framing.check.width
        guard count >= 0 else { return .rejected(.frameMalformed, beginning(raw)) }
        guard count <= cap else { return .rejected(.frameTooLong, beginning(raw)) }
        if framing.check != .none, !checksum.isRight(content, isBigEndian: framing.isCheckBigEndian) {
            return .rejected(.frameChecksum, beginning(raw))
        }
        return count > 0 ? .frame(content[0..<count]) : nil
    }
}
