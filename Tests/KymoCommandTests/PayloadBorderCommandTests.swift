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
