import KymographCore

/// Finds the name a user probably meant.
package enum NearestName {
    /// The candidate within `edits` edits (two, or a third of the length, when nil) of `name`, ignoring case; nil when
    /// none is near.
    package static func of(_ name: String, among candidates: [String], within edits: Int? = nil) -> String? {
        let wanted = Array(name.lowercased())
        let limit = edits ?? max(2, wanted.count / 3)
        let scored = candidates.map { (distance(wanted, Array($0.lowercased())), $0) }
        guard let best = scored.min(by: { $0 < $1 }), best.0 <= limit else { return nil }
        return best.1
    }

    /// `did you mean 'x'?`, or `fallback` when no candidate is near.
    package static func advice(for name: String, among candidates: [String], otherwise fallback: String = "") -> String
    {
        of(name, among: candidates).map { "did you mean '\($0)'?" } ?? fallback
    }

    /// Levenshtein distance.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substituted = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[right.count]
    }
}

extension String {
    /// Whether this is `other` but for the case of its letters. Two names of ASCII, as nearly all are, cost no memory.
    func isCaseVariant(of other: String) -> Bool {
        let mine = utf8.span
        let theirs = other.utf8.span
        for index in 0..<min(mine.count, theirs.count) {
            let (left, right) = (mine[index], theirs[index])
            guard left | right < 0x80 else { return lowercased() == other.lowercased() }
            if left != right && String.lowered(left) != String.lowered(right) { return false }
        }
        return mine.count == theirs.count
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
