@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// JSON documents over several lines.
@Suite struct DocumentStreamTests {
    private func read(_ text: String, cap: Int = 1 << 20, ending: StreamEnding = .ended) -> StreamReading {
        var generator = SeededGenerator(seed: Trials.seed(UInt64(text.utf8.count)))
        return StreamReading(.documents, Array(text.utf8), cap: cap, ending: ending, &generator)
    }

    @Test func eachDocumentIsAPayload() {
        let text = "\u{FEFF}{\n  \"a\": \"}\\\"{\"\n}\n{\"b\":[1,{}]}{\"c\":3}\n\n  {\"d\":\n4}"
        let reading = read(text)
        #expect(
            reading.payloads == ["{\n  \"a\": \"}\\\"{\"\n}", "{\"b\":[1,{}]}", "{\"c\":3}", "{\"d\":\n4}"])
        #expect(reading.reasons.isEmpty)
    }

    @Test func elementsOfAnArrayArePayloads() {
        let reading = read("[\n  {\"a\": [1, 2]},\n  [{\"b\": 2}],\n  {}\n]\n[{\"c\": 3}]")
        #expect(reading.payloads == ["{\"a\": [1, 2]}", "[{\"b\": 2}]", "{}", "{\"c\": 3}"] && reading.reasons.isEmpty)
    }

    /// What is cut off is told, also between the elements of an array.
    @Test(arguments: ["[{\"a\":1},\n", "[\n{\"a\":1}", "{\"a\":1}{\"b\":", "{\"a\":1}\n{\"b\":\"x"])
    func anEndThatIsMissingIsRejected(text: String) {
        let reading = read(text)
        #expect(reading.payloads == ["{\"a\":1}"] && reading.reasons == [.frameIncomplete])
        #expect(read(text, ending: .cut(.shutdown)).reasons == [.shutdown])
    }

    /// A document that is cut takes what is left of it along, and no other.
    @Test(arguments: [
        ("{\n \"a\": 1,\n{\n \"b\": 2\n}\n", ["{\n \"b\": 2\n}"]),
        ("{\n \"a\": \"x\n{\n \"b\": 2\n}\n", ["{\n \"b\": 2\n}"]),
        ("{\n \"a\": [1}\n{\n \"b\": 2\n}\n", ["{\n \"b\": 2\n}"]),
        ("{\n \"a\": 1\n}}\n{\n \"b\": 2\n}\n", ["{\n \"b\": 2\n}"]),
        ("{\n \"a\": 1\n}\n}\n{\n \"b\": 2\n}\n", ["{\n \"a\": 1\n}", "{\n \"b\": 2\n}"]),
        ("[\n {\"a\": 1},\n {\"x\": ,\n {\"b\": 2}\n]\n", ["{\"a\": 1}", "{\"b\": 2}"]),
        // A nested document that begins a line as documents do may be of another device than it says.
        ("{\"a\":[\n{\"b\":1}\n]}\n{\"c\":2,\n{\"d\":3}\n", ["{\"a\":[\n{\"b\":1}\n]}"]),
    ])
    func aBrokenDocumentIsRejected(text: String, expected: [String]) {
        let reading = read(text)
        #expect(reading.payloads == expected && reading.reasons == [.frameMalformed], "\(reading.consumer.rejects)")
    }

    @Test func aLongDocumentIsRejected() {
        let long = "{\"a\": \"\(String(repeating: "long", count: 300))\"}"
        let reading = read("{\"b\":1}\n\(long)\n{\"c\":2}\n", cap: 1_000)
        #expect(reading.payloads == ["{\"b\":1}", "{\"c\":2}"] && reading.reasons == [.frameTooLong])
        #expect(reading.consumer.rejects.first?.bytes.count == 1_000)
    }

    /// Any documents, however they are laid out and however their bytes come, are the payloads. With bytes of some cut
    /// out, each payload is one of the whole documents, and something is rejected where one is missing.
    @Test func anyDocuments() {
        for seed in Trials.seeds(Trials.isTorture ? 20_000 : 400) {
            var generator = SeededGenerator(seed: seed)
            var file = GeneratedDocuments(&generator)
            let whole = StreamReading(.documents, file.bytes, &generator)
            #expect(whole.payloads == file.documents && whole.reasons.isEmpty, "seed \(seed)")
            guard let damaged = file.damage(&generator) else { continue }
            let reading = StreamReading(.documents, damaged, &generator)
            let known = Set(file.documents)
            // What is no UTF-8 any more is rejected by who reads it, and so is what is no JSON.
            let valid = reading.payloads.filter {
                !$0.contains("\u{FFFD}") && (try? JSONTree(parsing: Array($0.utf8))) != nil
            }
            let strange = valid.filter { !known.contains($0) }
            // A cut within texts gives another document, which no reader could tell.
            #expect(strange.allSatisfy { file.mayBeCut($0) }, "seed \(seed): \(strange)")
            let isTold = !reading.reasons.isEmpty || valid.count < reading.payloads.count
            #expect(isTold || !strange.isEmpty || valid == file.documents, "seed \(seed)")
        }
    }
}

/// Documents with a number each, one behind the other or in an array, and laid out in one of the usual ways.
private struct GeneratedDocuments {
    private(set) var documents: [String] = []
    private let isArray: Bool
    private let isIndented: Bool

    init(_ generator: inout SeededGenerator) {
        isArray = Bool.random(using: &generator)
        isIndented = Bool.random(using: &generator)
        for number in 0..<Int.random(in: 0...6, using: &generator) {
            documents.append(document(number, depth: 0, &generator))
        }
    }

    private func document(_ number: Int, depth: Int, _ generator: inout SeededGenerator) -> String {
        let line = isIndented ? "\n" + String(repeating: "  ", count: depth + (isArray ? 2 : 1)) : " "
        let end = isIndented ? "\n" + String(repeating: "  ", count: depth + (isArray ? 1 : 0)) : " "
        var members = ["\"device\": \"d-\(number)\"", "\"text\": \"\\\"{[]},:\\\\ä\""]
        if depth < 3, Bool.random(using: &generator) {
            members.insert("\"part\": \(document(number, depth: depth + 1, &generator))", at: 1)
            members.append("\"list\": [1, [], {}, null]")
        }
        return "{" + members.map { line + $0 }.joined(separator: ",") + end + "}"
    }

    var bytes: [UInt8] {
        guard isArray else { return Array(documents.joined(separator: "\n").utf8) }
        let line = isIndented ? "\n  " : ""
        return Array(("[" + documents.map { line + $0 }.joined(separator: ",") + "\n]\n").utf8)
    }

    /// The file without some of its bytes; nil when it has no documents.
    mutating func damage(_ generator: inout SeededGenerator) -> [UInt8]? {
        guard !documents.isEmpty else { return nil }
        var damaged = bytes
        let start = Int.random(in: 0..<damaged.count, using: &generator)
        damaged.removeSubrange(start..<Swift.min(damaged.count, start + Int.random(in: 1...40, using: &generator)))
        return damaged
    }

    /// Whether `text` begins as one of the documents and ends as one.
    func mayBeCut(_ text: String) -> Bool {
        let cut = Array(text.utf8)
        let heads = documents.map { zip($0.utf8, cut).prefix { $0 == $1 }.count }
        let tails = documents.map { zip($0.utf8.reversed(), cut.reversed()).prefix { $0 == $1 }.count }
        return (heads.max() ?? 0) + (tails.max() ?? 0) >= cut.count
    }
}
