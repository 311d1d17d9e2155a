import Kymograph
import Testing

/// Identifiers that the configuration states must be ones that a reading could have.
@Suite struct DefaultIdentifierTests {
    private static let advice = "write it in UTF-8 without control characters, as readings that name their own have it"

    @Test(arguments: ["defaultDevice", "defaultPatient"]) func refusesWhatNoReadingMayHave(_ key: String) {
        for text in [#""a\u0000""#, #""a\tb""#, #""\u007f""#, #""\u0085""#] {
            #expect(
                messages("sources:\n- stdin: true\n  \(key): \(text)") == [
                    "kymo.yaml:3:\(key.count + 5): error: sources[0].\(key): the identifier holds a control character; "
                        + DefaultIdentifierTests.advice
                ], "\(text)")
        }
        #expect(messages("sources:\n- stdin: true\n  \(key): \"é 1\"") == [])
    }

    /// What the system hands on in place of bytes that are not UTF-8.
    @Test func refusesWhatWasNotUTF8() {
        let texts = messages("sources:\n- stdin: true\n  defaultDevice: a\u{FFFD}")
        #expect(texts.count == 1 && texts.allSatisfy { $0.contains("the identifier is not UTF-8, or holds U+FFFD") })
    }

    @Test func refusesTheDeviceOfACapture() {
        let texts = messages("sources:\n- stdin: true\n  framing: \"capture,device=a\\u0007\"")
        #expect(texts.count == 1 && texts.allSatisfy { $0.contains("the identifier holds a control character") })
    }
}
