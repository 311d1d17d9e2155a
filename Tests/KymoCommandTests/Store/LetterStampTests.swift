import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A payload that waits in a dead letter has the place among others that its readings had, and is mapped by the wall
/// clock by which it came.
@Suite struct LetterStampTests {
    private let pair = LetteredPair(hasIds: true)

    private func run(_ lines: [String], _ environment: [String: String] = [:]) throws {
        let done = try pair.kymo(["run", "--stdin"], lines, environment)
        #expect(done.end == .exit(0), "\(done.error)")
    }

    /// The number of the only letter of a payload.
    private func payload() throws -> String {
        let letters = try Kymo.run(["dead", "list", "--data", "data"], directory: pair.folder.path).lines
        let payloads = letters.filter { $0.contains(" payload ") }
        #expect(payloads.count == 1, "\(letters)")
        return payloads.first?.split(separator: " ").first.map(String.init) ?? ""
    }

    /// Two readings of one time and moment, of which the first one's payload has a letter: as two lines of one read, or
    /// as two elements of a line. Catches: 70 instead of 80, by a letter that is as old as 80.
    @Test(arguments: [false, true]) func theLaterLineStays(isArray: Bool) throws {
        pair.write(sp: "$.nothing")
        let lines = [
            #"{"d":"w","t":1772352001,"i":"a","hr":70,"sp":97}"#, #"{"d":"w","t":1772352001,"i":"a","hr":80}"#,
        ]
        try run(isArray ? ["[\(lines.joined(separator: ","))]"] : lines)
        #expect(try pair.values() == ["hr": ["80"]])
        pair.write(sp: "$.sp")
        let replayed = try pair.kymo(["dead", "replay", try payload()])
        #expect(replayed.error.contains("replayed 1 payload"), "\(replayed.error)")
        #expect(try pair.values() == ["hr": ["80"], "sp": ["97"]])
        // What is in the journal, and what is archived, say the same.
        try run([#"{"d":"w","t":1772352002,"i":"b","hr":1}"#])
        #expect(try pair.values() == ["hr": ["81"], "sp": ["97"]])
        try pair.checkLedger()
    }

    /// Catches: 72 instead of 75, since the letter of a document takes 75 for what it takes back.
    @Test func aLaterCorrectionStays() throws {
        pair.write(sp: "$.nothing")
        try run([
            #"{"d":"w","t":1772352001,"i":"a","hr":70}"#,
            #"[{"gone":true,"d":"w","i":"a"},{"d":"w","t":1772352001,"i":"a","hr":72,"sp":97}]"#,
            #"{"d":"w","t":1772352001,"i":"a","hr":75}"#,
        ])
        #expect(try pair.values() == ["hr": ["75"]])
        pair.write(sp: "$.sp")
        let replayed = try pair.kymo(["dead", "replay", try payload()])
        #expect(replayed.error.contains("replayed 1 payload"), "\(replayed.error)")
        #expect(try pair.values() == ["hr": ["75"], "sp": ["97"]])
        try pair.checkLedger()
    }

    /// The machine's clock was ten days ahead, and was set. What comes then is stamped later than all before, and still
    /// of its own day: a time that is five days ahead stays rejected, and a letter that is mended takes the place of
    /// what came before it.
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func aClockThatWasAhead() throws {
        let machine = try FaultyMachine(root: "/nowhere")
        let (now, days) = (Int(time(nil)), 10 * 86_400)
        let early = #"{"d":"w","t":\#(now - 600),"#
        pair.write(sp: "$.sp")
        machine.step(seconds: Double(days))
        try run([early + #""sp":96}"#], machine.environment)
        machine.step(seconds: 0)
        pair.write(sp: "$.nothing")
        let ahead = #"{"d":"w","t":\#(now + days / 2),"i":"a","hr":70}"#
        let rejected = try pair.kymo(["run", "--stdin"], [early + #""sp":97}"#, ahead], machine.environment)
        #expect(rejected.balance?.reasons == ["missingValue": 1, "clockAhead": 1], "\(rejected.error)")
        pair.write(sp: "$.sp")
        let replayed = try pair.kymo(["dead", "replay", "--all"])
        #expect(replayed.error.contains("replayed 1 payload"), "\(replayed.error)")
        #expect(replayed.error.contains("rejected again: clockAhead"), "\(replayed.error)")
        #expect(try pair.values() == ["sp": ["97"]])
        try pair.checkLedger()
    }
}
