import KymographCore
import KymographTemplates

/// JSON as text that is equal for two systems when the meaning is: members by name, numbers without zeros at their end,
/// times in UTC.
enum ComparedText {
    static func of(_ node: JSONNode) -> String {
        switch node.value {
        case .object(let members):
            let sorted = members.filter { !$0.node.isNull }.sorted { $0.name < $1.name }
            let texts = sorted.map { "\(JSONText.quoted($0.name)):\($0.name == "data" ? data($0.node) : of($0.node))" }
            return "{\(texts.joined(separator: ","))}"
        case .array(let elements): return "[\(elements.map(of).joined(separator: ","))]"
        case .string(let text): return JSONText.quoted(text)
        case .number(let text): return number(text)
        case .bool(let flag): return flag ? "true" : "false"
        case .null: return "null"
        }
    }

    /// `effectiveDateTime` or `effectivePeriod`: start and end, the same for a moment.
    static func ofTimes(_ node: JSONNode) -> String {
        if let text = node.string { return "\(time(text))/\(time(text))" }
        return "\(node.child("start")?.string.map(time) ?? "")/\(node.child("end")?.string.map(time) ?? "")"
    }

    /// The first time of a text of ``ofTimes(_:)``.
    static func start(ofTimes text: String) -> Instant? {
        let start = text.prefix { $0 != "/" }
        return instant(String(start))
    }

    /// The samples of SampledData, which are numbers and letters with blanks between them.
    private static func data(_ node: JSONNode) -> String {
        guard let text = node.string else { return of(node) }
        return JSONText.quoted(text.split(separator: " ").map { number(String($0)) }.joined(separator: " "))
    }

    /// `72.50` and `72.5` are one number; what is none is as it stands there.
    static func number(_ text: String) -> String {
        let digits = text.utf8
        guard digits.contains(UInt8(ascii: ".")),
            digits.allSatisfy({ $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") })
        else { return text == "-0" ? "0" : text }
        var plain = text[...]
        while plain.hasSuffix("0") { plain.removeLast() }
        if plain.hasSuffix(".") { plain.removeLast() }
        return plain == "-0" ? "0" : String(plain)
    }

    private static func time(_ text: String) -> String { instant(text)?.text ?? text }

    /// The time that `text` is in ISO 8601 with an offset; nil for others.
    private static func instant(_ text: String) -> Instant? {
        Array(text.utf8).withByteView { bytes in
            guard let time = TimestampParser.iso8601(bytes), !time.isLocal else { return nil }
            return time.instant
        }
    }
}
