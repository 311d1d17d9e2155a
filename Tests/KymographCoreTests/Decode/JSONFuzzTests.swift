import Foundation
import KymographCore
import Testing
import TrialSupport

/// 100,000 documents that are almost JSON: no crash, and the same verdict as Foundation where both mean RFC 8259.
@Suite struct JSONFuzzTests {
    @Test(arguments: Trials.seeds(10)) func agreesWithFoundation(_ seed: UInt64) {
        var mutator = JSONMutator(random: WindowRandom(seed: seed))
        var compared = 0
        for round in 0..<10_000 {
            let document = mutator.next()
            let ours = ScanOutcome(document, names: ["a", "value"])
            let theirs = (try? JSONSerialization.jsonObject(with: Data(document), options: .fragmentsAllowed)) != nil
            if ours.isValid != theirs, isKnownException(document, ours) { continue }
            compared += 1
            let text = String(decoding: document, as: UTF8.self)
            #expect(ours.isValid == theirs, "seed \(seed), round \(round), \(ours): \(text) \(document)")
        }
        #expect(compared > 9_500, "seed \(seed)")
    }

    /// Where Foundation differs from RFC 8259, or sets a limit of its own.
    private func isKnownException(_ document: [UInt8], _ ours: ScanOutcome) -> Bool {
        switch ours {
        case .values: hasSurrogateEscape(document) || hasHugeExponent(document)
        case .refused(let reason, let offset):
            reason == .invalidJSON && (isGuessedAsUTF16(document) || isTrailingComma(document, offset))
        }
    }

    /// It refuses surrogates without a partner, which the grammar allows (section 8.2).
    private func hasSurrogateEscape(_ document: [UInt8]) -> Bool {
        String(decoding: document, as: UTF8.self).lowercased().contains("\\ud")
    }

    /// It refuses numbers that a Double cannot hold, which section 6 leaves to the reader.
    private func hasHugeExponent(_ document: [UInt8]) -> Bool {
        String(decoding: document, as: UTF8.self).contains(/[eE][+-]?[0-9]{3}/)
    }

    /// It takes zero bytes near the start, and a byte order mark, as a sign of another encoding.
    private func isGuessedAsUTF16(_ document: [UInt8]) -> Bool {
        document.prefix(4).contains(0) || document.starts(with: [0xEF, 0xBB, 0xBF])
    }

    /// It allows one comma before a closing bracket.
    private func isTrailingComma(_ document: [UInt8], _ offset: Int) -> Bool {
        guard offset < document.count, document[offset] == UInt8(ascii: "}") || document[offset] == UInt8(ascii: "]")
        else { return false }
        return document[..<offset].last { $0 > 0x20 } == UInt8(ascii: ",")
    }
}
