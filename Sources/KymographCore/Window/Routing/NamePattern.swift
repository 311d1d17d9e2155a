/// A name, or several by `*`, which stands for any bytes, also none.
public struct NamePattern: Hashable, Sendable {
    /// What stands between the stars; a pattern without star is one part.
    private let parts: [[UInt8]]

    /// The pattern as it is written.
    public init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether it stands for `name`, case and all.
    public func matches(_ name: some Sequence<UInt8>) -> Bool {
        let name = Array(name)
        guard parts.count > 1 else { return name == parts[0] }
        let (first, last) = (parts[0], parts[parts.count - 1])
        guard name.starts(with: first), name.count >= first.count + last.count,
            name[(name.count - last.count)...].elementsEqual(last)
        else { return false }
        var rest = name[first.count..<name.count - last.count]
        for part in parts[1..<parts.count - 1] {
            guard let end = NamePattern.end(of: part, in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }

    /// Where the first occurrence of `part` ends.
    private static func end(of part: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var start = bytes.startIndex
        while start + part.count <= bytes.endIndex {
            if bytes[start..<start + part.count].elementsEqual(part) { return start + part.count }
            start += 1
        }
        return nil
    }
}
