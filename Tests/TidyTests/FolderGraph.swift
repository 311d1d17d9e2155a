/// Which folders of the sources use types of which others.
struct FolderGraph {
    /// The use of a type of another folder.
    struct Reference: Equatable {
        var from: String
        var to: String
        /// The type that is used, and where.
        var type: String
        var place: String
    }

    /// One for each file and type, in the order of the files.
    private(set) var references: [Reference] = []
    /// Folders with files.
    private(set) var folders: Set<String> = []

    /// Reads `files` and finds the uses of types that one of them declares; a name that two modules declare is the
    /// own module's.
    ///
    /// Seen are names of types. What only calls a method of an extension in another folder is not seen.
    init(of files: [SourceFile]) {
        let code = files.map(CodeFile.init)
        var declarations = TypeDeclarations()
        for file in code {
            declarations.note(file)
            folders.insert(file.folder)
        }
        for file in code { note(file, declarations) }
    }

    private mutating func note(_ file: CodeFile, _ declarations: TypeDeclarations) {
        var seen: Set<String> = []
        var last: CodeFile.Word?
        for word in file.words {
            defer { last = word }
            guard word.text.first?.isUppercase == true,
                let (name, files) = declarations.meaning(of: word, behind: last, in: file.path),
                seen.insert(name).inserted
            else { continue }
            note(name, at: "\(file.path):\(word.line)", in: file, declaredBy: files)
        }
    }

    private mutating func note(_ name: String, at place: String, in file: CodeFile, declaredBy files: Set<String>) {
        let module = file.path.split(separator: "/").prefix(2).joined(separator: "/") + "/"
        let own = files.filter { $0.hasPrefix(module) }
        let homes = Set((own.isEmpty ? files : own).map { $0.split(separator: "/").dropFirst().dropLast() })
            .map { $0.joined(separator: "/") }
        guard !homes.contains(file.folder) else { return }
        for home in homes.sorted() {
            references.append(Reference(from: file.folder, to: home, type: name, place: place))
        }
    }

    /// What each folder uses of others.
    var uses: [String: Set<String>] {
        var uses: [String: Set<String>] = [:]
        for reference in references { uses[reference.from, default: []].insert(reference.to) }
        return uses
    }

    /// The circles of `uses`: sets of more than one folder each of which leads to all others.
    static func circles(_ uses: [String: Set<String>]) -> [[String]] {
        var reached: [String: Set<String>] = [:]
        for folder in uses.keys {
            var found: Set<String> = []
            var open = Array(uses[folder] ?? [])
            while let next = open.popLast() { if found.insert(next).inserted { open += uses[next] ?? [] } }
            reached[folder] = found
        }
        let inCircles = uses.keys.filter { reached[$0]?.contains($0) == true }.sorted()
        var circles: [[String]] = []
        for folder in inCircles where !circles.contains(where: { $0.contains(folder) }) {
            circles.append(
                inCircles.filter { reached[folder]?.contains($0) == true && reached[$0]?.contains(folder) == true })
        }
        return circles
    }
}
