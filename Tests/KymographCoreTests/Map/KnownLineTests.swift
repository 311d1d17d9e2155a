import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// A mapper takes lines whose shape it knows from a stream before their ends are found: it must give the same as a mapper
/// that has seen nothing and gets each line alone, and as one without a fast path.
@Suite struct KnownLineTests {
    /// Maps a stream as a lane does; how many lines were taken before their ends were found, and how many readings
    /// came in registers.
    private func stream(
        _ bytes: [UInt8], _ run: MappingRun, takesPlain: Bool = true
    ) -> (outcome: MappingRun.Outcome, known: Int, plain: Int) {
        var mapper = run.mapper()
        var output = CollectingOutput(run.set)
        output.takesPlain = takesPlain
        let storage = PaddedBytes(copying: bytes)
        let view = storage.view
        var start = 0
        var known = 0
        while start < view.count {
            let rest = view[start..<view.count]
            if let length = mapper.mapKnownLine(
                rest, context: run.context, received: run.received, output: &output)
            {
                #expect(rest[length] == 0x0A)
                known += 1
                start += length + 1
                continue
            }
            let end = (start..<view.count).first { view[$0] == 0x0A } ?? view.count
            mapper.mapLine(view[start..<end], context: run.context, received: run.received, output: &output)
            start = end + 1
        }
        let outcome = MappingRun.Outcome(readings: output.readings, rejections: output.rejections)
        if run.usesFastPath {
            var general = run
            general.usesFastPath = false
            let without = stream(bytes, general, takesPlain: takesPlain)
            #expect(without.outcome == outcome)
            #expect(without.known == 0 && without.plain == 0)
        }
        return (outcome, known, output.plainReadings)
    }

    /// What each line gives to a mapper of its own.
    private func alone(_ bytes: [UInt8], _ run: MappingRun) -> MappingRun.Outcome {
        bytes.split(separator: 0x0A).reduce(into: MappingRun.Outcome(readings: [], rejections: [])) { all, line in
            var mapper = run.mapper()
            var output = CollectingOutput(run.set)
            let storage = PaddedBytes(copying: line)
            mapper.mapLine(storage.view, context: run.context, received: run.received, output: &output)
            all.readings += output.readings
            all.rejections += output.rejections
        }
    }

    // MARK: Lines

    private func text(_ length: Int, _ random: inout SeededGenerator) -> String {
        var letters = (0..<length).map { _ in "abcdefgh-9".randomElement(using: &random) ?? "a" }.map(String.init)
        let rare = ["\\n", "\\\"", "é", "\u{1}", "\u{7F}", "\"", " ", "\\"]
        if length > 0, Int.random(in: 0..<12, using: &random) == 0 {
            letters[Int.random(in: 0..<length, using: &random)] = rare.randomElement(using: &random) ?? " "
        }
        return "\"" + letters.joined() + "\""
    }

    private func digits(_ count: Int, _ random: inout SeededGenerator) -> String {
        let rare = ["0", ".", "e", "-", " "]
        var digits = ["1"] + (1..<max(count, 1)).map { _ in String(Int.random(in: 0...9, using: &random)) }
        if Int.random(in: 0..<12, using: &random) == 0 {
            digits[Int.random(in: 0..<digits.count, using: &random)] = rare.randomElement(using: &random) ?? "0"
        }
        return digits.joined()
    }

