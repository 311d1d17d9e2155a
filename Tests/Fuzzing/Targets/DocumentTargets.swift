@testable import Kymograph
@testable import KymographCore
@testable import KymographTemplates
import KymographTestKit

/// Readers of JSON documents.
extension FuzzTarget {
    static let documents = [
        FuzzTarget(name: "json", longest: 4_096, run: json),
        FuzzTarget(name: "lenient-json", longest: 4_096, run: lenientJSON),
    ]

    /// The scanner says the same of a document whatever it looks for, has seen before and lies behind it, and the same
    /// as a parser that is written for tests.
    private static func json(_ bytes: [UInt8]) {
        let plain = ScanVerdict(bytes)
        let named = ScanVerdict(bytes, names: ["a", "value", "deviceId", "timestamp", "type", "heartRate"], times: 3)
        demand(plain == named, "with names: \(named), without: \(plain)")
        let followed = ScanVerdict(bytes, tail: Array("0]}\"e1,".utf8))
        demand(plain == followed, "with bytes behind it: \(followed), without: \(plain)")
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        // Surrogates without a partner are left to the reader (RFC 8259, section 8.2).
        guard plain.failure?.reason != .tooDeep, !text.contains("\\ud") else { return }
        let isTree = (try? JSONTree(parsing: bytes)) != nil
        demand(isTree == (plain.failure == nil), "the parser of tests takes it: \(isTree), the scanner: \(plain)")
        roundTrip(bytes)
    }

    /// What the reader of files has made of a document is the same when it is written and read again.
    private static func roundTrip(_ bytes: [UInt8]) {
        guard let node = JSONNode.answer(bytes) else { return }
        let text = node.jsonText
        let again = JSONNode.answer(Array(text.utf8))
        demand(again?.jsonText == text, "\(text) becomes \(again?.jsonText ?? "nothing")")
    }

    /// What is rewritten has no extras any more, each place of it comes from one of the document, and what is JSON is
    /// left as it is.
    private static func lenientJSON(_ bytes: [UInt8]) {
        var lenient = LenientJSON()
        var writer = ByteWriter()
        let storage = PaddedBytes(copying: bytes)
        do throws(ScanFailure) {
            let end = try lenient.rewrite(storage.view, into: &writer)
            demand(end <= bytes.count, "the document ends at \(end)")
            for place in 0..<writer.count {
                demand((0...bytes.count).contains(lenient.original(place)), "byte \(place) is of no place")
            }
        } catch {
            demand((0...bytes.count).contains(error.offset), "fails at \(error.offset)")
            // It reads one level more than the scan.
            demand(ScanVerdict(bytes).failure != nil || error.reason == .tooDeep, "refuses JSON: \(error)")
            return
        }
        let strict = writer.view.array
        guard ScanVerdict(strict).failure == nil else { return }
        var again = LenientJSON()
        var second = ByteWriter()
        let rewritten = PaddedBytes(copying: strict)
        let end = try? again.rewrite(rewritten.view, into: &second)
        demand(end == strict.count && second.view.array == strict, "it is not settled: \(writer.view.string)")
        demand(LenientJSON.Extra.allCases.allSatisfy { again.first($0) == nil }, "extras: \(writer.view.string)")
    }
}

/// What the scanner says about a document.
struct ScanVerdict: Equatable {
    var values = 0
    var failure: ScanFailure?

    /// Scans `document`, with `tail` in memory behind it, `times` times with one scanner.
    init(_ document: [UInt8], tail: [UInt8] = [], names: [String] = [], times: Int = 1) {
        let storage = PaddedBytes(copying: document + tail)
        var validator = JSONValidator(names: names)
        var former: ScanVerdict?
        for _ in 0..<times {
            do throws(ScanFailure) {
                (values, failure) = (try validator.validate(storage.view(0..<document.count)), nil)
            } catch {
                (values, failure) = (0, error)
            }
            demand(former == nil || former == self, "once \(String(describing: former)), then \(self)")
            former = self
        }
    }
}
