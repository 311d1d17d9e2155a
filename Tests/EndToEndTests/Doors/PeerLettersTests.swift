import CommandSupport
import Foundation
import Glibc
import KymographTestKit
import Testing

/// Dead letters of peers come again for the patient, and by the mappings, of the time when they came.
@Suite struct PeerLettersTests {
    private let folder = TemporaryFolder()

    private func line(_ second: Int, device: String = "watch-1") -> String {
        Readings.heartRate(second: second, device: device)
    }

    private func token(_ number: Int) -> String { "token-of-peer-\(number)-0123456789" }

    /// A list of peers with tokens, by their numbers, each with a name and settings.
    private func peers(_ list: [(name: String, settings: [String])]) -> String {
        let entries = list.enumerated().map { number, peer in
            let file = folder.write("\(number).token", "\(token(number))\n")
            // Safe: Swift lends the path for the call.
            unsafe chmod(file, 0o600)
            return (["  - tokenFile: \(file)", "name: \"\(peer.name)\""] + peer.settings).joined(separator: "\n    ")
        }
        return folder.write("peers.yaml", "peers:\n\(entries.joined(separator: "\n"))\n")
    }

    /// Has the peers numbered `senders` post one line each, of devices of their own, that no mapping of the source reads
    /// until `mappings` of the configuration are `later`.
    private func leaveLetters(
        _ settings: [String], of senders: [Int] = [0], path: String = "/v1/ingest", more: String = "",
        now: String = "wristband", later: String = "reading"
    ) throws {
        let source = TLSText.source("http", settings + ["mappings: [\(now)]"])
        let door = try Door(source, in: folder, settings: more)
        for sender in senders {
            let answer = try PostClient(door.address).exchange(
                PostClient.request(
                    Readings.ndjson([line(sender, device: "watch-\(sender)")]), path: path,
                    fields: "Authorization: Bearer \(token(sender))\r\n"))
            #expect(answer?.body.contains("\"rejectedCount\":1") == true, "\(answer as Any)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 0 && balance.rejected == senders.count, "\(door.run.errorText)")
        let file = folder.file("kymo.yaml")
        let text = Files.text(file).replacing("mappings: [\(now)]", with: "mappings: [\(later)]")
        Files.write(Array(text.utf8), to: file)
    }

    /// Replays all letters, and gives what is said.
    private func replay(_ arguments: [String] = [], isListed: Bool = true) throws -> String {
        let list = isListed ? ["--config", folder.file("kymo.yaml")] : ["--mapping", "reading"]
        let place = ["--data", folder.file("data"), "--out", folder.file("out")]
        return try Kymo.run(["dead", "replay", "--all"] + place + list + arguments).error
    }

    private func count(_ arguments: String...) throws -> Int {
        try Kymo.run(["query", "--readings", "--data", folder.file("data")] + arguments).lines.count
    }

    // MARK: Patients

    /// A peer that has got another patient meanwhile: its old readings are not that one's.
    @Test(arguments: ["p-a", "p \u{E9}, of no fixed patient", "%41, of the patient x"])
    func aPatientStaysTheSame(patient: String) throws {
        let list = peers([("bed 4", ["patient: \"\(patient)\""])])
        try leaveLetters(["peers: \(list)", "defaultPatient: p-x"])
        for other in [["patient: p-b"], ["patient: \"\(patient)a\""], ["patients: [\"*\"]"], []] {
            _ = peers([("bed 4", other)])
            let said = try replay()
            #expect(said.contains("is not what it was when it came"), "\(other): \(said)")
            #expect(try count() == 0, "\(other)")
        }
        // Nor of nobody, or of those of the source.
        #expect(try replay(["--not-allowed"]).contains("is not what it was when it came"))
        #expect(try replay(["--not-allowed"], isListed: false).contains("name the configuration whose list"))
        _ = peers([("bed 5", [])])
        #expect(try replay().contains("name the configuration whose list"))
        _ = peers([("bed 4", ["patient: \"\(patient)\""])])
        #expect(try replay(["--not-allowed"]).contains("leave out --not-allowed"))
        #expect(try count() == 0)
        let said = try replay()
        #expect(try count("--patient", patient) == 1 && count() == 1, "\(said)")
    }

    /// Peers that had no patient when their readings came.
    @Test func aPatientThatCameLater() throws {
        let list = peers([("anna", []), ("bert", [])])
        try leaveLetters(["peers: \(list)"], of: [0, 1])
        _ = peers([("anna", ["patient: p-a"]), ("bert", ["patient: p-b"])])
        for arguments in [[], ["--not-allowed"]] {
            let said = try replay(arguments)
            #expect(said.ranges(of: "is not what it was when it came").count == 2, "\(said)")
        }
        #expect(try count() == 0)
        _ = peers([("anna", []), ("bert", ["patient: p-b"])])
        let said = try replay()
        #expect(try count() == 1 && count("--device", "watch-0") == 1, "\(said)")
    }

    /// Names are bytes: one that looks the same is another peer's.
    @Test func namesThatLookTheSame() throws {
        let names = ["Zo\u{EB}", "Zoe\u{308}", "\u{308}a"]
        let list = peers(names.enumerated().map { ($1, ["patient: p-\($0)"]) })
        try leaveLetters(["peers: \(list)"], of: [0, 1, 2])
        let said = try replay()
        for number in names.indices {
            #expect(try count("--device", "watch-\(number)", "--patient", "p-\(number)") == 1, "\(said)")
        }
        #expect(try count() == 3)
    }

    /// Where readings without a patient are rejected, those of a peer have one.
    @Test func aPatientIsToldBefore() throws {
        let list = peers([("anna", ["patient: p-a"])])
        try leaveLetters(["peers: \(list)"], more: "identity: strict\n")
        let said = try replay()
        #expect(try count("--patient", "p-a") == 1, "\(said)")
    }

    /// More senders than files may be open: they come again one group after the other.
    @Test func manySenders() throws {
        let senders = Array(0..<200)
        let list = peers(senders.map { ("peer \($0)", ["devices: [watch-\($0)]", "patient: p-\($0)"]) })
        try leaveLetters(["peers: \(list)"], of: senders)
        let arguments = [
            "dead", "replay", "--all", "--data", folder.file("data"), "--out", folder.file("out"), "--config",
            folder.file("kymo.yaml"),
        ]
        let replay = try ChildProcess(
            "sh", ["-c", "ulimit -n 180; exec \"$0\" \"$@\"", Kymo.path] + arguments, directory: folder.path
        ).finish()
        #expect(replay.end == .exit(0) && replay.error.contains("replayed 200"), "\(replay.error)")
        #expect(try count("--limit", "1000") == 200)
        for sender in [0, 63, 64, 199] {
            #expect(try count("--device", "watch-\(sender)", "--patient", "p-\(sender)") == 1, "\(sender)")
        }
    }

    // MARK: Mappings

    /// The mapping that a request has named is the only one that is tried, also if there was no other.
    @Test func aMappingStaysTheSame() throws {
        let list = peers([("anna", [])])
        try leaveLetters(["peers: \(list)"], path: "/v1/ingest/wristband", later: "wristband, reading")
        let said = try replay()
        #expect(try count() == 0 && said.contains("noTemplate"), "\(said)")
    }

    /// What a mapping would reject that the peer may not use keeps no letter back.
    @Test(arguments: [true, false]) func othersAreNotTriedBefore(isChosen: Bool) throws {
        let device = """
            {"templateType": "CollectionContent", "template": [
              {"templateType": "JsonPathContent", "template": {
                "typeName": "NAME", "typeMatchExpression": "$..[?(@value)]", "deviceIdExpression": "$.deviceId",
                "timestampExpression": "$.timestamp",
                "values": [{"valueName": "rate", "valueExpression": "$.missing", "required": true}]
              }}
            ]}
            """
        let fhir = """
            {"templateType": "CollectionFhir", "template": [
              {"templateType": "CodeValueFhir", "template": {
                "typeName": "NAME", "period": "instance", "codes": [{"system": "urn:example", "code": "NAME"}],
                "value": {"valueType": "Quantity", "valueName": "rate", "unit": "/min", "code": "/min"}
              }}
            ]}
            """
        func write(_ name: String, _ value: String) throws -> String {
            let path = folder.file(name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            let text = device.replacing("NAME", with: name).replacing("missing", with: value)
            _ = folder.write("\(name)/device.json", text)
            _ = folder.write("\(name)/fhir.json", fhir.replacing("NAME", with: name))
            return path
        }
        let (own, other) = (try write("own", "missing"), try write("other", "missing"))
        let list = peers([("anna", isChosen ? [] : ["mappings: [\(own)]"])])
        try leaveLetters(
            ["peers: \(list)"], path: isChosen ? "/v1/ingest/\(own)" : "/v1/ingest", now: "\(own), \(other)",
            later: "\(own), \(other)")
        _ = try write("own", "value")
        let said = try replay()
        #expect(try count() == 1, "\(said)")
    }

    /// A list that names a mapping which the source does not have is none.
    @Test func aListIsCheckedWhenItIsReadAgain() throws {
        let list = peers([("anna", ["mappings: [reading]"])])
        let door = try Door(TLSText.source("http", ["peers: \(list)", "mappings: [reading]"]), in: folder)
        var sent = 0
        func post() throws -> AdminClient.Answer? {
            sent += 1
            return try PostClient(door.address).exchange(
                PostClient.request(
                    Readings.ndjson([line(sent % 60)]), fields: "Authorization: Bearer \(token(0))\r\n"))
        }
        _ = peers([("anna", ["mappings: [readingg]"])])
        try Waiting.until("a word of the list") {
            let answer = try post()
            #expect(answer?.body.contains("\"rejectedCount\":0") == true, "\(answer as Any)")
            return door.run.errorText.contains("peers")
        }
        #expect(
            door.run.errorText.contains(
                "the former peers stay in use: \(list): a peer may use the mapping 'readingg'"),
            "\(door.run.errorText)")
        #expect(try post()?.body.contains("\"rejectedCount\":0") == true)
        _ = peers([("anna", ["mappings: [reading]", "devices: [watch-1]"])])
        try Waiting.until("a word of the list that was mended") {
            _ = try post()
            return door.run.errorText.contains("were read again: there are 1")
        }
        #expect(try door.balance().rejected == 0)
    }
}
