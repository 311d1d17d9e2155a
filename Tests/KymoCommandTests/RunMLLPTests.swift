import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `kymo run --mllp`, with real clients.
@Suite struct RunMLLPTests {
    private let folder = TemporaryFolder()

    private func start(
        _ arguments: [String] = [], at address: String = "127.0.0.1:0"
    ) throws -> (ChildProcess, String) {
        let run = try Kymo.start(
            [
                "run", "--mllp", address, "--mapping", "pcd-01", "--data", folder.file("data"), "--out",
                folder.file("out"), "--dead-letter", folder.file("dead.ndjson"),
            ] + arguments)
        return (run, try run.addresses()[0])
    }

    private func bundles() throws -> BundleReader {
        var reader = BundleReader()
        for name in Files.names(folder.file("out")) { try reader.read(ndjson: Files.read(folder.file("out/\(name)"))) }
        return reader
    }

    private func message(_ id: Int, _ results: [String], second: Int = 0, fields: String = "") -> String {
        MonitorMessages.message(id: id, second: second, results: results, fields: fields)
    }

    /// What was acknowledged is there after the worst end, and the same message is acknowledged again.
    @Test func whatIsAcknowledgedIsDurable() throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let first = message(7, [MonitorMessages.heartRate("72"), MonitorMessages.saturation("97.5")])
        let reply = try #require(try client.exchange(first))
        let header = /MSH\|\^~\\&\|KYMO\|HOSPITAL\|GATEWAY\|WARD\|\d{14}\+0000\|\|ACK\^R01\^ACK\|\d+\|P\|2\.6\n/
        #expect(reply.prefixMatch(of: header) != nil && reply.hasSuffix("\nMSA|AA|7\n"), "\(reply)")
        run.signal(SIGKILL)
        _ = try run.wait()
        let (again, other) = try start()
        #expect(try MLLPClient(other).exchange(first)?.contains("MSA|AA|7\n") == true)
        let balance = try #require(try again.terminate().balance)
        #expect(balance.received == 2 && balance.duplicate == 2 && balance.isClosed)
        #expect(try bundles().observations.count == 2)
    }

    /// A sender that has gone before the answer has delivered all the same, and may send everything again.
    @Test func whoHasGoneSendsAgain() throws {
        let (run, address) = try start()
        let messages = (0..<100).map { message($0, [MonitorMessages.heartRate("72")], second: $0) }
        var first: RawConnection? = try RawConnection(port: PostClient.port(address))
        first?.send(messages.flatMap(MLLPClient.frame))
        first = nil
        let second = try MLLPClient(address)
        for (id, text) in messages.enumerated() {
            #expect(try second.exchange(text)?.contains("MSA|AA|\(id)\n") == true)
        }
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 100 && balance.isClosed && balance.received == 100 + balance.duplicate)
        #expect(try bundles().observations.count == 100)
    }

    /// Results that give no reading are told by their reasons, and nothing else of them; each is a letter by itself,
    /// which can be mapped again.
    @Test func rejectedResults() throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let results = [
            MonitorMessages.heartRate("72"), MonitorMessages.saturation("secret"),
            MonitorMessages.saturation("97", status: "X"),
        ]
        let reply = try #require(try client.exchange(message(1, results)))
        #expect(reply.contains("MSA|AE|1\n") && !reply.contains("secret") && !reply.contains("p-1"), "\(reply)")
        #expect(reply.contains("ERR|||102^Data type error^HL70357|E|invalidValue^^L\n"), "\(reply)")
        #expect(reply.contains("ERR|||103^Table value not found^HL70357|E|resultStatus^^L\n"), "\(reply)")
        let done = try run.terminate()
        #expect(done.balance?.accepted == 1 && done.balance?.reasons == ["invalidValue": 1, "resultStatus": 1])
        let letters = try DeadLetter.read(folder.file("dead.ndjson"))
        let lines = message(1, [results[2]]).replacing("\n", with: "\r") + "\r"
        #expect(Set(letters.map(\.reason)) == ["resultStatus", "invalidValue"] && letters.count == 2)
        #expect(letters.contains { $0.text == lines }, "\(letters.map(\.text))")
        #expect(letters.allSatisfy { $0.detail.contains("sent by 127.0.0.1:") })
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--mllp", "127.0.0.1:0", "--mapping", "pcd-01", "--data", folder.file("data"),
            "--out", folder.file("out"),
        ])
        #expect(replay.end == .exit(65) && replay.error.contains("rejected again: invalidValue"), "\(replay.error)")
    }

    /// Each result is taken for itself: one is withdrawn, another comes. What was never sent is counted, and the sender
    /// hears of no error.
    @Test(arguments: ["D", "W"]) func withdrawnResultsAreTakenBack(_ status: String) throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let first = message(1, [MonitorMessages.heartRate("72"), MonitorMessages.saturation("97")])
        #expect(try client.exchange(first)?.contains("MSA|AA|1\n") == true)
        run.signal(SIGKILL)
        _ = try run.wait()
        let (again, other) = try start()
        let sender = try MLLPClient(other)
        let second = message(2, [MonitorMessages.heartRate("72"), MonitorMessages.saturation("", status: status)])
        #expect(try sender.exchange(second)?.contains("MSA|AA|2\n") == true)
        #expect(try sender.exchange(second)?.contains("MSA|AA|2\n") == true)
        let third = message(3, [MonitorMessages.saturation("97", status: status)], second: 60)
        #expect(try sender.exchange(third)?.contains("MSA|AA|3\n") == true)
        #expect(try sender.exchange(first)?.contains("MSA|AA|1\n") == true)
        let balance = try #require(try again.terminate().balance)
        #expect(balance.isClosed && balance.retractions == 2, "\(balance)")
        #expect(balance.reasons["unknownRetraction"] == 1 && balance.reasons["retracted"] ?? 0 >= 1, "\(balance)")
        let shown = try bundles().observations.values.filter { $0["status"]?.text != "entered-in-error" }
        #expect(shown.count == 1)
        // What was taken back is known, and nothing is missing.
        let ledger = try Kymo.run(["ledger", "--data", folder.file("data")])
        #expect(ledger.end == .exit(0), "\(ledger.text)")
        let series = "monitorOxygenSaturation of p-1: windows 1, readings 0, rejected retracted 2\n"
        #expect(ledger.text.contains(series), "\(ledger.text)")
    }

    /// A correction behind its withdrawal is kept out, as the withdrawn result is; with it, it takes its place.
    @Test func aCorrectionComesWithItsWithdrawal() throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let (withdrawal, correction) = (
            MonitorMessages.saturation("", status: "W"), MonitorMessages.saturation("98", status: "C")
        )
        for (id, results) in [[MonitorMessages.saturation("97")], [withdrawal], [correction]].enumerated() {
            #expect(try client.exchange(message(id, results))?.contains("MSA|AA|") == true)
        }
        #expect(try client.exchange(message(4, [withdrawal, correction]))?.contains("MSA|AA|4\n") == true)
        #expect(try client.exchange(message(5, [correction]))?.contains("MSA|AA|5\n") == true)
        let balance = try #require(try run.terminate().balance)
        #expect(balance.isClosed && balance.reasons["retracted"] == 2 && balance.duplicate == 1, "\(balance)")
        let shown = try bundles().observations.values.filter { $0["status"]?.text != "entered-in-error" }
        #expect(shown.count == 1)
    }

    /// Results that cannot be told apart are one letter.
    @Test func probesOfOneTime() throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let probes = ["1.4.1.1", "1.4.2.1"].map { "OBX|2|NM|150344^MDC_TEMP^MDC|\($0)|36.5|Cel|||||F" }
        let text = message(1, probes + [MonitorMessages.heartRate("72")])
        let reply = try #require(try client.exchange(text))
        #expect(reply.contains("MSA|AE|1\n") && reply.contains("|ambiguousExpression^^L\n"), "\(reply)")
        let done = try run.terminate()
        #expect(done.balance?.accepted == 1 && done.balance?.isClosed == true, "\(done.error)")
        #expect(done.balance?.reasons == ["ambiguousExpression": 1], "\(done.error)")
        let letters = try DeadLetter.read(folder.file("dead.ndjson")).map(\.text)
        #expect(letters == [message(1, probes).replacing("\n", with: "\r") + "\r"], "\(letters)")
    }

    /// A letter whose cause is mended is mapped again, by the same device, patient and time.
    @Test func lettersAreMappedAgain() throws {
        let place = "127.0.0.1:\(try FreePort.find())"
        let (run, address) = try start(at: place)
        let text = message(1, [MonitorMessages.heartRate("72")]).replacing("+0000", with: "")
        #expect(try MLLPClient(address).exchange(text)?.contains("unknownTimeZone") == true)
        #expect(try run.terminate().balance?.rejected == 1)
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--mllp", place, "--timezone", "+01:00", "--mapping",
            "pcd-01", "--data", folder.file("data"), "--out", folder.file("out"),
        ])
        #expect(replay.end == .exit(0), "\(replay.error)")
        let observation = try #require(try bundles().observations.values.first)
        #expect("\(observation)".contains("2026-03-01T08:00:00+01:00"), "\(observation)")
    }

    /// A correction takes the place of what was there: the same Observation, amended.
    @Test func corrections() throws {
        let (run, address) = try start(["--idle", "1s"])
        let client = try MLLPClient(address)
        for (id, value, status) in [(1, "72", "R"), (2, "75", "C"), (3, "75", "C")] {
            let reply = try client.exchange(message(id, [MonitorMessages.heartRate(value, status: status)]))
            #expect(reply?.contains("MSA|AA|\(id)\n") == true)
        }
        let done = try run.terminate()
        #expect(done.balance?.duplicate == 1 && done.balance?.isClosed == true, "\(done.error)")
        let found = try bundles().observations
        #expect(found.count == 1 && "\(found)".contains("75") && !"\(found)".contains("\"72\""), "\(found)")
    }

    /// Who asks for acknowledgements of one kind, or on some conditions, is answered so (MSH-15 and MSH-16).
    @Test(
        arguments: [
            ("|||AL|NE", "CA", "CE"), ("|||NE|AL", "AA", "AE"), ("|||AL|AL", "AA", "AE"), ("|||ER|NE", nil, "CE"),
            ("|||SU|NE", "CA", nil), ("|||NE|ER", nil, "AE"), ("|||AL|ER", "CA", "AE"),
        ] as [(String, String?, String?)])
    func conditions(fields: String, good: String?, bad: String?) throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        client.connection.send(MLLPClient.frame(message(1, [MonitorMessages.heartRate("72")], fields: fields)))
        client.connection.send(MLLPClient.frame(message(2, [MonitorMessages.heartRate("x")], fields: fields)))
        client.connection.send(MLLPClient.frame(message(3, [MonitorMessages.heartRate("73")])))
        var replies: [String] = []
        try Waiting.until("the last reply") {
            replies += client.acknowledgements()
            return replies.contains { $0.contains("|3\n") }
        }
        func code(_ id: Int) -> String? {
            replies.lazy.compactMap { $0.firstMatch(of: /MSA\|(..)\|(\d)/) }.first { $0.output.2 == "\(id)" }
                .map { String($0.output.1) }
        }
        #expect(code(1) == good && code(2) == bad && code(3) == "AA", "\(replies)")
        #expect(try run.terminate().balance?.received == 3)
    }

    /// What is no message is counted with its reason and bytes, and the next message is read.
    @Test func whatIsNoMessage() throws {
        let (run, address) = try start()
        let good = MLLPClient.frame(message(1, [MonitorMessages.heartRate("72")]))
        let bare = Array(good[1..<(good.count - 2)])
        let cases: [(bytes: [UInt8], reason: String)] = [
            (Array("hello".utf8), "frameMalformed"), ([0x0A], "frameMalformed"),
            (bare + [0x1C, 0x0D], "frameMalformed"), ([0x0B] + bare + [0x1C], "frameMalformed"),
            ([0x0B] + bare, "frameIncomplete"), ([0x0B, 0x1C, 0x0D], "frameMalformed"),
        ]
        for (bytes, reason) in cases {
            let client = try MLLPClient(address)
            client.connection.send(bytes + good)
            var replies: [String] = []
            try Waiting.until("the reply behind \(reason)") {
                replies += client.acknowledgements()
                return !replies.isEmpty
            }
            #expect(replies.count == 1 && replies[0].contains("MSA|AA|1\n"), "\(replies)")
        }
        let cut = try MLLPClient(address)
        cut.connection.send(Array(good.dropLast(3)))
        cut.connection.finishSending()
        try cut.connection.wait("the end") { $0.hasEnded }
        let done = try run.terminate()
        let letters = try DeadLetter.read(folder.file("dead.ndjson"))
        let sent = Set(cases.map { [UInt8]($0.bytes) })
        #expect(letters.count { $0.reason == "frameIncomplete" } == 2 && letters.count == 8, "\(letters)")
        for letter in letters where letter.reason == "frameMalformed" {
            // An empty message, and what is left of an end, are their own letters.
            let isPart = sent.contains { $0.starts(with: letter.bytes) } && !letter.bytes.isEmpty
            #expect(isPart || letter.bytes == [0x0D] || letter.bytes == [], "\(letter)")
        }
        #expect(done.balance?.isClosed == true && done.balance?.accepted == 1, "\(done.error)")
    }

    /// Messages that are not read are refused, with the reason, and the connection stays.
    @Test func refusedMessages() throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let good = message(1, [MonitorMessages.heartRate("72")])
        for (text, id, reason) in [
            ("hello", "", "malformedMessage"),
            (good.replacing("ORU^R01^ORU_R01", with: "ADT^A01"), "1", "unsupportedMessage"),
            (good.replacing("|P|2.6", with: "|T|2.6"), "1", "testMeasurement"),
            (good.replacing("|P|2.6", with: "|P|2.6||||||8859/2"), "1", "unsupportedCharset"),
        ] {
            let reply = try #require(try client.exchange(text))
            #expect(reply.contains("MSA|AR|\(id)\n") && reply.contains("|E|\(reason)^^L\n"), "\(reply)")
        }
        #expect(try client.exchange(good)?.contains("MSA|AA|1\n") == true)
        #expect(try run.terminate().balance?.rejected == 4)
    }

    /// Hundreds of messages may be on their way, in pieces of any size; replies come in order.
    @Test func manyAtATime() throws {
        let (run, address) = try start()
        let client = try MLLPClient(address)
        let count = 2_000
        let all = (0..<count).flatMap {
            MLLPClient.frame(message($0, [MonitorMessages.heartRate("\(60 + $0 % 40)")], second: $0))
        }
        var (place, random) = (0, SeededBytes(seed: 5))
        while place < all.count {
            let size = min(all.count - place, 1 + random.next(upTo: place % 3 == 0 ? 40 : 60_000))
            client.connection.send(Array(all[place..<(place + size)]))
            place += size
        }
        var replies: [String] = []
        try Waiting.until("all replies") {
            replies += client.acknowledgements()
            return replies.count == count
        }
        #expect(replies.indices.allSatisfy { replies[$0].contains("MSA|AA|\($0)\n") })
        #expect(try run.terminate().balance?.accepted == count)
    }

    @Test func settingsThatDoNotGoTogether() throws {
        let open = try Kymo.run(["run", "--mllp", "0.0.0.0:0", "--mapping", "pcd-01"])
        #expect(open.end == .exit(78) && open.error.contains("--insecure"), "\(open.error)")
        let other = try Kymo.run(["check", "--mllp", "127.0.0.1:0"])
        #expect(other.end == .exit(78) && other.error.contains("reads no HL7 v2"), "\(other.error)")
        let file = folder.write(
            "kymo.yaml", "sources:\n- mllp: 127.0.0.1:0\n  mappings: [pcd-01]\n  whenFull: dropNewest\n")
        let drops = try Kymo.run(["check", "--config", file])
        #expect(drops.end == .exit(78) && drops.error.contains("whenFull: block"), "\(drops.error)")
    }

    /// A file with a message is read as one, whatever its line ends; each group is explained.
    @Test func filesWithMessages() throws {
        let text = message(1, [MonitorMessages.heartRate("72"), MonitorMessages.saturation("97")])
        for (name, end) in [("a.hl7", "\n"), ("b.hl7", "\r"), ("c.hl7", "\r\n")] {
            let file = folder.write(name, text.replacing("\n", with: end))
            let mapped = try Kymo.run(["map", "--mapping", "pcd-01", file])
            #expect(mapped.end == .exit(0) && mapped.text.contains("\"monitor-1\""), "\(mapped.error)")
            let explained = try Kymo.run(["map", "--mapping", "pcd-01", "--explain", file])
            #expect(explained.error.contains("decoded: {\"OBX\":[{\"value\":72,"), "\(explained.error)")
            #expect(explained.error.contains("a reading: beatsPerMinute = 72"), "\(explained.error)")
            let checked = try Kymo.run(["check", "--mapping", "pcd-01", "--events", file])
            #expect(checked.end == .exit(0), "\(checked.error)")
        }
    }

    /// Messages one behind the other in a file, in frames or without, in pieces of any size.
    @Test func filesOfMessages() throws {
        let texts = (0..<40).map { message($0, [MonitorMessages.heartRate("72")], second: $0) }
        let framed = Array(texts.flatMap(MLLPClient.frame))
        for bytes in [framed, Array((texts.joined(separator: "\n\n") + "\n").utf8)] {
            let done = try Kymo.run(
                ["run", "--stdin", "--payload", "hl7v2", "--mapping", "pcd-01"], input: .bytes(bytes))
            #expect(done.balance?.accepted == 40 && done.balance?.rejected == 0, "\(done.error)")
        }
        let long = message(1, [MonitorMessages.heartRate("72")]) + "\nZZZ|" + String(repeating: "z", count: 2 << 20)
        let bytes = Array([texts[0], long, texts[2], "MSH"].joined(separator: "\n").utf8)
        let done = try Kymo.run(["run", "--stdin", "--payload", "hl7v2", "--mapping", "pcd-01"], input: .bytes(bytes))
        let reasons = ["frameTooLong": 1, "malformedMessage": 1]
        #expect(done.balance?.accepted == 2 && done.balance?.reasons == reasons, "\(done.error)")
    }
}
