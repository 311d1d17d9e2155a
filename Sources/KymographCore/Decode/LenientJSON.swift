/// Rewrites a document that the reference's lenient reader takes into strict JSON (mapping dialect, section 1.1).
///
/// Taken besides JSON: comments `//…` and `/*…*/`, texts in single quotes, names without quotes, one comma before a
/// closing bracket, `NaN`, `Infinity` and `-Infinity` (which become texts), `undefined` (which becomes null) and
/// control characters in texts. For documents that the strict scan refused; its memory
/// is kept from one to the next.
package struct LenientJSON: ~Copyable {
    /// What a document has that strict JSON does not.
    package enum Extra: UInt8, CaseIterable {
        case comment, singleQuotes, unquotedName, notANumber, undefined, trailingComma, controlCharacter, whiteSpace

        /// The extra in words, for messages.
        package var text: String {
            switch self {
            case .comment: "a comment"
            case .singleQuotes: "a text in single quotes"
            case .unquotedName: "a name without quotes"
            case .notANumber: "NaN or Infinity"
            case .undefined: "undefined"
            case .trailingComma: "a comma before a closing bracket"
            case .controlCharacter: "a control character in a text"
            case .whiteSpace: "white space that JSON does not know"
            }
        }
    }

    /// A place in the rewritten document and what it was in the original.
    struct Place: BitwiseCopyable {
        var rewritten: UInt32
        var original: UInt32
    }

    /// What the grammar allows next.
    private enum Expected {
        case value, valueOrEnd, nameOrEnd, colon, commaOrEnd
    }

    /// Deepest nesting; the scan of the rewritten document has a limit of its own.
    private static let deepest = 1_024

    private var places = RawArray<Place>(capacity: 64)
    /// Per extra: where it was first, or -1.
    private var firsts = RawArray<Int32>(repeating: -1, count: Extra.allCases.count)
    private var stack = RawArray<UInt8>(capacity: 64)

    package init() {
    }

    /// Writes the value that starts at or after `start` as strict JSON to `writer`, padded for the scan, and returns
    /// the offset behind it.
    ///
    /// - Throws: ``ScanFailure`` with the place in the original. What only the scan checks (UTF-8, escapes, the form of
    ///   numbers) is copied as it is.
    package mutating func rewrite(
        _ bytes: ByteView, from start: Int = 0, into writer: inout ByteWriter
    ) throws(ScanFailure) -> Int {
        places.removeAll()
        stack.removeAll()
        for index in 0..<firsts.count { firsts[index] = -1 }
        writer.removeAll()
        var index = start
        try rewriteValue(bytes, &index, &writer)
        place(index, writer)
        writer.reserve(ByteView.padding)
        return index
    }

    /// As ``rewrite(_:from:into:)``, of a text that holds nothing else but white space and comments.
    ///
    /// - Throws: ``ScanFailure`` with the first place that even a lenient reader does not take.
    package mutating func rewriteWhole(
        _ bytes: ByteView, from start: Int = 0, into writer: inout ByteWriter
    ) throws(ScanFailure) {
        var index = try rewrite(bytes, from: start, into: &writer)
        try skipBlank(bytes, &index)
        guard index == bytes.count else { throw failure(index) }
    }

    /// Where the value at or after `start` begins: behind white space and comments.
    mutating func valueStart(_ bytes: ByteView, from start: Int) throws(ScanFailure) -> Int {
        var index = start
        try skipBlank(bytes, &index)
        return index
    }

    /// Where the first extra of this kind is, or nil.
    package func first(_ extra: Extra) -> Int? {
        let place = firsts[Int(extra.rawValue)]
        return place < 0 ? nil : Int(place)
    }

    /// The offset in the original of an offset in the rewritten document.
    package func original(_ offset: Int) -> Int {
        var low = 0
        var high = places.count
        while high - low > 1 {
            let middle = (low + high) / 2
            if Int(places[middle].rewritten) <= offset { low = middle } else { high = middle }
        }
        guard places.count > 0 else { return offset }
        let found = Int(places[low].original) + max(0, offset - Int(places[low].rewritten))
        return high < places.count ? min(found, Int(places[high].original)) : found
    }

    // MARK: Structure

    private mutating func rewriteValue(
        _ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter
    ) throws(ScanFailure) {
        var expected = Expected.value
        var comma: Int?
        while true {
            try skipBlank(bytes, &index)
            guard index < bytes.count else { throw failure(index) }
            let byte = bytes[index]
            switch expected {
            case .colon:
                guard byte == UInt8(ascii: ":") else { throw failure(index) }
                copy(bytes, &index, &writer)
                expected = .value
                continue
            case .commaOrEnd where byte == UInt8(ascii: ","):
                comma = index
                index += 1
                expected = isInObject ? .nameOrEnd : .valueOrEnd
                continue
            case .commaOrEnd where byte != closing: throw failure(index)
            case .value, .valueOrEnd, .nameOrEnd, .commaOrEnd: break
            }
            if byte == closing, expected != .value {
                if let comma { note(.trailingComma, comma) }
                comma = nil
                copy(bytes, &index, &writer)
                _ = stack.popLast()
                expected = .commaOrEnd
            } else {
                if comma != nil { writer.append(UInt8(ascii: ",")) }
                comma = nil
                expected = try rewriteItem(bytes, &index, &writer, isName: expected == .nameOrEnd)
            }
            if stack.count == 0 { return }
        }
    }

    private var isInObject: Bool { stack.count > 0 && stack[stack.count - 1] == UInt8(ascii: "}") }

    /// The bracket that closes the innermost container; 0 when there is none.
    private var closing: UInt8 { stack.count > 0 ? stack[stack.count - 1] : 0 }

    /// A name, a scalar, or the start of a container; returns what comes next.
    private mutating func rewriteItem(
        _ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter, isName: Bool
    ) throws(ScanFailure) -> Expected {
        let byte = bytes[index]
        place(index, writer)
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
            try rewriteText(bytes, &index, &writer)
            return isName ? .colon : .commaOrEnd
        }
        if isName {
            try rewriteName(bytes, &index, &writer)
            return .colon
        }
        if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
            guard stack.count < LenientJSON.deepest else { throw ScanFailure(reason: .tooDeep, offset: index) }
            stack.append(byte + 2)
            copy(bytes, &index, &writer)
            return isInObject ? .nameOrEnd : .valueOrEnd
        }
        try rewriteWord(bytes, &index, &writer)
        return .commaOrEnd
    }

    // MARK: Parts

    private mutating func copy(_ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter) {
        place(index, writer)
        writer.append(bytes[index])
        index += 1
    }

    private func failure(_ index: Int) -> ScanFailure { ScanFailure(reason: .invalidJSON, offset: index) }

    private mutating func note(_ extra: Extra, _ index: Int) {
        if firsts[Int(extra.rawValue)] < 0 { firsts[Int(extra.rawValue)] = Int32(truncatingIfNeeded: index) }
    }

    /// Notes that what is written next comes from `index`.
    private mutating func place(_ index: Int, _ writer: borrowing ByteWriter) {
        let last = places.count - 1
        let shift = index - writer.count
        if last >= 0, Int(places[last].original) - Int(places[last].rewritten) == shift { return }
        places.append(
            Place(rewritten: UInt32(truncatingIfNeeded: writer.count), original: UInt32(truncatingIfNeeded: index)))
    }

    /// Skips white space, of Unicode's too, and comments.
    private mutating func skipBlank(_ bytes: ByteView, _ index: inout Int) throws(ScanFailure) {
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                index += 1
            } else if byte == UInt8(ascii: "/") {
                try skipComment(bytes, &index)
            } else {
                let length = LenientJSON.otherSpace(bytes, index)
                if length == 0 { return }
                note(.whiteSpace, index)
                index += length
            }
        }
    }

    /// The length of a white-space character that JSON does not have; 0 when there is none at `index`.
    private static func otherSpace(_ bytes: ByteView, _ index: Int) -> Int {
        let byte = bytes[index]
        if byte == 0x0B || byte == 0x0C { return 1 }
        guard byte >= 0x80 else { return 0 }
        let length = UTF8Sequence.length(bytes, at: index)
        guard length > 0, let scalar = Unicode.Scalar(UTF8Sequence.scalar(bytes, at: index).scalar) else { return 0 }
        return scalar.properties.isWhitespace ? length : 0
    }

    private mutating func skipComment(_ bytes: ByteView, _ index: inout Int) throws(ScanFailure) {
        let start = index
        index += 1
        guard index < bytes.count else { throw failure(start) }
        let isLine = bytes[index] == UInt8(ascii: "/")
        guard isLine || bytes[index] == UInt8(ascii: "*") else { throw failure(start) }
        note(.comment, start)
        index += 1
        while index < bytes.count {
            if isLine, bytes[index] == 0x0A || bytes[index] == 0x0D { return }
            if !isLine, bytes[index] == UInt8(ascii: "*"), index + 1 < bytes.count,
                bytes[index + 1] == UInt8(ascii: "/")
            {
                index += 2
                return
            }
            index += 1
        }
        if !isLine { throw failure(start) }
    }

    /// A text in quotes of either kind.
    private mutating func rewriteText(
        _ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter
    ) throws(ScanFailure) {
        let quote = bytes[index]
        if quote == UInt8(ascii: "'") { note(.singleQuotes, index) }
        writer.append(UInt8(ascii: "\""))
        index += 1
        while index < bytes.count {
            let byte = bytes[index]
            if byte == quote {
                place(index, writer)
                writer.append(UInt8(ascii: "\""))
                index += 1
                return
            }
            place(index, writer)
            if byte == UInt8(ascii: "\\"), index + 1 < bytes.count {
                rewriteEscape(bytes, &index, &writer)
            } else if byte < 0x20 {
                note(.controlCharacter, index)
                writer.append("\\u00")
                writer.append(byte < 16 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                let low = byte & 15
                writer.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
                index += 1
            } else {
                if byte == UInt8(ascii: "\"") { writer.append(UInt8(ascii: "\\")) }
                writer.append(byte)
                index += 1
            }
        }
        throw failure(index)
    }

    private mutating func rewriteEscape(_ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter) {
        if bytes[index + 1] == UInt8(ascii: "'") {
            note(.singleQuotes, index)
        } else {
            writer.append(bytes[index])
        }
        writer.append(bytes[index + 1])
        index += 2
    }

    /// A name without quotes: letters, digits, `_` and `$`.
    private mutating func rewriteName(
        _ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter
    ) throws(ScanFailure) {
        let end = LenientJSON.wordEnd(bytes, index)
        guard end > index else { throw failure(index) }
        note(.unquotedName, index)
        writer.append(UInt8(ascii: "\""))
        place(index, writer)
        writer.append(bytes[index..<end])
        index = end
        writer.append(UInt8(ascii: "\""))
    }

    private static func wordEnd(_ bytes: ByteView, _ start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
                || byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            {
                index += 1
                continue
            }
            guard byte >= 0x80 else { break }
            let length = UTF8Sequence.length(bytes, at: index)
            guard length > 0, let scalar = Unicode.Scalar(UTF8Sequence.scalar(bytes, at: index).scalar),
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            else { break }
            index += length
        }
        return index
    }

    /// A number or a word.
    private mutating func rewriteWord(
        _ bytes: ByteView, _ index: inout Int, _ writer: inout ByteWriter
    ) throws(ScanFailure) {
        var end = index
        while end < bytes.count, LenientJSON.isWordByte(bytes[end]) { end += 1 }
        guard end > index else { throw failure(index) }
        let word = bytes[index..<end]
        let isNotANumber = word.equals(ByteView("NaN")) || word.equals(ByteView("Infinity"))
        if isNotANumber || word.equals(ByteView("-Infinity")) {
            note(.notANumber, index)
            writer.append(UInt8(ascii: "\""))
            place(index, writer)
            writer.append(word)
            place(end - 1, writer)
            writer.append(UInt8(ascii: "\""))
        } else if word.equals(ByteView("undefined")) {
            note(.undefined, index)
            writer.append("nul")
            place(end - 1, writer)
            writer.append("l")
        } else {
            writer.append(word)
        }
        index = end
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte &- UInt8(ascii: "0") < 10
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".") || byte >= 0x80
    }
}
