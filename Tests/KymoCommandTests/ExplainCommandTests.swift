import CommandSupport
import KymographCore
import KymographTestKit
import Testing

@testable import Kymograph

/// `kymo map --explain --format json`, and the playground, which gives the same byte by byte.
@Suite struct ExplainCommandTests {
    /// Far enough ahead that no example's time is in the future.
    private static let received = [Instant(seconds: 4_102_444_800), Instant(seconds: 4_102_444_900)]

    private func request(_ files: MappingFiles, _ example: MappingExample) throws -> Playground.Request {
        var request = Playground.Request()
        (request.device, request.fhir, request.name) = (files.device, files.fhir, files.name)
        request.payload = try example.payload()
        return request
    }

    /// Of every example of the catalogue. Those whose output depends on the time of receipt have another each time.
    @Test(arguments: MappingCatalogue.names) func thePlaygroundGivesTheSame(_ name: String) throws {
        let files = try #require(MappingCatalogue.files(of: name))
        let folder = TemporaryFolder()
        var expected: [[UInt8]] = []
        var inputs: [String] = []
        var left = 0
        for (index, example) in files.examples.enumerated() {
            let request = try request(files, example)
            let documents = Self.received.map { Playground.answer(to: request, received: $0).document }
            guard documents[0] == documents[1] else {
                left += 1
                continue
            }
            CommandSupport.Files.write(try example.payload(), to: folder.file("\(index).bin"))
            inputs.append(folder.file("\(index).bin"))
            expected.append(try #require(documents[0]))
        }
        #expect(left * 4 <= files.examples.count, "\(left) of \(files.examples.count)")
        let done = try Kymo.run(["map", "--mapping", name, "--explain", "--format", "json"] + inputs)
        #expect(done.output == expected.flatMap { $0 })
        // Without the explanation, the rest is what `map` has always written.
        let plain = try Kymo.run(["map", "--mapping", name, "--format", "json"] + inputs)
        #expect(plain.output == expected.flatMap(Self.withoutExplanation))
    }

    /// The document without its last members, which are there with an explanation alone.
    private static func withoutExplanation(_ document: [UInt8]) -> [UInt8] {
        let text = String(decoding: document, as: UTF8.self)
        let places = [",\n  \"withheld\": [", ",\n  \"explain\": {"].compactMap { text.firstRange(of: $0)?.lowerBound }
        guard let place = places.min() else { return Array("{}\n".utf8) }
        return Array((text[..<place] + "\n}\n").utf8)
    }

    /// The explanation is in the document, and no text on standard error.
    @Test func theDocumentHasIt() throws {
        let input = ChildProcess.Input.bytes(Array(Readings.heartRate(second: 0).utf8))
        let done = try Kymo.run(["map", "--explain", "--format", "json"], input: input)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        let tree = try JSONTree(parsing: done.output)
        #expect(tree["observations"]?.elements?.count == 1 && tree["explain"]?["version"] == .number("1"))
        let refused = try Kymo.run(["map", "--explain", "--format", "json"], input: .bytes(Array("{".utf8)))
        #expect(refused.end == .exit(65))
        #expect(try JSONTree(parsing: refused.output)["explain"]?["refused"]?["reason"]?.text == "invalidJSON")
    }
}
