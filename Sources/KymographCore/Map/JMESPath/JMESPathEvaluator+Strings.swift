/// Functions on strings.
extension JMESPathEvaluator {
    mutating func ends(_ subject: Int, with wanted: Int) throws(EvaluationError) -> Int {
        let text = plainText(subject, second: false)
        let end = plainText(wanted, second: true)
        try count(end.count >> 6)
        guard end.count <= text.count else { return flag(false) }
        return flag(text[text.count - end.count..<text.count].equals(end))
    }

    mutating func starts(_ subject: Int, with wanted: Int) throws(EvaluationError) -> Int {
        let text = plainText(subject, second: false)
        let start = plainText(wanted, second: true)
        try count(start.count >> 6)
        guard start.count <= text.count else { return flag(false) }
        return flag(text[0..<start.count].equals(start))
    }

    /// Whether a text occurs in another.
    mutating func isText(_ wanted: Int, in subject: Int) throws(EvaluationError) -> Bool {
        let text = plainText(subject, second: false)
        let part = plainText(wanted, second: true)
        guard part.count > 0 else { return true }
        var start = 0
        while start + part.count <= text.count {
            if text[start] == part[0] {
                var same = 1
                while same < part.count, text[start + same] == part[same] { same += 1 }
                if same == part.count { return true }
                // What makes this slow is texts that repeat themselves.
                try count(1 + same >> 3)
            }
            start += 1
        }
        try count(text.count >> 6)
        return false
    }

    mutating func joined(_ glue: Int, _ array: Int) throws(EvaluationError) -> Int {
        let start = text.count
        var cursor = children(of: array)
        var isFirst = true
        while case let place = next(&cursor), place >= 0 {
            if !isFirst { try appendPlain(glue) }
            isFirst = false
            try appendPlain(resolved(place))
        }
        return try make(TokenKind.string, from: start)
    }

    /// The text with its characters (code points) in reverse order.
    mutating func reversedText(_ argument: Int) throws(EvaluationError) -> Int {
        let source = plainText(argument, second: false)
        try allowText(source.count)
        try count(source.count >> 6)
        // Making text invalidates views of it.
        right.removeAll()
        var end = source.count
        while end > 0 {
            var start = end - 1
            while start > 0, source[start] & 0xC0 == 0x80 { start -= 1 }
            right.append(source[start..<end])
            end = start
        }
        let start = text.count
        text.append(right.view)
        return try make(TokenKind.string, from: start)
    }

    /// The text with another put in at a position in UTF-16 units.
    mutating func inserted(_ first: Int) throws(EvaluationError) -> Int {
        guard let position = NumberText.integer(content(stack[first + 2])) else {
            throw failure(.outOfRange, argument: 2)
        }
        let source = plainText(stack[first], second: true)
        let place = try offset(ofUnit: position, in: source)
        try allowText(source.count)
        left.removeAll()
        left.append(source)
        let copy = left.view
        let start = text.count
        text.append(copy[0..<place])
        let rest = copy[place..<copy.count]
        // Reading the second text may use the same memory again.
        right.removeAll()
        right.append(rest)
        let inserted = stack[first + 1]
        if token(of: inserted).flags & Token.escaped != 0 {
            try appendPlain(inserted)
        } else {
            try allowText(Int(token(of: inserted).length))
            appendBytes(token(of: inserted).range, of: inserted)
        }
        text.append(right.view)
        return try make(TokenKind.string, from: start)
    }

    /// The byte where UTF-16 unit `position` begins; its end counts as well.
    private func offset(ofUnit position: Int64, in source: ByteView) throws(EvaluationError) -> Int {
        var unit: Int64 = 0
        var index = 0
        while index < source.count, unit < position {
            let lead = source[index]
            unit += lead >= 0xF0 ? 2 : 1
            index += lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1
        }
        // A position between the halves of a character would tear it apart.
        guard unit == position else { throw failure(.outOfRange, argument: 2) }
        return min(index, source.count)
    }

    /// A string as it is, anything else as JSON.
    mutating func string(from argument: Int) throws(EvaluationError) -> Int {
        if kind(of: argument) == TokenKind.string { return argument }
        let start = text.count
        if kind(of: argument) == TokenKind.number {
            appendBytes(token(of: argument).range, of: argument)
        } else {
            try writeJSON(argument)
        }
        return try make(TokenKind.string, from: start)
    }
}
