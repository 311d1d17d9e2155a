import Foundation
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Tables of text, whose rows become JSON objects.
@Suite struct TableStreamTests {
    private func read(_ text: String, _ options: String = "csv", cap: Int = 1 << 20) throws -> StreamReading {
        var generator = SeededGenerator(seed: Trials.seed(UInt64(text.utf8.count)))
        return StreamReading(
            try IngestKinds.builtIn.framing(options), Array(text.utf8), cap: cap, &generator)
    }

    @Test func rowsBecomeObjects() throws {
        let reading = try read(
            "\u{FEFF}device,\"heart \"\"rate\"\"\",ok,note\r\nw-1,70,true,\r\n\r\n\"w,2\",70.50,yes,\"two\nlines\"\r\nw-3,,,\"\""
        )
        #expect(
            reading.payloads == [
                #"{"device":"w-1","heart \"rate\"":70,"ok":true}"#,
                #"{"device":"w,2","heart \"rate\"":70.50,"ok":"yes","note":"two\nlines"}"#,
                #"{"device":"w-3","note":""}"#,
            ])
        #expect(reading.reasons.isEmpty)
    }

    /// Only what is the same number to every reader is one; identifiers stay as they are written.
    @Test(arguments: [
        ("0", "0"), ("-0.5", "-0.5"), ("123456789012345", "123456789012345"), ("1234567890123456", nil), ("007", nil),
        ("1e5", nil), ("+1", nil), (".5", nil), ("5.", nil), ("-", nil), ("1,5", nil), ("NaN", nil), ("0x10", nil),
        ("1.2.3", nil), (" 1", nil), ("true", "true"), ("True", nil), ("null", nil),
    ])
    func plainNumbers(field: String, value: String?) throws {
        let reading = try read("a;b\n\(field);x\n", "csv,delimiter=semicolon")
        #expect(reading.payloads == ["{\"a\":\(value ?? "\"\(field)\""),\"b\":\"x\"}"])
    }

    @Test func options() throws {
        let text = "# of a logger\n w-1 \t 70 \n#w-2\t71\n\"# 3\"\t72\n"
        let reading = try read(text, "csv,delimiter=tab,comment=#,columns=device|value,trim")
        #expect(reading.payloads == ["{\"device\":\"w-1\",\"value\":70}", "{\"device\":\"# 3\",\"value\":72}"])
        for options in ["csv", "csv,delimiter=bar,comment=%,columns=a|b,trim", "csv,delimiter=^"] {
            #expect(FramingText.text(try IngestKinds.builtIn.framing(options)) == options)
        }
    }

    /// Nothing is known of rows below a header that is none.
    @Test(arguments: ["a,,b\n1,2,3\n", "a,a\n1,2\n", "a;b\n1;2\n", "\"a\"x,b\n1,2\n"])
    func aHeaderThatIsNoneEndsTheTable(text: String) throws {
        let reading = try read(text)
        #expect(reading.isOver && reading.payloads.isEmpty && reading.reasons == [.tableHeader])
    }

    @Test func rowsThatDoNotFitAreRejected() throws {
        let long = String(repeating: "x", count: 200)
        let rows = ["1", "1,2,3", "\"1\"x,2", "1\"1,2", "\(long),2", "3,4", "\"1\r,2"]
        let reading = try read("a,b\n" + rows.joined(separator: "\n"), cap: 100)
        #expect(reading.payloads == ["{\"a\":3,\"b\":4}"])
        #expect(reading.reasons == [.tableRow, .tableRow, .tableRow, .tableRow, .lineTooLong, .tableRow])
        let bytes = reading.consumer.rejects.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(bytes == ["1\n", "1,2,3\n", "\"1\"x,2\n", "1\"1,2\n", String(long.prefix(100)), "\"1\r,2"])
    }

    /// On a serial line the first row and the last one may be parts.
    @Test func partsOfRowsAreRejected() throws {
        var source = SourceConfiguration(try IngestKinds.builtIn.source("serial")!.parse("/dev/ttyUSB0:9600"))
        source.framing = try IngestKinds.builtIn.framing("csv,columns=device|value")
        let reading = StreamReading(source, [Array("-1,70\nw-1,71\nw-1,7".utf8)])
        #expect(reading.payloads == ["{\"device\":\"w-1\",\"value\":71}"])
        #expect(reading.reasons == [.beginningMissed, .frameIncomplete])
    }

    /// Any texts, written as RFC 4180 has it, are the values.
    @Test func anyTable() throws {
        for seed in Trials.seeds(Trials.isTorture ? 20_000 : 300) {
            var generator = SeededGenerator(seed: seed)
            let characters = ["a", "é", ",", ";", "\"", "\n", "\r", " ", "7", "\\", "\u{1}", "😀"]
            func text() -> String {
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    characters[Int.random(in: 0..<characters.count, using: &generator)]
                }.joined()
            }
            func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }
            let names = (0..<Int.random(in: 2...5, using: &generator)).map { "\($0)\(text())" }
            let rows = (0..<5).map { _ in names.map { _ in text() } }
            let end = Bool.random(using: &generator) ? "\n" : "\r\n"
            let lines = ([names] + rows).map { $0.map(quoted).joined(separator: ",") + end }
            let reading = StreamReading(
                .table(TableFraming()), Array(lines.joined().utf8), &generator)
            let found = try reading.payloads.map {
                try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
            }
            let expected = rows.map { Dictionary(uniqueKeysWithValues: zip(names, $0)) }
            #expect(found == expected && reading.reasons.isEmpty, "seed \(seed)")
        }
    }
}
