import KymographCore
package import KymographTemplates

/// A mapping as it is loaded, with what it extends, and where what differs from that comes from.
package struct MergedMapping: Sendable {
    /// What messages call the mapping.
    private let name: String
    /// The device templates and the FHIR templates; both are there when nothing is wrong.
    private let files: [MergedFile]
    /// Errors and warnings of loading it.
    package let diagnostics: [Diagnostic]
    /// Whether it can be loaded.
    package let isGood: Bool

    /// The mapping called `name`: of the catalogue, or a folder.
    ///
    /// - Throws: ``MappingFilesError`` when there is no such mapping, or it cannot be read.
    package init(named name: String) throws(MappingFilesError) {
        let files = try MappingCatalogue.resolve(name, withExamples: false)
        let loaded = MappingSelection.load([files], compatibility: .none)
        diagnostics = loaded.diagnostics
        isGood = loaded.set != nil
        self.name = name
        self.files = Self.merged(files)
    }

    /// The mapping of `reference`, which was found good when it was loaded.
    ///
    /// - Throws: ``MappingFilesError`` when it cannot be read any more.
    private init(_ reference: MappingReference) throws(MappingFilesError) {
        (name, diagnostics, isGood) = (reference.name, [], true)
        files = Self.merged(try reference.files(withExamples: false))
    }

    /// Of the mappings that sources of `settings` use, those that extend others: in the order in which they are named,
    /// each once. For settings whose mappings have been checked and are good.
    ///
    /// - Throws: ``MappingFilesError`` when one cannot be read any more.
    package static func extending(in settings: PipelineSettings) throws(MappingFilesError) -> [MergedMapping] {
        var seen: Set<MappingReference> = []
        var found: [MergedMapping] = []
        let references = settings.listeningSources.flatMap { settings.references(of: $0) }
        for reference in references where seen.insert(reference).inserted {
            let mapping = try MergedMapping(reference)
            if mapping.files.contains(where: { $0.base != nil }) { found.append(mapping) }
        }
        return found
    }

    private static func merged(_ files: MappingFiles) -> [MergedFile] {
        let mapping = MappingSelection.named(files)
        // What is wrong was found when it was loaded.
        var log = DiagnosticLog(file: files.name)
        let parts: [(file: MappingFile?, kind: MappingExtension.Kind)] = [
            (mapping.device, .device), (mapping.fhir, .fhir),
        ]
        return parts.compactMap { part in
            part.file.flatMap { MergedFile($0, part.kind, mapping.extensible, log: &log) }
        }
    }

    /// Both files for people: JSON with a comment at each member that is not the other mapping's. Mappings may have
    /// comments, so each of the two can be used as a file (with a warning).
    package var text: String { files.map { MergedFileText(of: $0).text }.joined(separator: "\n") }

    /// Both files for programs: `{"files": [{"file", "extends", "from", "changes": [{"change", "pointer", "line",
    /// "column", "was": {"line", "column"}}], "merged"}]}`, with layout. `extends` and `from` are absent where a file
    /// extends nothing, and `was` of what is added.
    package var json: [UInt8] {
        PrettyJSON.format(Array("{\(filesMember)}".utf8))
    }

    /// The same with the mapping's name, `{"mapping", "files"}`, to stand in another document.
    package var named: String { "{\"mapping\":\(JSONText.quoted(name)),\(filesMember)}" }

    private var filesMember: String { "\"files\":[\(files.map(Self.object).joined(separator: ","))]" }

    private static func object(_ file: MergedFile) -> String {
        var members = ["\"file\":\(JSONText.quoted(file.name))"]
        if let base = file.base {
            members.append("\"extends\":\(JSONText.quoted(base))")
            members.append("\"from\":\(JSONText.quoted(file.baseFile))")
        }
        members.append("\"changes\":[\(file.changes.map(object).joined(separator: ","))]")
        members.append("\"merged\":\(file.merged.jsonText)")
        return "{\(members.joined(separator: ","))}"
    }

    private static func object(_ change: MergedFile.Change) -> String {
        let was = change.former.map { ",\"was\":{\(place($0))}" } ?? ""
        return "{\"change\":\"\(change.kind.rawValue)\",\"pointer\":\(JSONText.quoted(change.pointer)),"
            + "\(place(change.position))\(was)}"
    }

    private static func place(_ position: SourcePosition) -> String {
        "\"line\":\(position.line),\"column\":\(position.column)"
    }
}

/// Lays a merged file out.
private struct MergedFileText {
    private let file: MergedFile
    /// Changes by their places.
    private let marks: [String: MergedFile.Change]
    /// What is removed, by the place of the object that it was in.
    private let removed: [String: [MergedFile.Change]]
    private(set) var text = ""

    init(of file: MergedFile) {
        self.file = file
        let stays = file.changes.filter { $0.kind != .removed }
        marks = Dictionary(stays.map { ($0.pointer, $0) }) { _, last in last }
        removed = Dictionary(grouping: file.changes.filter { $0.kind == .removed }) { Self.parent($0.pointer) }
        text =
            file.base.map {
                "// \(file.name) extends \($0): what is not marked is that of \(file.baseFile).\n"
            } ?? "// \(file.name) extends no mapping.\n"
        append(file.merged, at: "", level: 0)
        text += "\n"
    }

    private static func parent(_ pointer: String) -> String {
        pointer.lastIndex(of: "/").map { String(pointer[..<$0]) } ?? ""
    }

    private mutating func append(_ node: JSONNode, at pointer: String, level: Int, tail: String = "") {
        switch node.value {
        case .object(let members):
            open("{", at: pointer)
            for (index, member) in members.enumerated() {
                let place = "\(pointer)/\(member.name.pointerToken)"
                line(level + 1, "\(JSONText.quoted(member.name)): ")
                append(member.node, at: place, level: level + 1, tail: index + 1 < members.count ? "," : "")
            }
            for change in removed[pointer] ?? [] {
                line(level + 1, "// \(change.pointer.dropFirst(pointer.count + 1)) is removed: \(origin(change))")
            }
            close("}\(tail)", level)
        case .array(let elements):
            open("[", at: pointer)
            for (index, element) in elements.enumerated() {
                line(level + 1, "")
                append(
                    element, at: "\(pointer)/\(index)", level: level + 1,
                    tail: index + 1 < elements.count ? "," : "")
            }
            close("]\(tail)", level)
        case .string, .number, .bool, .null:
            text += "\(node.jsonText)\(tail)\(mark(pointer))"
        }
    }

    private mutating func open(_ bracket: String, at pointer: String) { text += "\(bracket)\(mark(pointer))" }

    private mutating func close(_ bracket: String, _ level: Int) { line(level, bracket) }

    private mutating func line(_ level: Int, _ start: String) {
        text += "\n\(String(repeating: " ", count: 2 * level))\(start)"
    }

    private func mark(_ pointer: String) -> String { marks[pointer].map { "  // \(origin($0))" } ?? "" }

    private func origin(_ change: MergedFile.Change) -> String {
        let own = "\(file.name):\(change.position.line):\(change.position.column)"
        guard let former = change.former else { return own }
        return "\(own), was \(file.baseFile):\(former.line):\(former.column)"
    }
}
