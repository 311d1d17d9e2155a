import KymographCore
import KymographTemplates

/// A FHIR resource without identifiers: numbers and flags, and of texts those that say what was measured and when.
enum MaskedResource {
    /// Members of which nothing is shown.
    private static let hidden: Set = [
        "id", "identifier", "subject", "patient", "device", "encounter", "performer", "focus", "basedOn", "partOf",
        "hasMember", "derivedFrom", "specimen", "note", "text", "contained", "extension", "meta", "serialNumber",
        "udiCarrier", "deviceName", "owner", "location",
    ]
    /// Members whose texts are shown.
    private static let shown: Set = [
        "resourceType", "status", "system", "code", "unit", "display", "effectiveDateTime", "effectiveInstant", "start",
        "end", "issued", "comparator",
    ]

    /// `resource` with `masked` in place of what is not shown; nil when it is no JSON.
    static func of(_ resource: [UInt8]) -> [UInt8]? {
        guard let node = PayloadShape.parse(resource) else { return nil }
        var writer = ByteWriter(capacity: resource.count)
        append(node, showsText: false, to: &writer)
        return writer.view.array
    }

    private static func append(_ node: JSONNode, showsText: Bool, to writer: inout ByteWriter) {
        switch node.value {
        case .object(let members): append(members, to: &writer)
        case .array(let elements):
            writer.append("[")
            for (place, element) in elements.enumerated() {
                if place > 0 { writer.append(",") }
                append(element, showsText: showsText, to: &writer)
            }
            writer.append("]")
        case .string(let text): appendText(showsText ? text : IdentifierMask.text, to: &writer)
        case .number(let number): writer.append(Array(number.utf8))
        case .bool(let flag): writer.append(flag ? "true" : "false")
        case .null: writer.append("null")
        }
    }

    private static func append(_ members: [JSONNode.Member], to writer: inout ByteWriter) {
        writer.append("{")
        for (place, member) in members.enumerated() {
            if place > 0 { writer.append(",") }
            appendText(member.name, to: &writer)
            writer.append(":")
            if hidden.contains(member.name) {
                appendText(IdentifierMask.text, to: &writer)
            } else {
                append(member.node, showsText: shown.contains(member.name), to: &writer)
            }
        }
        writer.append("}")
    }

    private static func appendText(_ text: String, to writer: inout ByteWriter) {
        writer.append("\"")
        writer.appendJSON(text)
        writer.append("\"")
    }
}
