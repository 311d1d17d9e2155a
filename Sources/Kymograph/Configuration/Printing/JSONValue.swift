import KymographCore

/// A JSON document to be written.
indirect enum JSONValue {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([JSONValue])
    case object([(key: String, value: JSONValue)])

    /// A value of a setting as JSON has it: numbers and flags where only those can be written, and texts.
    init(_ text: String, _ values: SettingValues) {
        switch values {
        case .count, .countOrAuto, .powerOfTwo, .size:
            self = Int(text).map { .number($0) } ?? .text(text)
        case .choice: self = Self.flags[text].map { .flag($0) } ?? .text(text)
        case .text, .duration, .uri: self = .text(text)
        }
    }

    /// Texts that JSON has a value for.
    static let flags = ["true": true, "false": false]

    /// The document with layout, and a final line feed.
    var document: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return PrettyJSON.format(writer.view.array)
    }

    private func write(to writer: inout ByteWriter) {
        switch self {
        case .text(let text): Self.write(text, to: &writer)
        case .number(let number): writer.append(Array(String(number).utf8))
        case .flag(let flag): writer.append(flag ? "true" : "false")
        case .list(let elements):
            writer.append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { writer.append(",") }
                element.write(to: &writer)
            }
            writer.append("]")
        case .object(let members):
            writer.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { writer.append(",") }
                Self.write(member.key, to: &writer)
                writer.append(":")
                member.value.write(to: &writer)
            }
            writer.append("}")
        }
    }

    private static func write(_ text: String, to writer: inout ByteWriter) { writer.append(Array(quoted(text).utf8)) }

    /// `text` in double quotes. What YAML takes for a line break, or refuses, and what terminals obey, is escaped, too.
    static func quoted(_ text: String) -> String { PrintableText.line(JSONText.quoted(text)) }
}
