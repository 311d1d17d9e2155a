/// Phrases that readers of documents, help and comments stumble over, and the plain words for them.
enum WordRules {
    /// A phrase, in lower case, and what to write instead. A number sign stands for any number.
    struct Phrase {
        var found: String
        var better: String
    }

    /// What no file has.
    static let everywhere = [
        Phrase(found: "how a running instance does", better: "health of a running instance"),
        Phrase(found: "how does the instance do", better: "health of the instance"),
        Phrase(found: "devices that do not exist", better: "simulated devices"),
        Phrase(found: "(# may)", better: "(budget #)"),
        Phrase(found: "not with a radio", better: "not on real Bluetooth hardware"),
        Phrase(found: "not to be had", better: "cannot bind (an address), not supported (a form)"),
        Phrase(found: "0 well", better: "0 success"),
        Phrase(found: ": well:", better: ": configuration OK:"),
        Phrase(found: "all is well", better: "success"),
        Phrase(found: "ends with #", better: "exits with status #"),
        Phrase(found: "messages with borders", better: "messages with preserved boundaries"),
        Phrase(found: "tells nobody", better: "is ignored, without notice"),
        Phrase(found: "learns who asks", better: "authentication method"),
        Phrase(found: "ask nobody who they are", better: "without authentication"),
        Phrase(found: "nobody can guess", better: "cryptographically secure random"),
        Phrase(found: "nobody says", better: "when unspecified"),
        Phrase(found: "in the way of all", better: "on the general path"),
        Phrase(found: "asks for the memory", better: "prefetches"),
        Phrase(found: "by nobody else", better: "only by the owner"),
        Phrase(found: "it does fail", better: "proof that it fails"),
        Phrase(found: "1 errors", better: "1 error"),
        Phrase(found: "1 warnings", better: "1 warning"),
        Phrase(found: "1 readings", better: "1 reading"),
        Phrase(found: "1 bundles", better: "1 bundle"),
        Phrase(found: "1 entries", better: "1 entry"),
        Phrase(found: "everything that can be said", better: "every setting"),
    ]

    /// What README and the pages of `docs` do not have either.
    static let pages = [
        Phrase(found: "nobody", better: "say what is so: unknown, unspecified, only the owner"),
        Phrase(found: "somebody", better: "name who: the sender, another client"),
        Phrase(found: "anew", better: "again, from scratch"),
        Phrase(found: "has to say", better: "reports"),
        Phrase(found: "ending well", better: "a clean shutdown"),
        Phrase(found: "is given up", better: "is abandoned"),
        Phrase(found: "lest", better: "so that … not"),
    ]

    /// The phrases of a text, as `path:line: 'found': better`.
    static func complaints(_ file: SourceFile, _ phrases: [Phrase]) -> [String] {
        file.lines.enumerated().flatMap { number, line in
            let plain = line.lowercased()
            let numberless = plain.utf8.contains { (0x30...0x39).contains($0) } ? withoutNumbers(plain) : plain
            return phrases.filter { contains($0.found.contains("#") ? numberless : plain, $0.found) }.map {
                "\(file.path):\(number + 1): '\($0.found)': \($0.better)"
            }
        }
    }

    /// The text with a number sign in the place of each number.
    private static func withoutNumbers(_ text: String) -> String { text.replacing(/[0-9]+/, with: "#") }

    /// Whether `text` has `phrase` where words begin and end.
    private static func contains(_ text: String, _ phrase: String) -> Bool {
        text.ranges(of: phrase).contains { place in
            let before = text[..<place.lowerBound].last
            let after = text[place.upperBound...].first
            let isStart = phrase.first.map { !isWord($0) } ?? true
            let isEnd = phrase.last.map { !isWord($0) } ?? true
            return (isStart || before.map { !isWord($0) } ?? true) && (isEnd || after.map { !isWord($0) } ?? true)
        }
    }

    private static func isWord(_ letter: Character) -> Bool { letter.isLetter || letter.isNumber || letter == "#" }
}
