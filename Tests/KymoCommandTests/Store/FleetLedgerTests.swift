import CommandSupport
import KymographTestKit
import Testing

/// `kymo ledger --group`: the ledgers of several instances, added up.
@Suite struct FleetLedgerTests {
    private let folder = TemporaryFolder()

    private func write(
        _ name: String, received: Int, partitions: [(number: Int, position: Int)], missing: String = ""
    ) {
        let topic = partitions.map {
            "{\"partition\":\($0.number),\"position\":\($0.position),\"isContested\":\($0.position == 666)}"
        }.joined(separator: ",")
        folder.write(
            name,
            """
            {"balance":{"received":\(received),"accepted":\(received - 3),"duplicate":1,"conflict":0,"retractions":0,
            "open":0,"rejected":{"noTemplate":2},"onTheWay":0,"lost":0,"isLostAtLeast":false,"kernelDropped":0},
            "topics":[{"cluster":"c","group":"kymo","topic":"readings","partitions":[\(topic)]}],"missing":[\(missing)]}
            """)
    }

    private func kymo(_ arguments: String...) throws -> Kymo.Finished {
        try Kymo.run(["ledger"] + arguments, directory: folder.path)
    }

    @Test func adds() throws {
        write("a.json", received: 100, partitions: [(0, 40), (1, 60)], missing: "\"5 readings are open\"")
        write("b.json", received: 50, partitions: [(2, 50)])
        let done = try kymo("--group", "a.json", "b.json")
        let expected = """
            2 instances: received 150 = accepted 144 + duplicate 2 + conflict 0 + rejected 4
            topic readings for the group kymo:
              partition 0 up to 40: a.json
              partition 1 up to 60: a.json
              partition 2 up to 50: b.json
            a.json: 5 readings are open
            each partition is in one instance

            """
        #expect(done.end == .exit(0) && done.text == expected, "\(done.text) \(done.error)")
        #expect(try kymo("--strict", "--group", "a.json", "b.json").end == .exit(65))
        let json = try kymo("--format", "json", "--group", "a.json", "b.json")
        let tree = try JSONTree(parsing: json.output)
        #expect(tree["balance"]?["received"]?.integer == 150)
        #expect(tree["balance"]?["rejected"]?["noTemplate"]?.integer == 4)
    }

    @Test func partitionsInTwoOrNone() throws {
        write("a.json", received: 100, partitions: [(0, 40), (1, 60)])
        write("b.json", received: 50, partitions: [(1, 50), (4, 666)])
        let done = try kymo("--group", "a.json", "b.json")
        #expect(done.end == .exit(65), "\(done.text) \(done.error)")
        for text in [
            "partition 1 of topic readings for the group kymo: b.json has it, too",
            "partition 2 of topic readings for the group kymo: no instance has it",
            "partition 3 of topic readings for the group kymo: no instance has it",
            "partition 4 of topic readings for the group kymo: b.json says that others tell positions",
        ] { #expect(done.text.contains(text), "\(done.text)") }
    }

    /// What the command itself has written, and what it has not.
    @Test func files() throws {
        let run = StoredRun()
        _ = try run.run([Readings.heartRate(second: 1), Readings.heartRate(second: 2)])
        folder.write("a.json", try run.command("ledger", "--format", "json").text)
        let done = try kymo("--group", "a.json", "a.json")
        #expect(done.end == .exit(0) && done.text.hasPrefix("2 instances: received 4 = accepted 4 "), "\(done.text)")
        folder.write("no.json", "{}")
        let none = try kymo("--group", "a.json", "no.json")
        #expect(none.end == .exit(65) && none.error.contains("no.json is no ledger"), "\(none.error)")
        #expect(try kymo("--group", "gone.json").end == .exit(66))
    }
}
