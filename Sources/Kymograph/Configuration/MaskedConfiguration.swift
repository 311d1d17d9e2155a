import KymographCore
import KymographTemplates

/// A configuration file without what a stranger must not read: values of keys that name a person, a device or an
/// account, values of keys that kymo does not know, what stands before the host of a URL, and comments.
package enum MaskedConfiguration {
    /// Keys, without what precedes their last dot, whose values stay where they are.
    static let personal: Set<String> = [
        "defaultDevice", "defaultPatient", "devices", "gateway", "user", "clientId", "keyId",
        "topics", "statusTopic", "mqtt",
    ]
    /// Every other key that kymo knows, by its parts.
    private static let shown: Set<String> = {
        let keys =
            SettingTable.settings.map(\.key) + SourceSettings.all(.builtIn).map(\.key)
            + SinkSettings.all(.builtIn).map(\.key)
        let parts = keys.flatMap { $0.split(separator: ".").map(String.init) }
        return Set(parts + ["sources", "sinks", IncludedFiles.setting.key]).subtracting(personal)
    }()

    /// The file of these `bytes` as YAML; a remark alone when it is none, because nothing in it can be told apart then.
    package static func text(_ bytes: [UInt8]) -> String {
        var log = ConfigurationLog()
        // Without the values of variables, which may be secrets.
        let text = ConfigurationText(name: "configuration", bytes: bytes, variables: [:])
        guard let root = text.root(log: &log) else {
            return "# the file is empty, or no YAML\n"
        }
        var lines: [String] = []
        write(root, isShown: true, indent: "", into: &lines)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func write(_ node: ConfigurationNode, isShown: Bool, indent: String, into lines: inout [String]) {
        switch node.content {
        case .text, .nothing: lines.append(indent + scalar(node, isShown))
        case .list(let elements):
            for element in elements { write(element, after: "\(indent)-", isShown: isShown, indent, into: &lines) }
        case .mapping(let members):
            for (key, value) in members {
                guard case .text(let name) = key.content else { continue }
                // What a file says under a key that is unknown is unknown as well.
                let isKnown = isShown && name.split(separator: ".").allSatisfy { shown.contains(String($0)) }
                let written = isKnown || personal.contains(name) ? name : MaskedText.mask
                write(value, after: "\(indent)\(written):", isShown: isKnown, indent, into: &lines)
            }
        }
    }

    /// Writes `node` behind `head`, in the same line if it is a scalar.
    private static func write(
        _ node: ConfigurationNode, after head: String, isShown: Bool, _ indent: String, into lines: inout [String]
    ) {
        switch node.content {
        case .text, .nothing: lines.append("\(head) \(scalar(node, isShown))")
        case .list, .mapping:
            lines.append(head)
            write(node, isShown: isShown, indent: indent + "  ", into: &lines)
        }
    }

    private static func scalar(_ node: ConfigurationNode, _ isShown: Bool) -> String {
        guard case .text(let text) = node.content else { return "null" }
        guard isShown else { return "\"\(MaskedText.mask)\"" }
        let quoted = MaskedText.masking(text).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(quoted.replacing("\n", with: "\\n"))\""
    }
}
