import Testing

/// The rule finds what it is for.
@Suite struct ThrowRuleTests {
    @Test func findsWhatDoesNotSayWhatItThrows() {
        func complaints(_ text: String, _ path: String = "Sources/Kymograph/Bad.swift") -> Int {
            let code = CodeText.of(text).split(separator: "\n", omittingEmptySubsequences: false)
            return ThrowRules.complaints(SourceFile(path: path, text: text), code).count
        }
        #expect(complaints("/// Reads.\npackage func read() throws {}") == 1)
        #expect(complaints("/// Reads.\n@inlinable\npublic init(\n    a: Int\n) async throws(E) {}") == 1)
        #expect(
            complaints("/// Reads.\n///\n/// - Throws: `E` when there is none.\n@inlinable\npublic init() throws {}")
                == 0)
        #expect(complaints("/// Reads. Throws what `body` throws.\npackage func read() throws {}") == 0)
        #expect(complaints("/// Reads.\nfunc read() throws {}") == 0)
        #expect(complaints("/// Reads.\npackage func read(_ body: () throws -> Void) -> Int { 1 }") == 0)
        #expect(complaints("/// Reads.\npackage func read() throws {}", "Sources/KymographCore/Bad.swift") == 1)
        #expect(complaints("/// Reads.\npackage func read() throws {}", "Sources/EmbedMappingsPlugin/A.swift") == 0)
    }
}
