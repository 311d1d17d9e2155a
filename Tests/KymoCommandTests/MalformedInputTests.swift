import CommandSupport
import Testing
import TrialSupport

/// Every kind of broken input on every kind of source: no crash, and each piece is counted with its reason.
@Suite struct MalformedInputTests {
    /// A payload, and the reason for which it is rejected; nil when it is good.
    struct Case {
        var bytes: [UInt8]
        var reason: String?
        /// What the dead letter keeps: the payload, or the array's element.
        var kept: [UInt8]
        /// Whether the payload has a good reading too.
        var isMixed = false

        init(_ text: String, _ reason: String?, kept: String? = nil, isMixed: Bool = false) {
            self.init(bytes: Array(text.utf8), reason)
            self.kept = Array((kept ?? text).utf8)
            self.isMixed = isMixed
        }

        init(bytes: [UInt8], _ reason: String?) {
            self.bytes = bytes
            self.reason = reason
            kept = bytes
        }
    }

    private static let good = Readings.heartRate(second: 0)

    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SeededBytes(seed: Trials.seed(7))
        return generator.bytes(count).filter { $0 > 0x20 }
    }

    /// One line each.
    static let cases: [Case] = [
        Case(good, nil),
        Case(String(good.dropLast()), "invalidJSON"),
        Case(String(good.prefix(40)), "invalidJSON"),
        Case(good + "}", "invalidJSON"),
        Case("hello", "invalidJSON"),
        Case("{'deviceId':'x'}", "invalidJSON"),
        Case(good.replacing("72", with: "072"), "invalidJSON"),
        Case(good.replacing("72", with: "NaN"), "invalidJSON"),
        Case(good.replacing("watch-1", with: "a\u{1}b"), "invalidJSON"),
        Case(good.replacing("watch-1", with: "\\x"), "invalidJSON"),
        Case(bytes: Array(good.utf8).map { $0 == UInt8(ascii: "w") ? 0xFF : $0 }, "invalidUTF8"),
        Case(bytes: Array("{\"deviceId\":\"".utf8) + [0xC3], "invalidUTF8"),
        Case(bytes: [0, 1, 2, 3, 0x7F], "invalidJSON"),
        Case(bytes: noise(200), "?"),
        Case(String(repeating: "[", count: 100) + String(repeating: "]", count: 100), "tooDeep"),
        Case(String(repeating: "{\"a\":", count: 30_000), "tooDeep"),
        Case(good.replacing("72", with: "null"), "nullValue"),
        Case(good.replacing(",\"value\":72", with: ""), "missingValue"),
        Case(good.replacing("72", with: "true"), "invalidValue"),
        Case(good.replacing("72", with: "\"high\""), "invalidValue"),
        Case(good.replacing("72", with: "{\"a\":1}"), "invalidValue"),
        Case(good.replacing("72", with: "1234567890123456789012"), "inexactNumber"),
        Case(good.replacing("72", with: "1e400"), "inexactNumber"),
        Case(good.replacing("\"deviceId\":\"watch-1\",", with: ""), "noDevice"),
        Case(good.replacing("\"watch-1\"", with: "null"), "noDevice"),
        Case(good.replacing("2026-03-01T08:00:00Z", with: "yesterday"), "invalidTimestamp"),
        Case(good.replacing("2026-03-01T08:00:00Z", with: "2026-02-30T08:00:00Z"), "invalidTimestamp"),
        Case(good.replacing("\"timestamp\":\"2026-03-01T08:00:00Z\",", with: ""), "noTimestamp"),
        Case(good.replacing("2026-03-01", with: "2199-03-01"), "clockAhead"),
        Case(good.replacing("heartRate", with: "mood"), "noTemplate"),
        Case(good.replacing("/min", with: "Hz"), "noTemplate"),
        Case(good.replacing("watch-1", with: String(repeating: "w", count: 20_000)), "valueTooLong"),
        Case("{}", "noTemplate"), Case("null", "noTemplate"), Case("42", "noTemplate"), Case("\"text\"", "noTemplate"),
        Case("[1]", "noTemplate", kept: "1"), Case("[\(good),7]", "noTemplate", kept: "7", isMixed: true),
        Case(Readings.heartRate(second: 1), nil),
    ]

    /// More than a line may have; only streams have lines.
    private static let hugeLine = Case(String(repeating: "x", count: 400_000), "lineTooLong")

    @Test(arguments: ["stdin", "unix", "unixgram", "udp"])
    func everyKind(source: String) throws {
        let folder = TemporaryFolder()
        let isStream = source == "stdin" || source == "unix"
        // A datagram of 150,000 bytes does not fit into UDP.
        var cases = MalformedInputTests.cases.filter { source != "udp" || $0.bytes.count < 65_000 }
        if isStream { cases.insert(MalformedInputTests.hugeLine, at: 5) }
        let run = try start(source, folder)
        let ending: [UInt8] = isStream ? [0x0A] : []
        try send(cases.map { $0.bytes + ending } + [ending, ending], to: run, source)
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.kernelDropped == 0, "\(done.error)")
        try compare(balance, cases, isStream: isStream)
        try compareLetters(try DeadLetter.read(folder.file("dead.ndjson")), cases, isStream: isStream)
    }

    private func start(_ source: String, _ folder: TemporaryFolder) throws -> ChildProcess {
        let letters = ["--dead-letter", folder.file("dead.ndjson")]
        // As long as datagrams may be, so that one list of cases does for all.
        let limits = ["KYMO_LIMITS_LINE_BYTES": "64KiB"]
        switch source {
        case "stdin": return try Kymo.start(["run", "--stdin"] + letters, environment: limits, input: .pipe)
        case "udp": return try Kymo.start(["run", "--udp", "127.0.0.1:0"] + letters, environment: limits)
        default:
            return try Kymo.start(["run", "--\(source)", folder.file("a.sock")] + letters, environment: limits)
        }
    }

    private func send(_ payloads: [[UInt8]], to run: ChildProcess, _ source: String) throws {
        let address = try run.addresses()[0]
        guard source == "stdin" else { return try Sending.send(payloads, to: address) }
        for payload in payloads { run.write(payload) }
        run.closeInput()
        _ = try run.wait()
    }

    private func compare(_ balance: Balance, _ cases: [Case], isStream: Bool) throws {
        var wanted: [String: Int] = [:]
        var accepted = 0
        for one in cases {
            switch reason(of: one, isStream: isStream) {
            case nil: accepted += 1
            case "?": break
            case let reason?:
                if one.isMixed { accepted += 1 }
                wanted[reason, default: 0] += 1
            }
        }
        // Noise is one reading with one reason or the other.
        var found = balance.reasons
        for name in ["invalidJSON", "invalidUTF8"] where (found[name] ?? 0) > (wanted[name] ?? 0) {
            found[name, default: 0] -= 1
            break
        }
        #expect(found == wanted)
        #expect(balance.accepted + balance.duplicate == accepted)
        #expect(balance.rejected == wanted.values.reduce(1, +))
    }

    private func compareLetters(_ letters: [DeadLetter], _ cases: [Case], isStream: Bool) throws {
        let bad = cases.filter { $0.reason != nil }
        #expect(letters.count == bad.count)
        for (letter, one) in zip(letters, bad) {
            let reason = reason(of: one, isStream: isStream) ?? ""
            let isKnown = letter.reason == reason || reason == "?"
            #expect(isKnown, "\(letter.reason) instead of \(reason): \(letter.text.prefix(100))")
            if reason == "lineTooLong" || reason == "truncatedDatagram" {
                #expect(one.bytes.starts(with: letter.bytes) && letter.bytes.count >= 65_536)
            } else {
                #expect(letter.bytes == one.kept)
            }
        }
    }

    /// What a case is on the source at hand: its length may be the first thing that is wrong.
    private func reason(of one: Case, isStream: Bool) -> String? {
        guard one.bytes.count > 65_536 else { return one.reason }
        return isStream ? "lineTooLong" : "truncatedDatagram"
    }

    /// Random bytes, over and over: counted to the last piece, and the good readings between them get through.
    @Test(arguments: ["stdin", "unix", "udp"])
    func noise(source: String) throws {
        let folder = TemporaryFolder()
        var generator = SeededBytes(seed: Trials.seed(11))
        var pieces: [[UInt8]] = []
        for index in 0..<400 {
            let noise = generator.bytes(1 + index * 3).filter { $0 > 0x20 }
            pieces.append([UInt8(ascii: "#")] + noise)
            pieces.append(Array(Readings.heartRate(second: index).utf8))
        }
        let run = try start(source, folder)
        try send(source == "udp" ? pieces : pieces.map { $0 + [0x0A] }, to: run, source)
        let done = try run.terminate()
        #expect(done.end == .exit(0), "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.received + balance.kernelDropped == 800)
        if balance.kernelDropped == 0 { #expect(balance.accepted == 400 && balance.rejected == 400) }
        let letters = try DeadLetter.read(folder.file("dead.ndjson"))
        #expect(letters.count == balance.rejected)
    }
}
