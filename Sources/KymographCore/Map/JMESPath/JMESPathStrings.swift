/// Functions on strings.
enum JMESPathStrings {
    static func ends(_ subject: Int, with wanted: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let text = values.plainText(subject, second: false)
        let end = values.plainText(wanted, second: true)
        try values.count(end.count >> 6)
        guard end.count <= text.count else { return values.flag(false) }
        return values.flag(text[text.count - end.count..<text.count].equals(end))
    }

    static func starts(_ subject: Int, with wanted: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int
    {
        let text = values.plainText(subject, second: false)
        let start = values.plainText(wanted, second: true)
        try values.count(start.count >> 6)
        guard start.count <= text.count else { return values.flag(false) }
        return values.flag(text[0..<start.count].equals(start))
    }

    /// Whether a text occurs in another.
    static func isText(_ wanted: Int, in subject: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Bool {
        let text = values.plainText(subject, second: false)
        let part = values.plainText(wanted, second: true)
        guard part.count > 0 else { return true }
        var start = 0
        while start + part.count <= text.count {
            if text[start] == part[0] {
                var same = 1
                while same < part.count, text[start + same] == part[same] { same += 1 }
                if same == part.count { return true }
                // What makes this slow is texts that repeat themselves.
                try values.count(1 + same >> 3)
            }
            start += 1
        }
        try values.count(text.count >> 6)
        return false
    }

    static func joined(_ glue: Int, _ array: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let start = values.text.count
        var cursor = values.children(of: array)
        var isFirst = true
        while case let place = values.next(&cursor), place >= 0 {
            if !isFirst { try values.appendPlain(glue) }
            isFirst = false
            try values.appendPlain(values.resolved(place))
        }
        return try values.make(TokenKind.string, from: start)
    }

    /// The text with its characters (code points) in reverse order.
    static func reversedText(_ argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        let source = values.plainText(argument, second: false)
        try values.allowText(source.count)
        try values.count(source.count >> 6)
        // Making text invalidates views of it.
        values.right.removeAll()
        var end = source.count
        while end > 0 {
            var start = end - 1
            while start > 0, source[start] & 0xC0 == 0x80 { start -= 1 }
            values.right.append(source[start..<end])
            end = start
        }
        let start = values.text.count
        values.text.append(values.right.view)
        return try values.make(TokenKind.string, from: start)
    }

    /// The text with another put in at a position in UTF-16 units.
    static func inserted(_ first: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        guard let position = NumberText.integer(values.content(values.stack[first + 2])) else {
            throw values.failure(.outOfRange, argument: 2)
        }
        let source = values.plainText(values.stack[first], second: true)
        let place = try offset(ofUnit: position, in: source, values)
        try values.allowText(source.count)
        values.left.removeAll()
        values.left.append(source)
        let copy = values.left.view
        let start = values.text.count
        values.text.append(copy[0..<place])
        let rest = copy[place..<copy.count]
        // Reading the second text may use the same memory again.
        values.right.removeAll()
        values.right.append(rest)
        let inserted = values.stack[first + 1]
        if values.token(of: inserted).flags & Token.escaped != 0 {
            try values.appendPlain(inserted)
        } else {
            try values.allowText(Int(values.token(of: inserted).length))
            values.appendBytes(values.token(of: inserted).range, of: inserted)
        }
        values.text.append(values.right.view)
        return try values.make(TokenKind.string, from: start)
    }

    /// The byte where UTF-16 unit `position` begins; its end counts as well.
    private static func offset(
        ofUnit position: Int64, in source: ByteView, _ values: borrowing JMESPathValues
    ) throws(EvaluationError) -> Int {
        var unit: Int64 = 0
        var index = 0
        while index < source.count, unit < position {
            let lead = source[index]
            unit += lead >= 0xF0 ? 2 : 1
            index += lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1
        }
        // A position between the halves of a character would tear it apart.
        guard unit == position else { throw values.failure(.outOfRange, argument: 2) }
        return min(index, source.count)
    }

    /// A string as it is, anything else as JSON.
    static func string(from argument: Int, _ values: inout JMESPathValues) throws(EvaluationError) -> Int {
        if values.kind(of: argument) == TokenKind.string { return argument }
        let start = values.text.count
        if values.kind(of: argument) == TokenKind.number {
            values.appendBytes(values.token(of: argument).range, of: argument)
        } else {
            try JMESPathJSON.write(argument, &values)
        }
        return try values.make(TokenKind.string, from: start)
    }
}
