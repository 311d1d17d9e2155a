/// What must be true of `docs/threat-model.md` and of tests that pages name.
enum ThreatRules {
    /// Spoofing, tampering, repudiation, information disclosure, denial of service, elevation of privilege.
    private static let letters = ["S", "T", "R", "I", "D", "E"]

    /// What is wrong with the threats, as `path:line: …`.
    static func complaints(_ file: SourceFile, _ tests: TestIndex) -> [String] {
        let page = ParityPage(file)
        let rows = page.features.flatMap { complaints($0.row, tests, file.path) }
        return rows + missing(page, file.path)
    }

    private static func complaints(_ row: ParityPage.Row, _ tests: TestIndex, _ path: String) -> [String] {
        let place = "\(path):\(row.line): "
        guard row.cells.count == 4, letters.contains(row.cells[0]) else {
            return ["\(place)write a letter of STRIDE, the threat, the answer, and what shows it"]
        }
        let shown = row.cells[3]
        if shown.hasPrefix("accepted: ") { return shown.count > 30 ? [] : ["\(place)say why it is accepted"] }
        let named = names(in: shown)
        if named.isEmpty { return ["\(place)name a test, or write accepted: WHY"] }
        return named.compactMap { tests.complaint(about: $0) }.map { place + $0 }
    }

    /// Letters that a flow does not have.
    private static func missing(_ page: ParityPage, _ path: String) -> [String] {
        let flows = Dictionary(grouping: page.features, by: \.system)
        return flows.sorted { $0.key < $1.key }.flatMap { flow, rows in
            letters.filter { letter in !rows.contains { $0.row.cells.first == letter } }
                .map { "\(path): \(flow) has no row of \($0)" }
        }
    }

    /// Tests that a page names as `Suite/function` and that are not there.
    static func complaints(aboutTestsOf file: SourceFile, _ tests: TestIndex) -> [String] {
        file.lines.enumerated().flatMap { number, line in
            names(in: String(line)).filter { $0.contains(/^[A-Za-z]+Tests\//) }
                .compactMap { tests.complaint(about: $0) }.map { "\(file.path):\(number + 1): \($0)" }
        }
    }

    private static func names(in text: String) -> [String] { text.matches(of: /`([^`]*)`/).map { String($0.1) } }
}
