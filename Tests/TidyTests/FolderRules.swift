/// Compares what folders use with what they may use.
enum FolderRules {
    /// What is wrong with the folders of `table`'s module, and with the table.
    static func complaints(_ graph: FolderGraph, _ table: AllowedImports) -> [String] {
        let folders = graph.folders.compactMap { name(of: $0, in: table.module) }
        let uses = graph.references.compactMap { reference -> Use? in
            guard let from = name(of: reference.from, in: table.module),
                let to = name(of: reference.to, in: table.module)
            else { return nil }
            return Use(from: from, to: to, reference: reference)
        }
        return folderComplaints(Set(folders), table) + useComplaints(uses, table) + staleComplaints(uses, table)
            + orderComplaints(table)
    }

    private struct Use {
        var from: String
        var to: String
        var reference: FolderGraph.Reference
    }

    /// The folder within `module`; the module's own folder is called `.`.
    private static func name(of folder: String, in module: String) -> String? {
        if folder == module { return "." }
        return folder.hasPrefix(module + "/") ? String(folder.dropFirst(module.count + 1)) : nil
    }

    private static func folderComplaints(_ folders: Set<String>, _ table: AllowedImports) -> [String] {
        let known = Set(table.rows.map(\.folder))
        return folders.subtracting(known).sorted().map { "\(table.module): \($0) is not in the table" }
            + known.subtracting(folders).sorted().map { "\(table.module): there is no folder \($0) any more" }
    }

    private static func useComplaints(_ uses: [Use], _ table: AllowedImports) -> [String] {
        let allowed = table.rows.reduce(into: [String: [String]]()) { $0[$1.folder] = $1.uses }
        return uses.filter { allowed[$0.from]?.contains($0.to) != true }.map {
            "\($0.reference.place): \($0.from) may not use \($0.reference.type) of \($0.to)"
        }
    }

    private static func staleComplaints(_ uses: [Use], _ table: AllowedImports) -> [String] {
        let isUsed = { (from: String, to: String) in uses.contains { $0.from == from && $0.to == to } }
        let rows = table.rows.flatMap { row in row.uses.filter { !isUsed(row.folder, $0) }.map { (row.folder, $0) } }
        return rows.map { "\(table.module): \($0.0) no longer uses \($0.1): take it out of the table" }
    }

    /// Rows that use a folder that is not above them, as every circle has one.
    private static func orderComplaints(_ table: AllowedImports) -> [String] {
        var above: Set<String> = []
        var found: [String] = []
        for row in table.rows {
            for use in row.uses where !above.contains(use) { found.append("\(row.folder) stands above \(use)") }
            above.insert(row.folder)
        }
        return found.map { "\(table.module): \($0)" }
    }

    /// The circles of `graph`, each with the references that close it: those to a folder that `table` has further down.
    static func circles(_ graph: FolderGraph, _ table: AllowedImports) -> String {
        let ranks = table.rows.enumerated().reduce(into: [String: Int]()) { ranks, row in
            ranks["\(table.module)/\(row.element.folder)"] = row.offset
        }
        let uses = graph.uses.filter { $0.key.hasPrefix(table.module + "/") }
        return FolderGraph.circles(uses).map { circle in
            let closing = graph.references.filter { reference in
                guard circle.contains(reference.from), circle.contains(reference.to) else { return false }
                return (ranks[reference.from] ?? 0) < (ranks[reference.to] ?? 0)
            }
            return "circle of \(circle.joined(separator: ", ")), closed by\n"
                + closing.map { "  \($0.place): \($0.type) of \($0.to)" }.joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
