import CommandSupport
import KymographTestKit
import Testing

/// A payload that waits in a dead letter, and holds a value that was taken back and corrected meanwhile.
@Suite struct RenewedLetterTests {
    private let pair = LetteredPair(hasIds: false)

    /// Catches: 60 and 72 both in the window after the replay. All lines come at once, and have one receive time but for
    /// what the correction adds; or in two runs.
    @Test(arguments: [true, false]) func theFormerValueDoesNotComeBack(isAtOnce: Bool) throws {
        pair.write(sp: "$.nothing")
        let first = #"{"d":"w","t":1772352001,"hr":60,"sp":97}"#
        let correction = #"[{"gone":true,"d":"w","t":1772352001},{"d":"w","t":1772352001,"hr":72}]"#
        // What comes behind the correction, in the same moment, counts.
        let later = #"{"d":"w","t":1772352002,"hr":100,"sp":98}"#
        if isAtOnce {
            #expect(try pair.kymo(["run", "--stdin"], [first, correction, later]).end == .exit(0))
        } else {
            #expect(try pair.kymo(["run", "--stdin"], [first]).end == .exit(0))
            #expect(try pair.kymo(["run", "--stdin"], [correction, later]).end == .exit(0))
        }
        #expect(try pair.values() == ["hr": ["172"]])
        pair.write(sp: "$.sp")
        let replayed = try pair.kymo(["dead", "replay", "--all"])
        #expect(replayed.error.contains("replayed 2 payloads"), "\(replayed.error)")
        #expect(try pair.values() == ["hr": ["172"], "sp": ["195"]])
        let letters = try Kymo.run(["dead", "list", "--data", "data"], directory: pair.folder.path)
        #expect(letters.lines.count { $0.contains("retracted") } == 2, "\(letters.text)")
        try pair.checkLedger()
    }
}