    /// Most values have the lengths of `usual`.
    private func line(_ usual: [Int], _ random: inout SeededGenerator) -> String {
        func length(_ place: Int) -> Int {
            Int.random(in: 0..<6, using: &random) > 0 ? usual[place] : Int.random(in: 0...36, using: &random)
        }
        let device = text(length(0), &random)
        let time = Bool.random(using: &random) ? "1" + digits(length(1), &random).dropFirst() : digits(13, &random)
        let value =
            [digits(2, &random), digits(1, &random) + "." + digits(1, &random), text(2, &random)]
            .randomElement(using: &random) ?? "1"
        // Segments that begin alike: of a text, of a number, and of one with a blank before it.
        let note =
            ["", ",\"note\":\(text(length(2), &random))", ",\"note\":\(digits(3, &random))"]
            .randomElement(using: &random) ?? ""
        let blank = Int.random(in: 0..<8, using: &random) == 0 ? " " : ""
        let end = ["\n", "\n", "\n", "\r\n", " \n", "\n\n"].randomElement(using: &random) ?? "\n"
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return
                "{\"device\":\(device),\"type\":\"temperature\",\"ts\":\(time),\"value\":\(blank)\(value)\(note)}\(end)"
        case 1:
            return
                "{\"device\":\(device),\"type\":\"hr\",\"ts\":\"2023-11-14T22:13:20Z\",\"value\":\(value)\(note)}\(end)"
        case 2: return "{\"device\":\(device),\"ts\":\"2023-11-14T22:13:20Z\",\"level\":\(blank)\(value)}\(end)"
        default: return "{\"type\":\"temperature\",\"device\":\(device),\"ts\":1700000000000,\"value\":36.6}\(end)"
        }
    }

    @Test(arguments: Trials.seeds(tenthOf: 60))
    func linesGiveWhatEachGivesAlone(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var run = try KnownShapeTests.run("", KnownShapeTests.settled)
        if seed % 4 == 1 { run.context = SourceContext(defaultDevice: Array("dd".utf8)) }
        if seed % 4 == 2 { run.context = SourceContext(defaultPatient: Array("dp".utf8)) }
        if seed % 4 == 3 { run.context = SourceContext(requiresPatient: true) }
        let usual = [Int.random(in: 1...30, using: &random), 13, Int.random(in: 0...18, using: &random)]
        let bytes = (0..<500).reduce(into: [UInt8]()) { bytes, _ in bytes += line(usual, &random).utf8 }
        let all = stream(bytes, run)
        #expect(all.outcome == alone(bytes, run))
        #expect(stream(bytes, run, takesPlain: false).outcome == all.outcome)
        if seed % 4 < 2 { #expect(all.known > 100 && all.plain > (seed % 4 == 0 && usual[0] <= 28 ? 100 : -1)) }
    }

    /// A document that is whole is no line before its newline has come.
    @Test func aLineWithoutItsNewlineIsNotTaken() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        let line = #"{"device":"d","type":"hr","ts":"2023-11-14T22:13:20Z","value":72}"#
        for end in ["", " ", "x", "\r", "}"] {
            let all = stream(Array((line + "\n" + line + "\n" + line + end).utf8), run)
            #expect(all.known == 1)
            #expect(all.outcome == alone(Array((line + "\n" + line + "\n" + line + end).utf8), run))
        }
    }

    /// What leads to a number may be as long as a piece of what leads to a text.
    @Test func kindsThatTakeTurnsAreBothKnown() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        for length in 1...40 {
            let name = String(repeating: "n", count: length)
            func line(_ value: String) -> String {
                #"{"device":"d","type":"hr","ts":"2023-11-14T22:13:20Z","value":72,"\#(name)":\#(value)}"# + "\n"
            }
            let lines = [line("1"), line("\"t\""), line(" 2"), line(" \"u\"")]
            let all = stream(Array((lines + lines + lines).joined().utf8), run)
            #expect(all.known == 8, "\(length)")
            #expect(all.outcome.readings.count == 12)
        }
    }

    /// Two keys are the same when all of their bytes are.
    @Test func keysThatDifferAreNotEqual() {
        var random = SeededGenerator(seed: Trials.seed(1))
        func key(_ type: Int32, _ device: String) -> ShortKey? {
            let storage = PaddedBytes(copying: device.utf8)
            return ShortKey(type: type, device: storage.view)
        }
        for (one, other) in [((1, "bed-b12"), (3, "bed-b12")), ((0, "pump-017"), (1, "pump-017"))] {
            let keys = (key(Int32(one.0), one.1), key(Int32(other.0), other.1))
            #expect(keys.1.flatMap { keys.0?.equals($0) } == false)
        }
        for _ in 0..<20_000 {
            let length = Int.random(in: 1...28, using: &random)
            let type = Int32.random(in: 0..<8, using: &random)
            let device = (0..<length).map { _ in "abcdefgh0123".randomElement(using: &random) ?? "a" }
            var other = device
            let place = Int.random(in: 0..<length, using: &random)
            other[place] = "abcdefgh0123".randomElement(using: &random) ?? "a"
            let otherType = Int32.random(in: 0..<8, using: &random)
            let keys = (key(type, String(device)), key(otherType, String(other)))
            #expect(keys.1.flatMap { keys.0?.equals($0) } == (type == otherType && device == other))
        }
    }

    /// Keys made of registers are those that were written.
    @Test func keysOfDevicesAreThoseOfTheirIdentities() {
        for length in 1...40 {
            let device = (0..<length).map { UInt8(0x41 + $0) }
            let key = SeriesKey.encode(SeriesIdentity(type: 70_000 + length, device: device))
            let storage = PaddedBytes(copying: device)
            #expect(ShortKey(type: Int32(70_000 + length), device: storage.view)?.bytes == (length > 28 ? nil : key))
        }
        for refused in ["", " d", "\t"] {
            let storage = PaddedBytes(copying: refused.utf8)
            #expect(ShortKey(type: 1, device: storage.view) == nil)
        }
    }
}
