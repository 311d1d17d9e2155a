/// A JSON value for comparisons in tests; numbers keep their digits, because FHIR decimals carry precision.
///
/// Parsed here on purpose and not by the pipeline, so that a fault of its scanner cannot hide itself.
package enum JSONTree: Sendable, Hashable {
    /// Members by name; of duplicates the last.
    case object([String: JSONTree])
    /// Elements.
    case array([JSONTree])
    /// Unescaped text.
    case string(String)
    /// A number as written.
    case number(String)
    /// `true` or `false`.
    case bool(Bool)
    /// `null`.
    case null

    /// The member `name`, or nil.
    package subscript(name: String) -> JSONTree? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The elements, or nil when this is no array.
    package var elements: [JSONTree]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text, or nil when this is no string.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// Parses one JSON value that fills all of `bytes`.
    ///
    /// - Throws: ``JSONTreeError`` with the offset of what is no JSON.
    package init(parsing bytes: [UInt8]) throws(JSONTreeError) {
        var parser = JSONTreeParser(bytes: bytes)
        self = try parser.document()
    }

    /// Where and how this differs from `other`: lines `path: mine ≠ theirs`, in order of path.
    package func differences(from other: JSONTree, path: String = "") -> [String] {
        if self == other { return [] }
        switch (self, other) {
        case (.object(let mine), .object(let theirs)):
            return Set(mine.keys).union(theirs.keys).sorted().flatMap { name in
                Self.differences(mine[name], theirs[name], path: path.isEmpty ? name : "\(path).\(name)")
            }
        case (.array(let mine), .array(let theirs)):
            return (0..<max(mine.count, theirs.count)).flatMap { index in
                Self.differences(
                    index < mine.count ? mine[index] : nil, index < theirs.count ? theirs[index] : nil,
                    path: "\(path)[\(index)]")
            }
        case (.object, _), (.array, _), (.string, _), (.number, _), (.bool, _), (.null, _):
            return ["\(path): \(brief) ≠ \(other.brief)"]
        }
    }

    private static func differences(_ mine: JSONTree?, _ theirs: JSONTree?, path: String) -> [String] {
        switch (mine, theirs) {
        case (let mine?, let theirs?): mine.differences(from: theirs, path: path)
        case (let mine?, nil): ["\(path): \(mine.brief) ≠ nothing"]
        case (nil, let theirs?): ["\(path): nothing ≠ \(theirs.brief)"]
        case (nil, nil): []
        }
    }

    /// The value in a few words.
    private var brief: String {
        switch self {
        case .object(let members): "{\(members.keys.sorted().joined(separator: ", "))}"
        case .array(let elements): "[\(elements.count) elements]"
        case .string(let text): text.count > 120 ? "\"\(text.prefix(120))…\"" : "\"\(text)\""
        case .number(let digits): digits
        case .bool(let flag): "\(flag)"
        case .null: "null"
        }
    }
}

/// The text is not JSON.
package struct JSONTreeError: Error, Hashable, Sendable {
    /// What was expected.
    package var message: String
    /// Bytes before the place.
    package var offset: Int
}
