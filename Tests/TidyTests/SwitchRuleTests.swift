import Testing

/// The rule finds what it is for.
@Suite struct SwitchRuleTests {
    private func complaints(_ text: String, _ path: String = "Sources/Kymograph/Bad.swift") -> [String] {
        let code = CodeText.of(text).split(separator: "\n", omittingEmptySubsequences: false)
        return SwitchRules.complaints(SourceFile(path: path, text: text), code)
    }

    @Test func findsADefaultOverAnEnumeration() {
        let text = """
            switch state {
            case .open: 1
            default: 2
            }
            """
        #expect(
            complaints(text) == [
                "Sources/Kymograph/Bad.swift:3: default in a switch over an enumeration: name its cases"
            ])
        #expect(complaints(text, "Tests/KymographTests/Good.swift").isEmpty)
        #expect(complaints(text, "Sources/Kymograph/Configuration/ConfigurationText.swift").isEmpty)
        #expect(
            complaints("switch state {\ncase .open: 1\ncase _: 2\n}") == [
                "Sources/Kymograph/Bad.swift:3: case _ in a switch over an enumeration: name its cases"
            ])
        #expect(complaints("switch (a, b) {\ncase (.open, 1): 1\ndefault: 2\n}").count == 1)
        #expect(complaints("switch a {\ncase let .open(b): b\ndefault: 2\n}").count == 1)
    }

    @Test func letsOthersBe() {
        #expect(complaints("switch byte {\ncase 0x20: 1\ndefault: 2\n}").isEmpty)
        #expect(complaints("switch byte {\ncase 0x20: 1\ncase _: 2\n}").isEmpty)
        // One with a condition takes some of them.
        #expect(complaints("switch state {\ncase .open: 1\ncase _ where isLate: 2\ncase .closed: 3\n}").isEmpty)
        #expect(complaints("switch state {\ncase .open: 1\ncase .closed: 2\n}").isEmpty)
        // The inner one has numbers, and the outer one no default.
        #expect(
            complaints(
                """
                switch state {
                case .open:
                    switch byte {
                    case 0x20: 1
                    default: 2
                    }
                case .closed: 3
                }
                """
            ).isEmpty)
        // One after another.
        #expect(
            complaints(
                """
                switch state {
                case .open: 1
                case .closed: 2
                }
                switch byte {
                case 0x20: 1
                default: 2
                }
                """
            ).isEmpty)
    }
}
