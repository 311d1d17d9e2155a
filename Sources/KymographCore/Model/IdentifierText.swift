/// The text of an identifier: of a device, a patient, an encounter, or of their system.
///
/// Identifiers are bytes. A `String` is equal to another that is canonically equivalent in Unicode (`é` as one scalar
/// or as two), so that two devices or patients would be one: whatever compares identifiers, or is keyed by them, has
/// this type, which is equal only to the same UTF-8.
public struct IdentifierText: Hashable, Sendable {
    /// The bytes.
    public let utf8: [UInt8]

    /// The identifier that `text` is.
    public init(_ text: String) { utf8 = Array(text.utf8) }

    /// The identifier of these bytes.
    public init(utf8: [UInt8]) { self.utf8 = utf8 }

    /// The identifier as text, for JSON and for people: not to be compared.
    public var text: String { String(decoding: utf8, as: UTF8.self) }

    /// Whether there is none.
    package var isEmpty: Bool { utf8.isEmpty }

    /// Whether there is nothing but white space.
    package var isBlank: Bool { text.allSatisfy(\.isWhitespace) }
}

extension IdentifierText: Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// Order of the bytes.
    public static func < (left: IdentifierText, right: IdentifierText) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// The text.
    public var description: String { text }

    /// The identifier that `value` is.
    public init(stringLiteral value: String) { self.init(value) }
}

extension IdentifierText: Codable {
    /// Reads a string.
    ///
    /// - Throws: what the decoder throws of anything else.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes a string.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
