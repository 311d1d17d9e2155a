import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// What a list of peers says besides devices: whose readings are, by which mappings, and how much may come.
@Suite struct PeerBoundsTests {
    private let folder = TemporaryFolder()

    private func line(_ second: Int, device: String = "watch-1", patient: String? = nil) -> String {
        let owner = patient.map { ",\"patientId\":\"\($0)\"" } ?? ""
        return Readings.heartRate(second: second, device: device).replacing("}", with: "\(owner)}")
    }

    /// A list of peers with tokens, each with a name and settings.
    private func peers(_ list: [(name: String, settings: [String])]) -> String {
        let entries = list.map { name, settings in
            let file = folder.write("\(name).token", "token-of-\(name)-0123456789\n")
            // Safe: Swift lends the path for the call.
            unsafe chmod(file, 0o600)
            return (["  - tokenFile: \(file)", "name: \(name)"] + settings).joined(separator: "\n    ")
        }
        return folder.write("peers.yaml", "peers:\n\(entries.joined(separator: "\n"))\n")
    }

    private func token(_ name: String) -> [String] { ["-H", "Authorization: Bearer token-of-\(name)-0123456789"] }

    /// How many readings of `patient` there are, of those of `device`.
    private func readings(_ device: String, patient: String) throws -> Int {
        try Kymo.run([
            "query", "--readings", "--device", device, "--patient", patient, "--data", folder.file("data"),
        ]).lines.count
    }

    // MARK: Patients

