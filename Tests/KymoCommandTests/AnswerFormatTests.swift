import CommandSupport
import Foundation
import Testing

/// What commands tell people they tell programs as JSON.
@Suite struct AnswerFormatTests {
    private let folder = TemporaryFolder()

    private func members(_ arguments: [String], status: Int32 = 0) throws -> [String: Any] {
        let done = try Kymo.run(arguments)
        #expect(done.end == .exit(status), "\(done.error)")
        return try #require(try JSONSerialization.jsonObject(with: Data(done.output)) as? [String: Any])
    }

    @Test func deadLetters() throws {
        let data = ["--data", folder.file("data")]
        let input = Readings.ndjson(Readings.heartRates(3)) + Array("nonsense\n{\"a\":1}\n".utf8)
        let done = try Kymo.run(["run", "--stdin", "--out", folder.file("out")] + data, input: .bytes(input))
        #expect(done.end == .exit(0), "\(done.error)")
        let reasons = try #require(try members(["dead", "--format", "json"] + data)["reasons"] as? [[String: Any]])
        #expect(
            reasons.map { $0["reason"] as? String }.sorted { $0 ?? "" < $1 ?? "" } == ["invalidJSON", "noTemplate"])
        #expect(reasons.allSatisfy { $0["letters"] as? Int == 1 && $0["meaning"] is String })
        let replay = try members(
            ["dead", "replay", "--all", "--report", "json", "--out", folder.file("out")] + data, status: 65)
        let left = try #require(replay["left"] as? [[String: Any]])
        #expect(replay["payloads"] as? Int == 0 && left.count == 2 && left.allSatisfy { $0["reason"] is String })
        #expect(try members(["dead", "discard", "--all", "--format", "json"] + data)["discarded"] as? Int == 2)
    }

    @Test func patients() throws {
        let file = folder.file("patients.csv")
        Files.write(Array("device,patient,encounter,from,to\npump-3,p-17,,2026-03-01T08:00:00Z,\n".utf8), to: file)
        let all = try members(["patients", "check", file, "--format", "json"])
        #expect(all["devices"] as? Int == 1 && all["periods"] as? Int == 1 && all["assigned"] == nil)
        let one = try members(["patients", "check", file, "--device", "pump-3", "--format", "json"])
        let periods = try #require(one["assigned"] as? [[String: Any]])
        #expect(periods.count == 1 && periods[0]["patient"] as? String == "p-17" && periods[0]["to"] == nil)
        let early = try Kymo.run(
            ["patients", "check", file, "--device", "pump-3", "--at", "2026-03-01T07:00:00Z", "--format", "json"])
        #expect(early.end == .exit(65) && early.output.isEmpty)
    }
}
