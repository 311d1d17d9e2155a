/// JSON text of values that are known when templates are loaded.
package enum JSONText {
    /// `text` escaped, with quotes.
    package static func quoted(_ text: String) -> String {
        var writer = ByteWriter(capacity: text.utf8.count + 2)
        writer.append(UInt8(ascii: "\""))
        writer.appendJSON(text)
        writer.append(UInt8(ascii: "\""))
        return writer.view.string
    }

    /// An array of strings.
    package static func array(_ texts: [String]) -> String {
        "[\(texts.map(quoted).joined(separator: ","))]"
    }

    /// An object of the members that have a value.
    package static func object(_ members: [(String, String?)]) -> String {
        let present = members.compactMap { name, value in value.map { "\"\(name)\":\(quoted($0))" } }
        return "{\(present.joined(separator: ","))}"
    }
}
