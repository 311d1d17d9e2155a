/// A name, or several by `*`, which stands for any bytes, also none.
package struct NamePattern: Hashable, Sendable {
    /// What stands between the stars; a pattern without star is one part.
    private let parts: [[UInt8]]

    /// The pattern as it is written.
    package init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether it stands for `name`, case and all.
    package func matches(_ name: some Sequence<UInt8>) -> Bool {
        Array(name).withByteView { matches($0) }
    }

    /// Whether it stands for `name`, case and all. Nothing is allocated.
    package func matches(_ name: ByteView) -> Bool {
        let (first, last) = (parts[0], parts[parts.count - 1])
        guard parts.count > 1 else { return name.equals(first) }
        let end = name.count - last.count
        guard end >= first.count, name[0..<first.count].equals(first), name[end..<name.count].equals(last) else {
            return false
        }
        var place = first.count
        for part in parts[1..<parts.count - 1] {
            while place + part.count <= end, !name[place..<place + part.count].equals(part) { place += 1 }
            guard place + part.count <= end else { return false }
            place += part.count
        }
        return true
    }
}
