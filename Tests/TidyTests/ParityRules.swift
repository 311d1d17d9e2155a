/// What must be true of `docs/parity.md`.
enum ParityRules {
    private struct Complaint {
        var line: Int
        var text: String
    }

    /// What is wrong, as `path:line: …`, in the order of lines.
    static func complaints(_ file: SourceFile, _ tests: TestIndex) -> [String] {
        let page = ParityPage(file)
        let found = page.features.flatMap { complaints($0.row, tests) } + counts(page)
        return found.sorted { $0.line < $1.line }.map { "\(file.path):\($0.line): \($0.text)" }
    }

    private static func complaints(_ row: ParityPage.Row, _ tests: TestIndex) -> [Complaint] {
        guard row.cells.count == 4 else {
            return [Complaint(line: row.line, text: "\(row.cells.count) cells; write feature, here, state and test")]
        }
        let (word, named) = (row.cells[2], row.cells[3].matches(of: /`([^`]*)`/).map { String($0.1) })
        guard let state = ParityPage.State(cell: word) else {
            let advice = "write works, partly: WHAT IS MISSING, absent, or not built: WHY"
            return [Complaint(line: row.line, text: "'\(word)' is no state; \(advice)")]
        }
        if state.isShown, named.isEmpty {
            return [Complaint(line: row.line, text: "\(state.rawValue), and no test is named")]
        }
        return named.compactMap { tests.complaint(about: $0) }.map { Complaint(line: row.line, text: $0) }
    }

    /// The numbers of the first table against the rows of the others.
    private static func counts(_ page: ParityPage) -> [Complaint] {
        let names = page.counts.map { name(of: $0) }
        let wrong = zip(page.counts, names).compactMap { row, name -> Complaint? in
            let found = numbers(page, of: name)
            guard found != Array(row.cells[1...found.count]) else { return nil }
            return Complaint(line: row.line, text: "the numbers of \(name) are \(found.joined(separator: " | "))")
        }
        let missing = Set(page.features.map { $0.system } + ["all"]).subtracting(names)
        return wrong + missing.sorted().map { Complaint(line: 1, text: "the first table has no row of \($0)") }
    }

    /// The name of a row of numbers, which may be a link.
    private static func name(of row: ParityPage.Row) -> String {
        row.cells[0].wholeMatch(of: /\[(.*)\]\(.*\)/).map { String($0.1) } ?? row.cells[0]
    }

    /// How many rows of a system, or of `all`, have each state.
    private static func numbers(_ page: ParityPage, of name: String) -> [String] {
        let rows = page.features.filter { name == "all" || $0.system == name }.map { $0.row }
        let states = rows.compactMap { row in row.cells.count > 2 ? ParityPage.State(cell: row.cells[2]) : nil }
        return ParityPage.State.allCases.map { state in "\(states.count { $0 == state })" }
    }
}
