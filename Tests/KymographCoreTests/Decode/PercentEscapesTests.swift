import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Escapes of URLs and forms.
@Suite struct PercentEscapesTests {
    private func lenient(_ text: String, plusIsBlank: Bool = false) -> String {
        String(decoding: PercentEscapes.decoded(Array(text.utf8)[...], plusIsBlank: plusIsBlank), as: UTF8.self)
    }

    private func strict(_ text: String, plusIsBlank: Bool = false) -> [UInt8]? {
        PercentEscapes.strictlyDecoded(Array(text.utf8)[...], plusIsBlank: plusIsBlank)
    }

    @Test func escapesAreTwoDigits() {
        #expect(lenient("") == "" && lenient("a%20b%C3%a9") == "a bé")
        #expect(strict("a%20b%C3%a9") == Array("a bé".utf8) && strict("") == [])
        #expect(strict("%00%fF%25") == [0, 255, 0x25])
        // A sign is no digit, and an escape is not read again.
        for text in ["%", "%4", "%zz", "%+1", "%-0", "%4%41", "a%", "%\u{301}41"] {
            #expect(strict(text) == nil, "\(text)")
        }
        #expect(lenient("%") == "%" && lenient("%4") == "%4" && lenient("%+1") == "%+1")
        #expect(lenient("%4%41") == "%4A" && lenient("%2541") == "%41")
    }

    @Test func aPlusSignIsABlankInForms() {
        #expect(lenient("a+b%2B") == "a+b+" && lenient("a+b%2B", plusIsBlank: true) == "a b+")
        #expect(strict("a+b%2B").map { $0 == Array("a+b+".utf8) } == true)
        #expect(strict("a+b%2B", plusIsBlank: true).map { $0 == Array("a b+".utf8) } == true)
    }

    /// Whatever was escaped comes back, and what is strictly right is the same when it is read leniently.
    @Test func whatIsEscapedComesBack() {
        for seed in Trials.seeds(200) {
            var random = SeededGenerator(seed: seed)
            let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let text = bytes.flatMap { byte -> [UInt8] in
                if Bool.random(using: &random), byte != UInt8(ascii: "%") { return [byte] }
                let digits = String(byte, radix: 16, uppercase: Bool.random(using: &random))
                return Array("%\(byte < 16 ? "0" : "")\(digits)".utf8)
            }
            #expect(PercentEscapes.strictlyDecoded(text[...]) == bytes, "seed \(seed)")
            #expect(PercentEscapes.decoded(text[...]) == bytes, "seed \(seed)")
        }
    }
}