    /// Two peers with a device of one name, and messages of one shape, in turn: each reading is of its sender's patient.
    @Test func aFixedPatient() throws {
        let list = peers([("anna", ["patient: p-a"]), ("bert", ["patient: p-b"]), ("carl", [])])
        let door = try Door(TLSText.source("http", ["peers: \(list)", "defaultPatient: p-x"]), in: folder)
        for round in 0..<20 {
            for (place, name) in ["anna", "bert", "carl"].enumerated() {
                let (text, _) = try door.post([line(round * 3 + place)], token(name), scheme: "http")
                #expect(text.hasPrefix("{\"received\":1,\"rejectedCount\":0,"), "\(text)")
            }
        }
        let own = try door.post([line(100, patient: "p-a")], token("anna"), scheme: "http").0
        #expect(own.hasPrefix("{\"received\":1,\"rejectedCount\":0,"), "\(own)")
        for other in ["p-b", "p-", "p-aa", "P-A"] {
            let mixed = try door.post([line(101, patient: other), line(102)], token("anna"), scheme: "http").0
            #expect(
                mixed.contains("\"rejected\":[{\"index\":0,\"reason\":\"patientNotAllowed\"}]"), "\(other): \(mixed)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 62 && balance.reasons == ["patientNotAllowed": 4] && balance.isClosed)
        #expect(try readings("watch-1", patient: "p-a") == 22)
        #expect(try readings("watch-1", patient: "p-b") == 20 && readings("watch-1", patient: "p-x") == 20)
    }

    /// The same of lines, and a list that has changed: what came before stays where it is.
    @Test func aFixedPatientOfLines() throws {
        func text(_ patient: String) -> String { "peers:\n  - addresses: [127.0.0.1]\n    patient: \(patient)\n" }
        let list = folder.write("peers.yaml", text("p-a"))
        let door = try Door(TLSText.source("tcp", ["peers: \(list)"]), in: folder)
        let client = try RawConnection(port: door.port)
        client.send(Readings.ndjson((0..<50).map { line($0) } + [line(50, patient: "p-b")]))
        try Waiting.until("all lines") { try door.metric("kymo_source_messages_total") == 51 }
        Files.write(Array(text("p-b").utf8), to: list)
        var sent = 51
        try Waiting.until("a word of the new list") {
            client.send(Readings.ndjson([line(49, patient: "p-c")]))
            sent += 1
            return door.run.errorText.contains("were read again: there are 1")
        }
        client.send(Readings.ndjson((100..<110).map { line($0) }))
        try Waiting.until("the rest") { try door.metric("kymo_source_messages_total") == sent + 10 }
        let balance = try door.balance()
        #expect(balance.accepted == 60 && balance.reasons == ["patientNotAllowed": sent - 50] && balance.isClosed)
        #expect(try readings("watch-1", patient: "p-a") == 50 && readings("watch-1", patient: "p-b") == 10)
    }

    /// A patient map that says another one does not file a peer's readings there.
    @Test func thePatientMapDoesNotWin() throws {
        let list = peers([("anna", ["patient: p-a"])])
        let map = folder.write("patients.csv", "device,patient,from,to\nwatch-1,p-b,,\n")
        let door = try Door(
            TLSText.source("http", ["peers: \(list)"]), in: folder, settings: "patients: \(map)\n")
        let (text, _) = try door.post([line(0)], token("anna"), scheme: "http")
        #expect(text.contains("\"reason\":\"patientDeviceMismatch\"") || text.contains("patientNotAllowed"), "\(text)")
        let balance = try door.balance()
        #expect(balance.accepted == 0 && balance.rejected == 1 && balance.isClosed)
    }

    // MARK: Mappings

    /// A peer's payloads are tried by its mappings alone, and a request names one of them.
    @Test func someMappings() throws {
        let list = peers([("anna", ["mappings: [wristband]"]), ("bert", ["mappings: [reading, wristband]"])])
        let source = TLSText.source("http", ["peers: \(list)", "mappings: [reading, wristband]"])
        let door = try Door(source, in: folder)
        func post(_ name: String, _ mapping: String) throws -> AdminClient.Answer? {
            let fields = "Authorization: Bearer token-of-\(name)-0123456789\r\n"
            return try PostClient(door.address).exchange(
                PostClient.request(Readings.ndjson([line(1)]), path: "/v1/ingest\(mapping)", fields: fields))
        }
        let cases = [
            ("anna", "", 200, "noTemplate"), ("anna", "/wristband", 200, "noTemplate"),
            ("anna", "/reading", 404, "mappingNotFound"), ("bert", "/none", 404, "mappingNotFound"),
            ("bert", "/wristband", 200, "noTemplate"), ("bert", "/reading", 200, "\"rejected\":[]"),
            ("bert", "", 200, "\"rejected\":[]"), ("carl", "/none", 401, "unauthorized"),
            ("carl", "/reading", 401, "unauthorized"),
        ]
        for (name, mapping, status, part) in cases {
            let answer = try post(name, mapping)
            #expect(
                answer?.status == status && answer?.body.contains(part) == true, "\(name)\(mapping): \(answer as Any)")
            // Nobody hears what there is besides.
            #expect(!(answer?.body.contains("reading,") ?? true), "\(answer as Any)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 1 && balance.duplicate == 1 && balance.reasons == ["noTemplate": 3])
    }

    /// Without peers, too; and what was rejected comes again by the mapping that was chosen.
    @Test func aRequestChoosesAMapping() throws {
        let source = TLSText.source("http", ["mappings: [reading, wristband]"])
        let door = try Door(source, in: folder)
        let client = PostClient(door.address)
        for mapping in ["/wristband", "", "/reading", "/wristband"] {
            let answer = try client.exchange(
                PostClient.request(Readings.ndjson([line(7)]), path: "/v1/ingest\(mapping)"))
            let isTaken = mapping != "/wristband"
            #expect(answer?.status == 200 && answer?.body.contains("noTemplate") == !isTaken, "\(answer as Any)")
        }
        let balance = try door.balance()
        #expect(balance.accepted == 1 && balance.duplicate == 1 && balance.reasons == ["noTemplate": 2])
        let data = ["--data", folder.file("data")]
        let letters = try Kymo.run(["dead", "list"] + data)
        #expect(letters.text.contains("for the mapping wristband"), "\(letters.text)")
        let without = try Kymo.run(["dead", "replay", "--all", "--out", folder.file("out")] + data)
        #expect(without.error.contains("its request was for the mapping wristband alone"), "\(without.error)")
        let replay = ["dead", "replay", "--all", "--out", folder.file("out"), "--config", folder.file("kymo.yaml")]
        let again = try Kymo.run(replay + data)
        #expect(again.error.contains("noTemplate"), "\(again.error)")
        let ledger = try Kymo.run(["ledger"] + data)
        #expect(ledger.text.contains("accepted 1 "), "\(ledger.text.prefix(300))")
    }

    // MARK: How much

    /// Bytes of lines beyond the rate are rejected, and a request is to come later.
    @Test func bytes() throws {
        let list = folder.write(
            "peers.yaml", "peers:\n  - addresses: [127.0.0.1]\n    byteRate: 1\n    byteBurst: 1000\n")
        let tcp = try Door(TLSText.source("tcp", ["peers: \(list)"]), in: folder)
        let client = try RawConnection(port: tcp.port)
        let lines = (0..<50).map { line($0) }
        client.send(Readings.ndjson(lines))
        try Waiting.until("all lines") { try tcp.metric("kymo_source_messages_total") == 50 }
        let balance = try tcp.balance()
        // Each line comes as a whole: the last of them may be longer than what is left.
        let fitting = (1_000 + lines[0].utf8.count - 1) / lines[0].utf8.count
        #expect(balance.accepted >= fitting && balance.accepted <= fitting + 1, "\(tcp.run.errorText)")
        #expect(balance.reasons == ["rateLimited": 50 - balance.accepted] && balance.isClosed)

        let other = TemporaryFolder()
        let phones = peers([("anna", ["byteRate: 100", "byteBurst: 1000"])])
        let http = try Door(TLSText.source("http", ["peers: \(phones)"]), in: other)
        let (first, _) = try http.post(lines, token("anna"), scheme: "http")
        #expect(first.hasPrefix("{\"received\":50,\"rejectedCount\":0,"), "\(first)")
        let (second, _) = try http.post([line(51)], token("anna") + ["-i"], scheme: "http")
        #expect(second.hasPrefix("HTTP/1.1 429 ") && second.contains("Retry-After: "), "\(second)")
        #expect(try http.balance().accepted == 50)
    }

    /// One device that brings too much takes nothing from the others of its peer, also in requests.
    @Test func readingsOfADevice() throws {
        let list = peers([("anna", ["deviceRate: 1", "deviceBurst: 5"])])
        let door = try Door(TLSText.source("http", ["peers: \(list)"]), in: folder)
        let lines = (0..<50).map { line($0) } + (0..<5).map { line($0, device: "watch-2") }
        let (text, _) = try door.post(lines, token("anna"), scheme: "http")
        #expect(text.hasPrefix("{\"received\":55,\"rejectedCount\":45,"), "\(text)")
        #expect(
            text.contains("{\"index\":49,\"reason\":\"rateLimited\"}") && !text.contains("\"index\":5,\"reason\":\"d"))
        let balance = try door.balance()
        #expect(balance.accepted == 10 && balance.reasons == ["rateLimited": 45] && balance.isClosed)
    }

