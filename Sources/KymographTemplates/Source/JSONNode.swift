package import KymographCore

/// A JSON value with its place in the file, for load-time reading of mappings. Not for readings.
package struct JSONNode: Sendable {
    /// A member of an object.
    package struct Member: Sendable {
        /// The unescaped name.
        package var name: String
        /// Where the name's opening quote is.
        package var position: SourcePosition
        /// The value.
        package var node: JSONNode

        /// Makes a member.
        package init(name: String, position: SourcePosition, node: JSONNode) {
            self.name = name
            self.position = position
            self.node = node
        }
    }

    /// The kinds of JSON values.
    package enum Value: Sendable {
        /// An object's members in file order, duplicates included.
        case object([Member])
        /// An array's elements.
        case array([JSONNode])
        /// A string, unescaped.
        case string(String)
        /// A number as written.
        case number(String)
        /// `true` or `false`.
        case bool(Bool)
        /// `null`.
        case null
    }

    /// Where the value's first byte is.
    package var position: SourcePosition
    /// The value.
    package var value: Value

    /// Makes a node.
    package init(position: SourcePosition, value: Value) {
        self.position = position
        self.value = value
    }

    /// The members when this is an object.
    package var members: [Member]? {
        if case .object(let members) = value { members } else { nil }
    }

    /// The elements when this is an array.
    package var elements: [JSONNode]? {
        if case .array(let elements) = value { elements } else { nil }
    }

    /// The text when this is a string.
    package var string: String? {
        if case .string(let text) = value { text } else { nil }
    }

    /// Whether this is `null`.
    package var isNull: Bool {
        if case .null = value { true } else { false }
    }

    /// "an object", "a string", … for messages.
    package var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .null: "null"
        }
    }
}
