/// Where types are declared.
struct TypeDeclarations {
    /// Paths of the files that declare a type at the top level, by its name.
    private(set) var topLevel: [String: Set<String>] = [:]
    /// Paths of the files that declare a type within another one or an extension of it, by both names (`Outer.Inner`).
    private(set) var nested: [String: Set<String>] = [:]
    /// By file, the types at the top level that it declares or extends, and names of types that it declares within them.
    private(set) var owners: [String: Set<String>] = [:]
    private(set) var inner: [String: Set<String>] = [:]

    private static let keywords: Set<Substring> = [
        "struct", "class", "enum", "actor", "protocol", "typealias", "extension",
    ]

    /// Notes the declarations of `file`.
    mutating func note(_ file: CodeFile) {
        var depth = 0
        var owner: Substring = ""
        for (word, next) in zip(file.words, file.words.dropFirst()) {
            if word.text == "{" { depth += 1 }
            if word.text == "}" { depth -= 1 }
            // `class func` and the constraint `: class` declare no type.
            guard Self.keywords.contains(word.text), !word.isMember, next.text.first?.isUppercase == true else {
                continue
            }
            if depth == 0 {
                owner = next.text
                owners[file.path, default: []].insert(String(owner))
                if word.text != "extension" { topLevel[String(owner), default: []].insert(file.path) }
            } else {
                inner[file.path, default: []].insert(String(next.text))
                if depth == 1 { nested["\(owner).\(next.text)", default: []].insert(file.path) }
            }
        }
    }

    /// Paths of the files that declare what `word` means in `file`, behind `last`, and its name; nil when it is no type
    /// that is known, or one of the file's own.
    func meaning(of word: CodeFile.Word, behind last: CodeFile.Word?, in path: String) -> (String, Set<String>)? {
        if word.isMember {
            let name = "\(last?.text ?? "").\(word.text)"
            return nested[name].map { (name, $0) }
        }
        let name = String(word.text)
        if inner[path]?.contains(name) == true { return nil }
        for owner in owners[path] ?? [] {
            if let files = nested["\(owner).\(name)"] { return ("\(owner).\(name)", files) }
        }
        return topLevel[name].map { (name, $0) }
    }
}

/// A source file as words, without comments and strings.
struct CodeFile {
    /// An identifier or a brace.
    struct Word {
        var text: Substring
        var line: Int
        /// Whether it follows a full stop, as a member of something.
        var isMember: Bool
    }

    var path: String
    private(set) var words: [Word] = []

    /// The folder that the file is in, from the module on: `KymographCore/FHIR/Text`.
    var folder: String { path.split(separator: "/").dropFirst().dropLast().joined(separator: "/") }

    init(_ file: SourceFile) {
        path = file.path
        let code = CodeText.of(file.text)
        var bytes = code.utf8[...]
        var line = 1
        var last: UInt8 = 0
        while let byte = bytes.first {
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") || Self.isLetter(byte) {
                let end =
                    Self.isLetter(byte)
                    ? bytes.firstIndex { !Self.isLetter($0) } ?? bytes.endIndex
                    : bytes.index(after: bytes.startIndex)
                words.append(Word(text: Substring(bytes[..<end]), line: line, isMember: last == UInt8(ascii: ".")))
                last = byte
                bytes = bytes[end...]
            } else {
                if byte == 10 { line += 1 }
                if byte != 10, byte != 32 { last = byte }
                bytes.removeFirst()
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: byte >= 128
        }
    }
}
