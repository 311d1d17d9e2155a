import Testing

/// The pages by which a hospital judges what is done for security.
@Suite struct ThreatTests {
    @Test func everyThreatHasItsAnswer() throws {
        let page = try #require(try SourceTree.pages().first { $0.path == "docs/threat-model.md" })
        let tests = try TestIndex.all()
        #expect(ParityPage(page).features.count > 50)
        let complaints = ThreatRules.complaints(page, tests) + DocumentLinks.complaints(page)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }

    @Test func answersNameTestsThatAreThere() throws {
        let page = try #require(try SourceTree.pages().first { $0.path == "docs/mds2.md" })
        let complaints =
            ThreatRules.complaints(aboutTestsOf: page, try TestIndex.all()) + DocumentLinks.complaints(page)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }

    @Test func wrongRowsAreFound() {
        let tests = TestIndex([
            SourceFile(path: "Tests/ATests.swift", text: "@Suite struct ATests {\n    @Test func works() {}\n}\n")
        ])
        let rows = [
            "S | a | b | `ATests/works`", "T | a | b | `ATests/gone`", "X | a | b | `ATests/works`", "R | a | b | –",
            "I | a | b | accepted: so", "D | a | b | accepted: it is what the network gives, and no more",
        ]
        let text = "# Page\n## Flow\n| | a | b | c |\n| --- | --- | --- | --- |\n" + rows.map { "| \($0) |\n" }.joined()
        let page = SourceFile(path: "p.md", text: text)
        #expect(
            ThreatRules.complaints(page, tests) == [
                "p.md:6: ATests has no function gone",
                "p.md:7: write a letter of STRIDE, the threat, the answer, and what shows it",
                "p.md:8: name a test, or write accepted: WHY", "p.md:9: say why it is accepted",
                "p.md: Flow has no row of E",
            ])
        #expect(
            ThreatRules.complaints(aboutTestsOf: page, tests) == ["p.md:6: ATests has no function gone"])
    }
}
