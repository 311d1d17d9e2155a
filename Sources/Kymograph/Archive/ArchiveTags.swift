import KymographCore

/// Tags, one of which a window must have: by its type's template, or by a reading.
package struct ArchiveTags: Sendable {
    private let names: [[UInt8]]
    private let types: Set<String>

    /// Tags as `code` or `system|code`; the templates of `types` have one of them.
    package init(_ names: [String], types: Set<String>) {
        self.names = names.map { Array($0.utf8) }
        self.types = types
    }

    /// Whether `window`, of the type called `type`, has one.
    func matches(_ window: ArchivedWindow, type: String) -> Bool {
        if types.contains(type) { return true }
        var isMatch = false
        _ = window.forEachReading { _, payload in
            let list = ReadingTags.list(in: payload)
            guard !isMatch, list.count > 0 else { return }
            isMatch = ReadingTags.contains(any: names, in: list)
        }
        return isMatch
    }
}
