import KymographCore
import Yams

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
    private let places: TextPlaces

    init(_ node: Node, _ places: TextPlaces) {
        self.node = node
        self.places = places
    }

    /// Where the node begins; an alias is where its anchor is.
    var position: SourcePosition {
        places.position(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    /// What the node holds. Scalars are never interpreted: `0660` and `5m` are texts for the settings to read.
    var content: Content {
        switch node {
        case .scalar(let scalar):
            scalar.style == .plain && Self.nulls.contains(scalar.string) ? .nothing : .text(scalar.string)
        case .mapping(let mapping):
            .mapping(mapping.map { (Self($0.key, places), Self($0.value, places)) })
        case .sequence(let sequence):
            .list(sequence.map { Self($0, places) })
        case .alias: .nothing
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