    // MARK: What is said of refusals

    /// All of a body that its sender may not bring is 403, and is a dead letter all the same.
    @Test func aBodyOfOthers() throws {
        let list = peers([("anna", ["devices: [watch-1]", "patients: [p-a]"])])
        let door = try Door(TLSText.source("http", ["peers: \(list)"]), in: folder)
        let cases: [(lines: [String], status: Int, error: String)] = [
            (
                [line(0, device: "watch-2", patient: "p-a"), line(1, device: "watch-3")], 403,
                "\"error\":\"deviceNotAllowed\""
            ),
            ([line(0, patient: "p-b")], 403, "\"error\":\"patientNotAllowed\""),
            ([line(0, device: "watch-2"), "{}"], 200, "\"rejectedCount\":2"),
            ([line(0, device: "watch-2"), line(0, patient: "p-a")], 200, "\"rejectedCount\":1"),
            // A reading that is there already is none that was refused.
            ([line(0, device: "watch-2"), line(0, patient: "p-a")], 200, "\"rejectedCount\":1"),
        ]
        let client = PostClient(door.address)
        let fields = "Authorization: Bearer token-of-anna-0123456789\r\n"
        for (lines, status, part) in cases {
            let answer = try client.exchange(PostClient.request(Readings.ndjson(lines), fields: fields))
            #expect(answer?.status == status && answer?.body.contains(part) == true, "\(answer as Any)")
            #expect(answer?.body.contains("watch") == false && answer?.body.contains("p-b") == false)
        }
        // One array with both is a payload of which something was taken.
        let array = "[\(line(3, patient: "p-a")),\(line(3, device: "watch-2"))]\n"
        let answer = try client.exchange(PostClient.request(Array(array.utf8), fields: fields))
        #expect(answer?.status == 200 && answer?.body.contains("deviceNotAllowed") == true, "\(answer as Any)")
        let balance = try door.balance()
        #expect(balance.accepted == 2 && balance.duplicate == 1 && balance.rejected == 8 && balance.isClosed)
    }

