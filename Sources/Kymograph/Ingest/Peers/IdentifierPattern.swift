import KymographCore

/// Identifiers that a peer may name: one, byte for byte, or all that begin alike.
package struct IdentifierPattern: Hashable, Sendable {
    private let bytes: [UInt8]
    /// Whether it is of all that begin alike.
    package let isPrefix: Bool

    /// Reads `ward-3-pump`, or `ward-3-*` for all that begin with what is before the star.
    package init(_ text: String) {
        isPrefix = text.hasSuffix("*")
        bytes = Array(isPrefix ? text.dropLast().utf8 : Substring(text).utf8)
    }

    /// As it is written.
    package var text: String { String(decoding: bytes, as: UTF8.self) + (isPrefix ? "*" : "") }

    /// Whether all of `other` are among them.
    package func covers(_ other: IdentifierPattern) -> Bool {
        (isPrefix || !other.isPrefix) && other.bytes.withByteView(matches)
    }

    /// Whether `identifier` is one of them.
    func matches(_ identifier: ByteView) -> Bool {
        guard isPrefix ? identifier.count >= bytes.count : identifier.count == bytes.count else { return false }
        return bytes.withByteView { identifier[0..<$0.count].equals($0) }
    }
}
