import Testing

/// The page that says what users of other systems find here.
@Suite struct ParityTests {
    @Test func everyRowIsTrue() throws {
        let page = try #require(try SourceTree.pages().first { $0.path == "docs/parity.md" })
        let tests = try TestIndex.all()
        #expect(ParityPage(page).features.count > 100 && tests.count > 300)
        let complaints = ParityRules.complaints(page, tests) + DocumentLinks.complaints(page)
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
    }
}

/// The rules find what they are for.
@Suite struct ParityRuleTests {
    private static let tests = TestIndex([
        SourceFile(
            path: "Tests/ATests.swift",
            text: "@Suite struct ATests {\n    @Test func works() {}\n    // func gone() {}\n}\n"),
        SourceFile(
            path: "Tests/BTests.swift",
            text: "struct BTests {\n    @Test(arguments: [1]) func other(a: Int) {}\n}\n"),
    ])

    /// A page with a system in lines 6 to 8, and its rows behind them.
    private func page(_ counts: String, _ rows: [String]) -> SourceFile {
        let text = """
            # Page
            | system | works | partly | absent | not built | read first |
            | --- | --- | --- | --- | --- | --- |
            | [One](#one) | \(counts) | [here](metrics.md) |
            | all | \(counts) | |
            ## One
            | feature | here | state | test |
            | --- | --- | --- | --- |

            """
        return SourceFile(path: "docs/page.md", text: text + rows.map { "| \($0) |\n" }.joined())
    }

    private func complaints(_ page: SourceFile) -> [String] {
        ParityRules.complaints(page, Self.tests) + DocumentLinks.complaints(page)
    }

    @Test func isSilentOnWhatIsTrue() {
        let rows = [
            "a | [b](configuration.md#sinks) | works | `ATests/works`, `BTests/other`",
            "a | [b](#one) | partly: the rest | `ATests/works`", "a | – | absent | –",
            "a | [b](https://nowhere.example/#x) | not built: it has no screen | –",
        ]
        #expect(complaints(page("1 | 1 | 1 | 1", rows)) == [])
    }

    @Test func findsWrongRows() {
        let advice = "write works, partly: WHAT IS MISSING, absent, or not built: WHY"
        let rows = [
            ("a | b | done | `ATests/works`", "'done' is no state; \(advice)"),
            ("a | b | partly: | `ATests/works`", "'partly:' is no state; \(advice)"),
            ("a | b | works: all | `ATests/works`", "'works: all' is no state; \(advice)"),
            ("a | b | works | ATests/works", "works, and no test is named"),
            ("a | b | works | `ATests/works`, `CTests/works`", "there is no suite CTests in Tests"),
            ("a | b | works | `ATests/gone`", "ATests has no function gone"),
            ("a | b | partly: c | `ATests/other`", "ATests has no function other"),
            ("a | b | works | `works`", "'works' is no test; write Suite/function"),
            ("a | b | works", "3 cells; write feature, here, state and test"),
        ]
        let expected = rows.enumerated().map { "docs/page.md:\($0 + 9): \($1.1)" }
        #expect(complaints(page("5 | 1 | 0 | 0", rows.map { $0.0 })) == expected)
    }

    @Test func findsWrongNumbers() {
        let found = complaints(page("2 | 0 | 0 | 0", ["a | b | absent | –"]))
        #expect(
            found == [
                "docs/page.md:4: the numbers of One are 0 | 0 | 1 | 0",
                "docs/page.md:5: the numbers of all are 0 | 0 | 1 | 0",
            ])
        let other = page("0 | 0 | 1 | 0", ["a | b | absent | –"])
        let renamed = SourceFile(path: other.path, text: other.text.replacing("## One", with: "## Two"))
        #expect(
            complaints(renamed) == [
                "docs/page.md:1: the first table has no row of Two",
                "docs/page.md:4: the numbers of One are 0 | 0 | 0 | 0", "docs/page.md:4: there is no #one",
            ])
    }

    @Test func findsDeadLinks() {
        let rows = [
            "a | [b](nowhere.md) | absent | –", "a | [b](metrics.md#nowhere), [c](metrics.md) | absent | –",
            "a | [b](nowhere.md#x) | absent | –", "a | [b](#two) | absent | –",
        ]
        #expect(
            complaints(page("0 | 0 | 4 | 0", rows)) == [
                "docs/page.md:9: there is no nowhere.md", "docs/page.md:10: there is no metrics.md#nowhere",
                "docs/page.md:11: there is no nowhere.md#x", "docs/page.md:12: there is no #two",
            ])
    }

    @Test func headingsArePlaces() {
        let text = "# A page: of `code`\n\n## Values_1\n```\n# no heading\n```\n### Values_1\n#none\n"
        #expect(DocumentLinks.anchors(of: text) == ["a-page-of-code", "values_1", "values_1-1"])
    }
}
