@testable import Kymograph
import KymographCore
import Testing

/// The last payload of a stream, which nothing but its end completes. The kernel ends the connection of a program that
/// was killed as that of one that has finished; what is piped in is a file.
@Suite struct ConnectionEndTests {
    struct Case: CustomTestStringConvertible {
        let framing: String
        let input: String
        /// Whether the last payload is whole, however the stream ended.
        var isWhole = false

        var testDescription: String { "\(framing): \(input.debugDescription)" }
    }

    static let cases = [
        Case(framing: "csv", input: "device,rate\nw-1,7"),
        Case(framing: "csv", input: "device,rate\nw-1,72\n", isWhole: true),
        Case(framing: "csv", input: "device,rate\nw-1,\"7\""),
        Case(framing: "hl7v2", input: "MSH|^~\\&|a\rOBX|1|NM|8867-4||7"),
        Case(framing: "hl7v2", input: "MSH|^~\\&|a\rOBX|1|NM|8867-4||72\r", isWhole: true),
        Case(framing: "hl7v2", input: "\u{0B}MSH|^~\\&|a\rOBX|1|NM|8867-4||72\u{1C}", isWhole: true),
        Case(framing: "nul", input: "\u{1}\u{2}"), Case(framing: "nul", input: "\u{1}\u{2}\0", isWhole: true),
        Case(framing: "nul", input: " {\"rate\":72}", isWhole: true),
        // A checksum says that a frame is whole.
        Case(framing: "nul,crc16-modbus", input: "1234567897K", isWhole: true),
        Case(framing: "lines", input: "0102"), Case(framing: "lines", input: "0102\n", isWhole: true),
        Case(framing: "lines", input: "\u{FEFF}[{\"rate\":72}]", isWhole: true),
    ]

    @Test(arguments: cases, ["tcp 127.0.0.1:0", "unix /tmp/kymo.sock", "stdin"])
    func theLastPayload(of stream: Case, from place: String) throws {
        var source = try source(place)
        source.framing = try IngestKinds.builtIn.framing(stream.framing)
        let reading = StreamReading(source, [Array(stream.input.utf8)])
        let isTaken = stream.isWhole || place == "stdin"
        #expect(reading.payloads.count == (isTaken ? 1 : 0), "\(reading.payloads)")
        #expect(reading.reasons == (isTaken ? [] : [.frameIncomplete]))
        let last = stream.input.split(separator: "\n").last.map(String.init) ?? ""
        #expect(reading.consumer.rejects.allSatisfy { $0.bytes == Array(last.utf8) }, "with its bytes")
    }

    private func source(_ place: String) throws -> SourceConfiguration {
        let parts = place.split(separator: " ").map(String.init)
        guard parts.count == 2 else { return SourceConfiguration(.standardInput(descriptor: 0)) }
        let kind = try #require(IngestKinds.builtIn.source(parts[0]))
        return SourceConfiguration(try kind.parse(parts[1]))
    }
}
