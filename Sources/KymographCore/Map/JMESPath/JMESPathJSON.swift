/// Values as JSON.
enum JMESPathJSON {
    /// Adds a value as compact JSON. Numbers that JSON does not have, such as Infinity, become strings, as the
    /// reference system writes them.
    static func write(_ handle: Int, depth: Int = 0, _ values: inout JMESPathValues) throws(EvaluationError) {
        try values.count(1)
        try values.allowDepth(depth)
        let token = values.token(of: handle)
        try values.allowText(Int(token.isContainer ? 2 : token.length))
        switch token.kind {
        case TokenKind.object, TokenKind.array: try writeContainer(handle, token.kind, depth: depth, &values)
        case TokenKind.string: writeString(handle, &values)
        case TokenKind.number:
            if NumberText.isFinite(values.content(handle)) {
                values.appendBytes(token.range, of: handle)
            } else {
                writeString(handle, &values)
            }
        case TokenKind.yes: values.text.append("true")
        case TokenKind.no: values.text.append("false")
        default: values.text.append("null")
        }
    }

    private static func writeString(_ handle: Int, _ values: inout JMESPathValues) {
        values.left.removeAll()
        let view = values.content(handle)
        values.token(of: handle).flags & Token.escaped != 0
            ? JSONUnescape.append(view, into: &values.left) : values.left.append(view)
        writeQuotedLeft(&values)
    }

    private static func writeQuotedLeft(_ values: inout JMESPathValues) {
        values.left.reserve(ByteView.padding)
        values.text.append(UInt8(ascii: "\""))
        values.text.appendJSON(values.left.view)
        values.text.append(UInt8(ascii: "\""))
    }

    private static func writeContainer(_ handle: Int, _ kind: UInt8, depth: Int, _ values: inout JMESPathValues)
        throws(EvaluationError)
    {
        values.text.append(kind == TokenKind.object ? UInt8(ascii: "{") : UInt8(ascii: "["))
        var cursor = values.children(of: handle)
        var isFirst = true
        while case let place = values.next(&cursor), place >= 0 {
            if !isFirst { values.text.append(UInt8(ascii: ",")) }
            isFirst = false
            if kind == TokenKind.object { try writeKey(place, &values) }
            try write(values.resolved(place), depth: depth + 1, &values)
        }
        values.text.append(kind == TokenKind.object ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    private static func writeKey(_ place: Int, _ values: inout JMESPathValues) throws(EvaluationError) {
        let key = values.keyBytes(of: place)
        try values.allowText(key.count)
        values.left.removeAll()
        values.hasEscapedKey(place) ? JSONUnescape.append(key, into: &values.left) : values.left.append(key)
        writeQuotedLeft(&values)
        values.text.append(UInt8(ascii: ":"))
    }
}