    /// A run with peers and a log of errors, which does not tell the port: one that was free is stated, and another when
    /// somebody has taken it meanwhile.
    private func quietDoor(_ list: String) throws -> (ChildProcess, UInt16) {
        while true {
            let other = try Door(TLSText.source("http", []), in: TemporaryFolder())
            let port = other.port
            _ = try other.balance()
            let source = "{http: '127.0.0.1:\(port)', name: ward, peers: \(list)}"
            let file = folder.write("kymo.yaml", "sources: [\(source)]\nlog: {level: error, format: json}\n")
            let run = try Kymo.start(["run", "--config", file, "--data", folder.file("data")])
            try Waiting.until("a door: \(run.errorText)") {
                run.errorText.contains("in use by another process") || (try? RawConnection(port: port)) != nil
            }
            if !run.errorText.contains("in use by another process") { return (run, port) }
            try run.wait()
        }
    }

    /// Whatever the level of the log is, and once for each peer and reason.
    @Test func refusalsAreAudited() throws {
        let list = peers([
            ("anna", ["devices: [watch-1]"]), ("bert", ["patients: [p-b]", "rate: 1", "burst: 1"]),
        ])
        let (run, port) = try quietDoor(list)
        let address = PostClient(":\(port)")
        func post(_ name: String, _ lines: [String]) throws -> Int? {
            let fields = "Authorization: Bearer token-of-\(name)-0123456789\r\n"
            return try address.exchange(PostClient.request(Readings.ndjson(lines), fields: fields))?.status
        }
        for _ in 0..<5 { #expect(try post("anna", (0..<40).map { line($0, device: "watch-2") }) == 403) }
        #expect(try post("bert", [line(0, patient: "p-a")]) == 403)
        #expect(try post("bert", (0..<3).map { line($0, patient: "p-b") }) == 200)
        #expect(try post("bert", [line(9, patient: "p-b")]) == 429)
        #expect(try post("carl", [line(0)]) == 401)
        let error = try run.terminate().error
        for (peer, reason) in [
            ("anna", "deviceNotAllowed"), ("bert", "patientNotAllowed"), ("bert", "rateLimited"), ("", "unknownPeer"),
        ] {
            let lines = error.split(separator: "\n").filter {
                $0.contains("\"event\":\"peer.refused\"") && $0.contains("\"peer\":\"\(peer)\"")
                    && $0.contains("\"reason\":\"\(reason)\"")
            }
            // The first, and how many more there were.
            #expect(lines.count == (peer == "anna" ? 2 : 1), "\(peer) \(reason): \(error)")
            #expect(
                lines.allSatisfy { $0.contains("\"source\":\"ward\"") && !$0.contains("watch") && !$0.contains("p-") })
        }
        #expect(error.contains("199 more like this"), "\(error)")
    }

    // MARK: Mistakes

    @Test func mistakesAreSaid() throws {
        let cases = [
            ("patient: a\n    patients: [b]", "peers[0].patient: 'patient' is given besides 'patients'"),
            ("patient: \"a*\"", "'a*' is no single patient; use patients for several"),
            ("mappings: [wristband]", "a peer may use the mapping 'wristband', which this source does not have"),
            ("byteRate: 0", "'0' is out of range"), ("deviceRate: x", "deviceRate"),
        ]
        for (settings, message) in cases {
            let list = folder.write("peers.yaml", "peers:\n  - addresses: [127.0.0.1]\n    \(settings)\n")
            let source = TLSText.source("http", ["peers: \(list)", "mappings: reading"])
            let done = try Kymo.run(["check", "--config", folder.write("k.yaml", "sources:\n\(source)\n")])
            #expect(done.end == .exit(78) && done.error.contains(message), "\(settings): \(done.error)")
        }
    }
}
