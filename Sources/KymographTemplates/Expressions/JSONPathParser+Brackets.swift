import KymographCore

/// What stands in brackets: names, indexes, slices, `*` and filters.
extension JSONPathParser {
    /// A step in brackets or parentheses. After `..`, names and filters look at everything below; indexes and slices do
    /// not: the reference forgets the descent before them.
    mutating func bracketStep(descending: Bool) throws(ExpressionError) -> PathStep {
        let close = byte == UInt8(ascii: "[") ? "]" : ")"
        index += 1
        skipSpaces()
        if skip("?") { return try filterStep(descending: descending, close: close) }
        let step: PathStep
        if byte == UInt8(ascii: "'") {
            step = try quotedStep(descending: descending)
        } else if skip("*") {
            step = PathStep(operation: .elements)
        } else {
            step = try elementStep()
        }
        skipSpaces()
        guard skip(close) else { throw error("expected '\(close)', found '\(shown)'") }
        return step
    }

    // MARK: Names

    private mutating func quotedStep(descending: Bool) throws(ExpressionError) -> PathStep {
        let first = try quoted()
        skipSpaces()
        guard byte == UInt8(ascii: ",") else { return memberStep(first, descending: descending) }
        var numbers = [Int32(program.number(of: first))]
        while skip(",") {
            skipSpaces()
            guard byte == UInt8(ascii: "'") else { throw error("expected a quoted name, found '\(shown)'") }
            numbers.append(Int32(program.number(of: try quoted())))
            skipSpaces()
        }
        return PathStep(
            operation: descending ? .descendantUnion : .memberUnion, argument: program.addList(numbers))
    }

    /// A text in single quotes.
    mutating func quoted() throws(ExpressionError) -> String {
        let start = index
        index += 1
        var content: [UInt8] = []
        while let next = byte, next != UInt8(ascii: "'") {
            index += 1
            if next == UInt8(ascii: "\\") {
                guard byte != nil else { break }
                content.append(try escaped())
            } else {
                content.append(next)
            }
        }
        guard skip("'") else { throw error("the quoted text is not closed", at: start) }
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func escaped() throws(ExpressionError) -> UInt8 {
        let escape = byte ?? 0
        let resolved: UInt8
        switch escape {
        case UInt8(ascii: "b"): resolved = 0x08
        case UInt8(ascii: "t"): resolved = 0x09
        case UInt8(ascii: "n"): resolved = 0x0A
        case UInt8(ascii: "f"): resolved = 0x0C
        case UInt8(ascii: "r"): resolved = 0x0D
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "/"): resolved = escape
        default:
            throw error("'\\\(shown)' is no escape; those are \\b \\t \\n \\f \\r \\\\ \\\" \\' \\/", at: index - 1)
        }
        index += 1
        return resolved
    }

    // MARK: Indexes

    private mutating func elementStep() throws(ExpressionError) -> PathStep {
        let start = index
        let first = try integer()
        skipSpaces()
        if byte == UInt8(ascii: ":") { return try slice(from: first) }
        guard let first else {
            throw error("expected an index, '*', a quoted name or '?(…)', found '\(shown)'")
        }
        try refuseNegative(first, at: start)
        guard byte == UInt8(ascii: ",") else { return PathStep(operation: .element, argument: first) }
        var indexes = [first]
        while skip(",") {
            skipSpaces()
            let place = index
            guard let next = try integer() else { throw error("expected an index, found '\(shown)'") }
            try refuseNegative(next, at: place)
            indexes.append(next)
            skipSpaces()
        }
        return PathStep(operation: .elementUnion, argument: program.addList(indexes))
    }

    private func refuseNegative(_ index: Int32, at place: Int) throws(ExpressionError) {
        guard index < 0 else { return }
        throw error("negative indexes are not part of the dialect; '[-1:]' takes the last element", at: place)
    }

    /// `first` was read; the colon is next.
    private mutating func slice(from first: Int32?) throws(ExpressionError) -> PathStep {
        index += 1
        skipSpaces()
        var slice = PathSlice(first: first, end: try integer(), step: nil)
        skipSpaces()
        if skip(":") {
            skipSpaces()
            let place = index
            slice.step = try integer()
            if slice.step == 0 { throw error("the step of a slice cannot be 0", at: place) }
            skipSpaces()
            if byte == UInt8(ascii: ":") { throw error("a slice has three parts at most: [from:to:step]") }
        }
        program.slices.append(slice)
        return PathStep(operation: .slice, argument: Int32(program.slices.count - 1))
    }

    /// An integer, or nil when there is none here.
    private mutating func integer() throws(ExpressionError) -> Int32? {
        let start = index
        if byte == UInt8(ascii: "-") { index += 1 }
        let digits = index
        while let next = byte, next &- UInt8(ascii: "0") < 10 { index += 1 }
        if index == start { return nil }
        let written = String(decoding: text[start..<index], as: UTF8.self)
        guard index > digits else { throw error("expected a digit after '-', found '\(shown)'") }
        guard let number = Int32(written) else { throw error("\(written) is too large", at: start) }
        return number
    }
}
