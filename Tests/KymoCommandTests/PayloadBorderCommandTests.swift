import CommandSupport
import KymographTestKit
import Testing

/// What is behind the first value of a line is read or counted, whatever the mapping's compatibility.
@Suite struct PayloadBorderCommandTests {
    @Test(arguments: ["none", "iomt-fhir"]) func everyValueOfALineIsCounted(_ compatibility: String) throws {
        let folder = TemporaryFolder()
        let letters = folder.file("dead.ndjson")
        let line = { (second: Int) in Readings.heartRate(second: second).replacing("\n", with: "") }
        let input = "\(line(1))\(line(2))\n\(line(3)) lost \(line(4))\n\(line(5))\n"
        let done = try Kymo.run(
            ["run", "--stdin", "--ephemeral", "--compatibility", compatibility, "--dead-letter", letters],
            input: .bytes(Array(input.utf8)))
        let balance = try #require(done.balance)
        #expect(
            balance.received == 5 && balance.accepted == 4 && balance.reasons == ["invalidJSON": 1], "\(done.error)")
        #expect(try DeadLetter.read(letters).map(\.text) == ["lost \(line(4))"])
    }

    /// A line that is cut at any place loses itself, and not those behind it.
    @Test(arguments: [["--udp", "127.0.0.1:0"], ["--unixgram", "a.sock"]])
    func aCutLineOfADatagramLosesNoOther(source: [String]) throws {
        let folder = TemporaryFolder()
        let letters = folder.file("dead.ndjson")
        let run = try Kymo.start(["run", "--dead-letter", letters] + source, directory: folder.path)
        let listed = try run.addresses()[0]
        let address = source[0] == "--unixgram" ? "unixgram \(folder.file("a.sock"))" : listed
        let lines = Readings.heartRates(4).map { Array($0.utf8) }
        let cuts = [30, lines[0].count - 9, lines[0].count - 1]
        try Sending.send(
            cuts.map { cut in Array(([Array(lines[0].prefix(cut))] + lines[1...]).joined(separator: [0x0A])) },
            to: address)
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.received == 12 && balance.reasons == ["invalidJSON": 3], "\(done.error)")
        #expect(balance.accepted == 3 && balance.duplicate == 6, "\(done.error)")
        #expect(try DeadLetter.read(letters).map(\.bytes) == cuts.map { Array(lines[0].prefix($0)) })
    }

    @Test func mapRefusesDefaultsThatAreNoIdentifiers() throws {
        for option in ["--default-device", "--default-patient"] {
            let done = try Kymo.run(["map", option, "a\u{7}"], input: .bytes([]))
            #expect(done.end == .exit(78) && done.error.contains("\(option): the identifier holds a control character"))
            let run = try Kymo.run(["run", "--stdin", "--ephemeral", option, "a\u{7}"], input: .bytes([]))
            #expect(
                run.end == .exit(78) && run.error.contains("the identifier holds a control character"), "\(run.error)")
        }
    }
}
