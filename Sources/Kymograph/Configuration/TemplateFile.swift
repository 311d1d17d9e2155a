import KymographCore
import KymographTemplates

/// A file that may hold one or both kinds of templates: a collection as such, or a resource of the MedTech service as
/// Azure exports it, with the collections somewhere in it (`properties.deviceMapping.content`,
/// `properties.fhirMapping.content` of a FHIR destination, and the default values of a deployment's parameters).
struct TemplateFile {
    let path: String
    private let bytes: [UInt8]
    /// nil when it is no JSON.
    private let root: JSONNode?

    /// Looks at `bytes`, the content of `path`.
    init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var log = DiagnosticLog(file: path)
        root = JSONNode.parse(bytes, log: &log)
    }

    /// The kind of templates that the whole file is; nil for exports and other files. A file that is no JSON, because
    /// of a mistake in it, is told by its text.
    var kind: TemplateKind? {
        guard let root else {
            // Other texts may quote templates.
            let first = bytes.first { $0 > 0x20 }
            guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
            return TemplateKind.allCases.first { bytes.contains(Array("\"\($0.templateType)".utf8)) }
        }
        return TemplateKind(root)
    }

    /// Whether it has templates of `kind`, or ought to: an export whose mapping is given elsewhere.
    func has(_ kind: TemplateKind) -> Bool {
        if let own = self.kind { return own == kind }
        return root.map { !collections(kind, $0).isEmpty || expression(kind, $0) != nil } ?? false
    }

    /// The templates of `kind`; nil when it has none. Those of an export are at their lines and columns, with blanks
    /// before them.
    ///
    /// - Throws: ``MappingFilesError`` when an export has several different ones, or names them by an expression.
    func content(_ kind: TemplateKind) throws(MappingFilesError) -> [UInt8]? {
        if let own = self.kind { return own == kind ? bytes : nil }
        guard let root else { return nil }
        let found = collections(kind, root)
        guard let first = found.first else {
            guard let (text, line) = expression(kind, root) else { return nil }
            throw .unresolvedExport(path: path, line: line, text: text)
        }
        if let second = found.dropFirst().first(where: { !JSONNode.areSame(first, $0) }) {
            throw .ambiguous(kind, first: place(of: first), second: place(of: second))
        }
        return alone(first)
    }

    private func place(of node: JSONNode) -> String { "\(path):\(node.position.line)" }

    /// Every collection of templates of `kind` within `node`, in file order.
    private func collections(_ kind: TemplateKind, _ node: JSONNode) -> [JSONNode] {
        if let own = TemplateKind(node) { return own == kind ? [node] : [] }
        let children = node.members?.map(\.node) ?? node.elements ?? []
        return children.flatMap { collections(kind, $0) }
    }

    /// What an export has in place of the templates of `kind`, such as `[parameters('deviceMapping')]`, and its line.
    private func expression(_ kind: TemplateKind, _ node: JSONNode) -> (text: String, line: Int)? {
        for member in node.members ?? [] {
            if kind.exportNames.contains(member.name.lowercased()),
                let content = member.node.members?.first(where: { $0.name.lowercased() == "content" })?.node,
                let text = content.string
            {
                return (text, content.position.line)
            }
        }
        for child in node.members?.map(\.node) ?? node.elements ?? [] {
            if let found = expression(kind, child) { return found }
        }
        return nil
    }

    /// The text of `node` at its place in the file, with blanks for what is before it; nil when it is no strict JSON.
    private func alone(_ node: JSONNode) -> [UInt8]? {
        let storage = PaddedBytes(copying: bytes)
        var scanner = JSONScanner(names: NameTable([]), limits: ScanLimits(depth: 128, values: 10_000_000))
        let start = node.position.offset
        guard let end = try? scanner.scan(storage.view, from: start) else { return nil }
        let feed = UInt8(ascii: "\n")
        return bytes[..<start].map { $0 == feed ? feed : UInt8(ascii: " ") } + bytes[start..<end]
    }
}
