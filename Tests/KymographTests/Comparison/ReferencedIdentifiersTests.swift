@testable import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// What References are to.
@Suite struct ReferencedIdentifiersTests {
    private func text(_ reference: String) throws -> IdentifierText {
        let node = try #require(JSONNode.answer(Array("{\"reference\":\"\(reference)\"}".utf8)))
        return ReferencedIdentifiers(side: "a").text(of: node)
    }

    /// An escape is two hexadecimal digits; everything else stays as it is, so that no two identifiers become one.
    @Test(arguments: [
        ("Patient?identifier=s%7Cp%C3%A9", "s|pé"), ("Patient?identifier=s|p%5", "s|p%5"),
        ("Patient?identifier=s|p%", "s|p%"), ("Patient?identifier=s|%+5p", "s|%+5p"),
        ("Patient?identifier=s|%zz", "s|%zz"),
    ])
    func escapes(reference: String, identifier: String) throws {
        #expect(try text(reference) == IdentifierText(identifier))
    }
}
