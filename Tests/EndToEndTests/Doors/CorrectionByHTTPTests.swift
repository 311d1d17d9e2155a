import CommandSupport
import KymographTestKit
import Testing

/// A correction that a phone posts as an array: what was filed is taken back, and comes with another value.
@Suite struct CorrectionByHTTPTests {
    private let folder = TemporaryFolder()
    private static let now = 1_772_352_000

    init() {
        let whose =
            #""deviceIdExpression":"$.d","timestampExpression":"$.t","timestampFormat":"epoch-s","readingIdExpression":"$.i","#
        folder.write(
            "m/device.json",
            #"""
            {"templateType": "CollectionContent", "template": [
              {"templateType": "JsonPathContent", "template": {"typeName": "hr", \#(whose)
                "typeMatchExpression": "$..[?(@hr)]",
                "values": [{"valueName": "x", "valueExpression": "$.hr", "required": true}]}},
              {"templateType": "JsonPathContent", "template": {"typeName": "hr", \#(whose)
                "typeMatchExpression": "$..[?(@gone)]", "retracts": true}}]}
            """#)
        folder.write(
            "m/fhir.json",
            """
            {"templateType": "CollectionFhir", "template": [{"templateType": "CodeValueFhir", "template": {
              "typeName": "hr", "codes": [{"code": "hr"}],
              "value": {"valueType": "Statistics", "valueName": "x", "unit": "/min", "code": "/min"}}}]}
            """)
    }

    private func reading(_ id: String, _ value: Int) -> String {
        #"{"d":"w9","t":\#(Self.now),"hr":\#(value),"i":"\#(id)"}"#
    }

    private func gone(_ id: String) -> String { #"{"d":"w9","gone":true,"i":"\#(id)"}"# }

    /// The values that the archive has after posting each of `bodies`.
    private func posted(_ bodies: [[String]], path: String, _ type: String = "application/json") throws -> [String?] {
        let door = try Door(
            "  - http: 127.0.0.1:0", in: folder,
            settings: "mappings: [\(folder.file("m/"))]\noutput: {to: \(folder.file("out"))}\nwindow: 1m\n")
        let client = PostClient(door.address)
        for body in bodies {
            let text = type == "application/json" ? "[\(body.joined(separator: ","))]" : body.joined(separator: "\n")
            let answer = try client.exchange(PostClient.request(Array(text.utf8), path: path, type: type))
            #expect(answer?.status == 200, "\(answer?.body ?? "no answer")")
        }
        #expect(try door.balance().isClosed)
        let query = try Kymo.run(
            ["query", "--data", folder.file("data"), "--device", "w9", "--readings", "--mapping", folder.file("m/")])
        return try query.lines.map { line in
            try JSONTree(parsing: Array(line.utf8))["Properties"]?.elements?.first?["Value"]?.text
        }
    }

    /// The reading is in the window with its new value, whether the array is counted as a whole or by item.
    @Test(arguments: ["/v1/ingest", "/v1/ingest?results=items"])
    func corrected(path: String) throws {
        #expect(try posted([[reading("s-1", 60)], [gone("s-1"), reading("s-1", 75)]], path: path) == ["75"])
    }

    /// The next body is another document: what it brings of the retracted stays out.
    @Test func sentAgain() throws {
        let values = try posted(
            [[reading("s-1", 60), reading("s-2", 70)], [gone("s-1")], [reading("s-1", 60)]], path: PostClient.path)
        #expect(values == ["70"])
    }

    /// Elements are taken in their order: what comes before its retraction is taken back.
    @Test func takenBackAtOnce() throws {
        let values = try posted([[reading("s-1", 60), reading("s-2", 70), gone("s-1")]], path: PostClient.path)
        #expect(values == ["70"])
    }

    /// Lines are documents of their own.
    @Test func lines() throws {
        let values = try posted(
            [[reading("s-1", 60), reading("s-2", 70)], [gone("s-1"), reading("s-1", 75)]], path: PostClient.path,
            "application/x-ndjson")
        #expect(values == ["70"])
    }
}
