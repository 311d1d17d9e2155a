import CommandSupport
import Foundation
import KymographTestKit
import Testing
import TrialSupport

/// Two systems' Observations are compared by who, what and when, and not by what a server makes of its own.
@Suite struct CompareTests {
    private let folder = TemporaryFolder()

    /// What `kymo run` writes of readings of three devices: a line for each Observation.
    private func observations() throws -> [[String: Any]] {
        var input: [UInt8] = []
        for number in 0..<30 {
            let time = "2026-03-01T08:\(10 + number):00Z"
            input += Array(
                """
                {"deviceId":"d-\(number % 3)","patientId":"p-\(number % 3)","type":"heartRate","timestamp":"\(time)",\
                "value":\(60 + number),"unit":"/min"}

                """.utf8)
        }
        let done = try Kymo.run(["run", "--stdin", "--window", "1m", "--format", "ndjson"], input: .bytes(input))
        #expect(done.end == .exit(0), "\(done.error)")
        return try done.lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }.filter { $0["resourceType"] as? String == "Observation" }
    }

    private func write(_ observations: [[String: Any]], _ name: String) throws -> String {
        let lines = try observations.map { try JSONSerialization.data(withJSONObject: $0) + [0x0A] }
        Files.write(lines.flatMap { Array($0) }, to: folder.file(name))
        return folder.file(name)
    }

    private func report(_ arguments: [String], status: Int32) throws -> [String: Any] {
        let done = try Kymo.run(["compare", "--format", "json"] + arguments)
        #expect(done.end == .exit(status), "\(done.error)\(done.text.prefix(2_000))")
        return try JSONSerialization.jsonObject(with: Data(done.output)) as? [String: Any] ?? [:]
    }

    /// What another system would write otherwise, without another meaning.
    private func asAnotherWritesIt(_ observation: [String: Any]) -> [String: Any] {
        var other = observation
        (other["id"], other["issued"], other["meta"]) = ("another", "2026-03-02T00:00:00Z", ["versionId": "7"])
        if let time = other["effectiveDateTime"] as? String, time.hasSuffix("Z") {
            other["effectiveDateTime"] = time.dropLast() + ".000+00:00"
        }
        return other
    }

    /// What was changed at random is what is found.
    @Test(arguments: Trials.seeds(20)) func findsWhatWasChanged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let first = try observations()
        var second: [[String: Any]] = []
        var expected = ["same": 0, "onlyInFirst": 0, "onlyInSecond": 0, "different": 0, "repeated": 0]
        for var observation in first.map(asAnotherWritesIt) {
            let kind = ["same", "onlyInFirst", "different", "repeated", "onlyInSecond"].randomElement(using: &random)!
            expected[kind, default: 0] += 1
            switch kind {
            case "onlyInFirst": continue
            case "different": observation["status"] = "entered-in-error"
            case "repeated":
                expected["same", default: 0] += 1
                second.append(observation)
            case "onlyInSecond":
                expected["onlyInFirst", default: 0] += 1
                observation["identifier"] = [["system": "urn:other", "value": "\(second.count)"]]
            default: break
            }
            second.append(observation)
        }
        second.shuffle(using: &random)
        let isSame = expected["same"] == first.count && second.count == first.count
        let found = try report(
            [try write(first, "first.ndjson"), try write(second, "second.ndjson")], status: isSame ? 0 : 65)
        for (name, count) in expected { #expect(found[name] as? Int == count, "\(name): \(found)") }
        #expect((found["parts"] as? [String: Int])?["status"] ?? 0 == expected["different"])
    }

    /// `Björn` with one `ö` and with an `o` and a mark are two; `72.0` and `72` are one number.
    @Test func bytesOfIdentifiersAndValuesOfNumbers() throws {
        func observation(_ device: String, _ value: String) -> String {
            """
            {"resourceType":"Observation","identifier":[{"system":"s","value":"1"}],"status":"final",\
            "device":{"identifier":{"system":"d","value":"\(device)"}},"valueQuantity":{"value":\(value)}}

            """
        }
        for (name, text) in [
            ("a", observation("Bj\u{F6}rn", "72.0")), ("b", observation("Bj\u{F6}rn", "72")),
            ("c", observation("Bjo\u{308}rn", "72")), ("d", observation("Bj\u{F6}rn", "72.5")),
        ] { Files.write(Array(text.utf8), to: folder.file("\(name).json")) }
        #expect(try report([folder.file("a.json"), folder.file("b.json")], status: 0)["same"] as? Int == 1)
        let other = try report([folder.file("a.json"), folder.file("c.json")], status: 65)
        #expect(other["parts"] as? [String: Int] == ["device": 1])
        let value = try report([folder.file("a.json"), folder.file("d.json")], status: 65)
        #expect(value["parts"] as? [String: Int] == ["value": 1])
        _ = try report([folder.file("a.json"), folder.file("d.json"), "--part", "device"], status: 0)
    }

    /// Servers number Patients and Devices for themselves, and give what they have in pages.
    @Test func serversArePagedAndTheirOwnIDsLookedUp() throws {
        let first = try observations()
        let other = first.map(asAnotherWritesIt)
        for (name, content) in [("a", first), ("b", other), ("c", Array(other.dropFirst(3)))] {
            _ = try write(content, "\(name).ndjson")
        }
        let server = try TestServer("fhir_search.py", [folder.path])
        let same = try report([server.url("/a"), server.url("/b"), "--by", "content"], status: 0)
        #expect(same["same"] as? Int == first.count)
        let less = try report([server.url("/a"), server.url("/c")], status: 65)
        #expect(less["onlyInFirst"] as? Int == 3 && less["same"] as? Int == first.count - 3)
        let half = try report(
            [server.url("/a"), server.url("/b"), "--from", "2026-03-01T08:20:00Z", "--to", "2026-03-01T08:25:00Z"],
            status: 0)
        #expect(half["same"] as? Int == 5)
    }

    /// `Patient/17` of two servers that do not say who that is are not one person.
    @Test func whoIsNotKnownIsNobodyElse() throws {
        let first = try observations()
        for name in ["a-closed", "b-closed"] { _ = try write(first, "\(name).ndjson") }
        let server = try TestServer("fhir_search.py", [folder.path])
        let found = try report([server.url("/a-closed"), server.url("/b-closed")], status: 65)
        #expect(found["parts"] as? [String: Int] == ["subject": first.count, "device": first.count])
        let content = try report([server.url("/a-closed"), server.url("/b-closed"), "--by", "content"], status: 65)
        #expect(content["same"] as? Int == 0 && content["onlyInFirst"] as? Int == first.count)
    }

    /// Bulk exports have a file for each type: those who are referred to may be in a later one.
    @Test func exportsHaveAFileForEachType() throws {
        for (name, id) in [("one", "17"), ("two", "4")] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            let observation = """
                {"resourceType":"Observation","identifier":[{"system":"s","value":"1"}],"status":"final",\
                "subject":{"reference":"Patient/\(id)"}}

                """
            let patient = #"{"resourceType":"Patient","id":"\#(id)","identifier":[{"system":"p","value":"anna"}]}"#
            Files.write(Array(observation.utf8), to: folder.file("\(name)/Observation.ndjson"))
            Files.write(Array((patient + "\n").utf8), to: folder.file("\(name)/Patient.ndjson"))
        }
        #expect(try report([folder.file("one"), folder.file("two")], status: 0)["same"] as? Int == 1)
        let alone = folder.file("one/Observation.ndjson")
        let found = try report([alone, folder.file("two")], status: 65)
        #expect(found["parts"] as? [String: Int] == ["subject": 1])
    }

    /// What has no identifier is no counterpart of another one that has none.
    @Test func withoutIdentifierNothingIsTheSame() throws {
        Files.write(Array("{\"resourceType\":\"Observation\",\"status\":\"final\"}\n".utf8), to: folder.file("a.json"))
        let found = try report([folder.file("a.json"), folder.file("a.json"), "--part", "value"], status: 65)
        #expect(found["onlyInFirst"] as? Int == 1 && found["onlyInSecond"] as? Int == 1)
    }

    /// A server may give strangers nothing.
    @Test func nothingAndNothingAreNotTheSame() throws {
        Files.write(Array("{\"resourceType\":\"Bundle\"}\n".utf8), to: folder.file("empty.json"))
        _ = try report([folder.file("empty.json"), folder.file("empty.json")], status: 65)
    }

    @Test(arguments: [
        (["http://127.0.0.1:9/fhir", "."], 66, "has no such files"),
        (["nothing.ndjson", "nothing.ndjson"], 66, "nothing.ndjson"),
        (["kymo.yaml", "."], 78, "names no FHIR server"), (["bad.json", "bad.json"], 65, "bad.json:1: it is no JSON"),
    ])
    func mistakesAreNamed(arguments: [String], status: Int32, text: String) throws {
        let empty = TemporaryFolder()
        Files.write(Array("window: 1m\n".utf8), to: empty.file("kymo.yaml"))
        Files.write(Array("{\"a\":\n".utf8), to: empty.file("bad.json"))
        if arguments.contains("kymo.yaml") || arguments.contains("bad.json") {
            let done = try Kymo.run(["compare"] + arguments, directory: empty.path)
            #expect(done.end == .exit(status) && done.error.contains(text), "\(done.error)")
        } else {
            let done = try Kymo.run(["compare"] + arguments, directory: folder.path)
            #expect(done.end == .exit(status) && done.error.contains(text), "\(done.error)")
        }
    }

    @Test func aServerThatIsAway() throws {
        Files.write(Array("{\"resourceType\":\"Observation\"}\n".utf8), to: folder.file("one.json"))
        let done = try Kymo.run(["compare", folder.file("one.json"), "http://127.0.0.1:9/fhir"])
        #expect(done.end == .exit(69) && done.error.contains("127.0.0.1:9"), "\(done.error)")
    }
}
