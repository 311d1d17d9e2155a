/// Strings, and values as JSON.
extension JMESPathEvaluator {
    /// The text of a string without escapes, padded; valid until the next call with the same `second`, and until text
    /// is made.
    mutating func plainText(_ handle: Int, second: Bool) -> ByteView {
        let view = content(handle)
        guard token(of: handle).flags & Token.escaped != 0 else { return view }
        if second {
            right.removeAll()
            JSONUnescape.append(view, into: &right)
            right.reserve(ByteView.padding)
            return right.view
        }
        left.removeAll()
        JSONUnescape.append(view, into: &left)
        // Room is made before the view is: growing moves the bytes.
        left.reserve(ByteView.padding)
        return left.view
    }

    /// Adds the text of a string to the own text.
    mutating func appendPlain(_ handle: Int) throws(EvaluationError) {
        let token = token(of: handle)
        try allowText(Int(token.length))
        try count(1 + Int(token.length) >> 6)
        if token.flags & Token.escaped != 0 {
            text.append(plainText(handle, second: false))
        } else {
            appendBytes(token.range, of: handle)
        }
    }

    /// Adds bytes of a scalar as they are.
    mutating func appendBytes(_ range: Range<Int>, of handle: Int) {
        if handle < JMESPathEvaluator.ownBase { text.append(bytes[range]) } else { text.appendCopy(of: range) }
    }

    /// Adds a member's key to the own text.
    mutating func appendKey(_ place: Int) throws(EvaluationError) {
        let key = keyBytes(of: place)
        try allowText(key.count)
        left.removeAll()
        hasEscapedKey(place) ? JSONUnescape.append(key, into: &left) : left.append(key)
        text.append(left.view)
    }

    // MARK: JSON

    /// Adds a value as compact JSON. Numbers that JSON does not have, such as Infinity, become strings, as the
    /// reference system writes them.
    mutating func writeJSON(_ handle: Int, depth: Int = 0) throws(EvaluationError) {
        try count(1)
        try allowDepth(depth)
        let token = token(of: handle)
        try allowText(Int(token.isContainer ? 2 : token.length))
        switch token.kind {
        case TokenKind.object, TokenKind.array: try writeContainer(handle, token.kind, depth: depth)
        case TokenKind.string: writeString(handle)
        case TokenKind.number:
            if NumberText.isFinite(content(handle)) {
                appendBytes(token.range, of: handle)
            } else {
                writeString(handle)
            }
        case TokenKind.yes: text.append("true")
        case TokenKind.no: text.append("false")
        default: text.append("null")
        }
    }

    private mutating func writeString(_ handle: Int) {
        left.removeAll()
        let view = content(handle)
        token(of: handle).flags & Token.escaped != 0 ? JSONUnescape.append(view, into: &left) : left.append(view)
        writeQuotedLeft()
    }

    private mutating func writeQuotedLeft() {
        left.reserve(ByteView.padding)
        text.append(UInt8(ascii: "\""))
        text.appendJSON(left.view)
        text.append(UInt8(ascii: "\""))
    }

    private mutating func writeContainer(_ handle: Int, _ kind: UInt8, depth: Int) throws(EvaluationError) {
        text.append(kind == TokenKind.object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        var cursor = children(of: handle)
        var isFirst = true
        while case let place = next(&cursor), place >= 0 {
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            if kind == TokenKind.object { try writeKey(place) }
            try writeJSON(resolved(place), depth: depth + 1)
        }
        text.append(kind == TokenKind.object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    private mutating func writeKey(_ place: Int) throws(EvaluationError) {
        let key = keyBytes(of: place)
        try allowText(key.count)
        left.removeAll()
        hasEscapedKey(place) ? JSONUnescape.append(key, into: &left) : left.append(key)
        writeQuotedLeft()
        text.append(UInt8(ascii: ":"))
    }
}
