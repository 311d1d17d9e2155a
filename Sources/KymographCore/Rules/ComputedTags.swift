/// Tags that a rule makes of what each reading says.
///
/// A text gives one, an array of texts one for each; null, and a text of nothing but white space, none. White space
/// around a text is no part of its tag. Anything else has failed: the sender of a reading chooses a code, and never its
/// system.
package struct ComputedTags: Sendable {
    /// What gives the codes.
    package let expression: RuleExpression
    /// The system of the codes, an absolute URI without bar; nil for none.
    package let system: String?

    /// Most tags that one rule adds, constants included.
    package static let most = 8
    /// Most bytes of such tags of one reading, with the end of each, so that constants have room besides.
    package static let longest = ReadingTags.longest / 2

    /// Tags whose codes `expression` gives, each of `system`.
    package init(_ expression: RuleExpression, system: String? = nil) {
        (self.expression, self.system) = (expression, system)
    }

    /// Adds those of `json`, which the expression gave, to `tags`, unless they are there.
    ///
    /// - Throws: `RuleWork.Failure` with the reason where it gives anything but tags, or more than ``most`` with those
    ///   that are there.
    func add(_ json: ByteView, to tags: inout [String]) throws(RuleWork.Failure) {
        guard json[0] == UInt8(ascii: "[") else { return try addElement(json, "text", to: &tags) }
        var place = 1
        while place < json.count {
            switch json[place] {
            case UInt8(ascii: "]"): return
            case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D: place += 1
            default:
                let end = ComputedTags.end(of: place, in: json)
                try addElement(json[place..<end], "texts in the array", to: &tags)
                place = end
            }
        }
    }

    /// Behind the text or null that begins at `start` of an array. What is neither is not looked at further.
    private static func end(of start: Int, in json: ByteView) -> Int {
        guard json[start] == UInt8(ascii: "\"") else { return min(start + "null".utf8.count, json.count) }
        var place = start + 1
        while place < json.count, json[place] != UInt8(ascii: "\"") {
            place += json[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(place + 1, json.count)
    }

    private func addElement(
        _ json: ByteView, _ expected: String, to tags: inout [String]
    ) throws(RuleWork.Failure) {
        switch json[0] {
        case UInt8(ascii: "n"): return
        case UInt8(ascii: "\""): break
        default: throw failure("expected \(expected), found \(ComputedTags.kind(json[0]))")
        }
        let code = ComputedTags.trimmed(JSONUnescape.string(json[1..<json.count - 1]))
        guard !code.isEmpty else { return }
        let tag = try tag(of: code)
        guard !tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) else { return }
        guard tags.count < ComputedTags.most else {
            throw failure(
                "the rule adds more than \(ComputedTags.most) tags: select some in the expression, or use more rules")
        }
        tags.append(tag)
    }

    /// What JSON that begins with `byte` is, for people.
    private static func kind(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "{"): "an object"
        case UInt8(ascii: "["): "an array"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        default: "a number"
        }
    }

    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// The tag with this code. Reasons do not repeat what a sender has written.
    private func tag(of code: String) throws(RuleWork.Failure) -> String {
        guard !code.utf8.contains(UInt8(ascii: "|")) else {
            throw failure("the text has a '|', and only 'system' of the rule may say the system")
        }
        guard !code.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw failure("the text has a control character")
        }
        // It stands for bytes and surrogates that are no text: two labels would become one tag.
        guard !code.unicodeScalars.contains("\u{FFFD}") else { throw failure("the text is not valid Unicode") }
        guard ReadingTags.isCode(code[...]) else {
            throw failure("not a FHIR code: white space other than single blanks")
        }
        let tag = system.map { "\($0)|\(code)" } ?? code
        guard tag.utf8.count <= ReadingTags.longestTag else {
            throw failure("the tag is longer than \(ReadingTags.longestTag) bytes")
        }
        return tag
    }

    /// That the expression gives no tags, because of `reason`.
    func failure(_ reason: String) -> RuleWork.Failure {
        RuleWork.Failure(text: "tag from \(expression.text): \(reason)")
    }
}
