import KymographCore
import KymographTemplates
import Yams

/// A file of the configuration, as its nodes know it.
final class NodeFile: Sendable {
    /// The name in messages.
    let name: String
    /// Where lines and columns are.
    let places: TextPlaces
    /// What variables in values stand for.
    let variables: [String: String]

    init(name: String, places: TextPlaces, variables: [String: String]) {
        (self.name, self.places, self.variables) = (name, places, variables)
    }
}

/// A node of the configuration file: what it holds and where it is.
///
/// Content is made when asked for, so that aliases of aliases cost nothing unless a key takes them.
struct ConfigurationNode {
    /// The kinds of nodes.
    enum Content {
        case text(String)
        case nothing
        case mapping([(key: ConfigurationNode, value: ConfigurationNode)])
        case list([ConfigurationNode])
    }

    private static let nulls = ["", "~", "null", "Null", "NULL"]

    private let node: Node
    private let file: NodeFile

    init(_ node: Node, _ file: NodeFile) {
        self.node = node
        self.file = file
    }

    /// Where the node begins; an alias is where its anchor is.
    var position: SourcePosition {
        file.places.position(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    /// The place, for messages about `subject`.
    func origin(_ subject: String) -> SettingOrigin {
        SettingOrigin(file: file.name, position: position, subject: subject)
    }

    /// What the node holds. Scalars are never interpreted: `0660` and `5m` are texts for the settings to read.
    var content: Content {
        switch node {
        case .scalar(let scalar):
            scalar.style == .plain && Self.isNull(scalar.string) ? .nothing : .text(scalar.string)
        case .mapping(let mapping):
            .mapping(mapping.map { (Self($0.key, file), Self($0.value, file)) })
        case .sequence(let sequence):
            .list(sequence.map { Self($0, file) })
        case .alias: .nothing
        }
    }

    /// Whether a text without quotes stands for no value.
    static func isNull(_ text: String) -> Bool { nulls.contains(text) }

    /// `text`, which this node holds, with the values of its variables; nil, with a note in `log`, when one has none.
    func value(_ text: String, _ subject: String, log: inout ConfigurationLog) -> SettingText? {
        do throws(VariableText.Problem) {
            return SettingText(text: try VariableText.expanding(text, file.variables), origin: origin(subject))
        } catch {
            var place = origin(subject)
            let mark = Array("${".utf8)
            // Text with escapes may have no such mark in the file.
            place.position = file.places.position(of: mark, error.number, from: position.offset) ?? place.position
            log.add(.error, place, error.message, advice: error.advice)
            return nil
        }
    }

    /// "text", "a list", … for messages.
    var kind: String {
        switch content {
        case .text: "text"
        case .nothing: "nothing"
        case .mapping: "keys and values"
        case .list: "a list"
        }
    }
}
