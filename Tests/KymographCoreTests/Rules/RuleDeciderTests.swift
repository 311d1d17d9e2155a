import KymographCore
import Testing

/// Which rule is about a reading.
@Suite struct RuleDeciderTests {
    private static let types = [("heartRate", ["hr"]), ("bloodPressure", ["systolic", "diastolic"])].map {
        name, values in
        MeasurementType(
            name: name, valueNames: values, grouping: .instance, isNumeric: values.map { _ in true })
    }

    private static func rule(_ name: String, _ change: (inout ReadingRule) -> Void) -> ReadingRule {
        var rule = ReadingRule(name: name)
        change(&rule)
        return rule
    }

    private func rule(
        _ rules: [ReadingRule], type: Int = 0, device: String = "watch-1", patient: String? = "p-1",
        values: [Int64?] = [60], source: Int = 0
    ) -> String? {
        let decider = RuleDecider(
            rules, sources: ["udp 127.0.0.1:5757", "stdin"].map { .init($0) }, types: Self.types)
        let identity = SeriesIdentity(
            type: type, device: Array(device.utf8), patient: patient.map { Array($0.utf8) })
        var reading = Measurement(instant: Instant(seconds: 0), received: Instant(seconds: 0))
        for (slot, value) in values.enumerated() {
            if let value { reading.setInline(slot, Decimal64(mantissa: value)) }
        }
        let key = PaddedBytes(copying: SeriesKey.encode(identity))
        let isPlain = decider.takesAsIs(key: key.view, source: source)
        let decision = decider.decide(&reading, ByteView(""), key: key.view, source: source)
        #expect(decision.rule == nil || !isPlain)
        return decision.rule
    }

    @Test func whatARuleIsAbout() {
        let bench = Self.rule("bench") { $0.devices = [NamePattern("test-*"), NamePattern("spare")] }
        for (device, isMeant) in [
            ("test-1", true), ("test-", true), ("spare", true), ("spare1", false), ("Test-1", false),
        ] {
            #expect(rule([bench], device: device) == (isMeant ? "bench" : nil), "\(device)")
        }
        let withdrawn = Self.rule("withdrawn") { $0.patients = [NamePattern("p-1")] }
        #expect(rule([withdrawn]) == "withdrawn")
        #expect(rule([withdrawn], patient: "p-11") == nil && rule([withdrawn], patient: nil) == nil)
        let pressure = Self.rule("pressure") { $0.types = ["blood*"] }
        #expect(rule([pressure]) == nil && rule([pressure], type: 1) == "pressure")
        let udp = Self.rule("udp") { $0.sources = ["udp *"] }
        #expect(rule([udp]) == "udp" && rule([udp], source: 1) == nil)
    }

    @Test func bounds() {
        let slow = Self.rule("slow") { $0.below = Decimal64(mantissa: 600, exponent: -1) }
        #expect(rule([slow], values: [59]) == "slow" && rule([slow], values: [60]) == nil)
        let fast = Self.rule("fast") { $0.above = Decimal64(mantissa: 60) }
        #expect(rule([fast], values: [61]) == "fast" && rule([fast], values: [60]) == nil)
        #expect(rule([fast, slow], values: [nil]) == nil, "without the number")
        let low = Self.rule("low") { ($0.value, $0.below) = ("diastolic", Decimal64(mantissa: 40)) }
        #expect(rule([low], type: 1, values: [30, 50]) == nil && rule([low], type: 1, values: [90, 30]) == "low")
        #expect(rule([low], values: [30]) == nil, "a type without the value")
    }

    /// All of what a rule names must be so; the first rule decides.
    @Test func severalAtOnce() {
        let both = Self.rule("both") {
            ($0.devices, $0.types, $0.above) = ([NamePattern("watch-*")], ["heartRate"], Decimal64(mantissa: 200))
        }
        #expect(rule([both], values: [201]) == "both" && rule([both], values: [200]) == nil)
        #expect(rule([both], device: "pump", values: [201]) == nil)
        let good = Self.rule("good") { ($0.devices, $0.action) = ([NamePattern("watch-1")], .accept) }
        #expect(rule([good, both], values: [201]) == "good" && rule([both, good], values: [201]) == "both")
        #expect(rule([both, good], values: [60]) == "good")
    }

    private final class Agreeing: EntryInterceptor {
        let name = "agreeing"
        let patches: [EntryPatch] = []

        func vetoes(_ resource: ByteView) -> Bool { false }
        func keeps(_ resource: ByteView) -> Bool { false }
        func patches(for resource: ByteView) -> UInt64? { 0 }
    }

    /// What nobody can look at is not sent, although the program would veto nothing.
    @Test(arguments: [(#"{"a":1}"#, false), (#"{"a":"#, true)])
    func resourcesThatNobodyCanRead(_ text: String, isVetoed: Bool) throws {
        var rules = EntryRules(sinks: ["one"])
        rules.interceptor = Agreeing()
        let decider = try #require(EntryRuleDecider(rules, types: Self.types, templates: [nil, nil]))
        var window = TestWindow()
        window.add(0, [0: "60"])
        let ruling = window.withContent { content in
            decider.ruling(on: content, series: 0) { writer in
                writer.append(Array(text.utf8))
                return true
            }
        }
        #expect(ruling.vetoed == (isVetoed ? .all : .none))
        #expect(decider.takeCounts().map(\.count) == (isVetoed ? [1] : []))
    }

    /// Has nothing deleted.
    private final class Keeping: EntryInterceptor {
        let name = "keeping"
        let patches: [EntryPatch] = []

        func vetoes(_ resource: ByteView) -> Bool { false }
        func keeps(_ resource: ByteView) -> Bool { true }
        func patches(for resource: ByteView) -> UInt64? { 0 }
    }

    /// A program is asked of errors, and of later versions whose samples may have been in documents; what nobody can
    /// read is not deleted.
    @Test(arguments: [
        (ObservationStatus.final, true, false), (.amended, false, false), (.amended, true, true),
        (.enteredInError, false, true), (.enteredInError, true, true),
    ])
    func whatIsNotDeleted(_ status: ObservationStatus, hasDocuments: Bool, isKept: Bool) throws {
        let trials: [(any EntryInterceptor, String, Bool)] = [
            (Keeping(), #"{"a":1}"#, isKept), (Agreeing(), #"{"a":1}"#, false), (Agreeing(), #"{"a":"#, isKept),
        ]
        for (interceptor, text, isExpected) in trials {
            var rules = EntryRules(sinks: ["one"])
            rules.interceptor = interceptor
            let decider = try #require(EntryRuleDecider(rules, types: Self.types, templates: [nil, nil]))
            var window = TestWindow()
            window.status = status
            window.add(0, [0: "60"])
            let ruling = window.withContent { content in
                decider.ruling(on: content, series: 0, hasDocuments: hasDocuments) { writer in
                    writer.append(Array(text.utf8))
                    return true
                }
            }
            #expect(ruling.isKept == isExpected, "\(interceptor.name): \(text)")
            let isVetoed = text != #"{"a":1}"# && status != .enteredInError
            #expect(ruling.vetoed == (isVetoed ? .all : .none))
            #expect(decider.takeCounts().map(\.count) == (isVetoed || isExpected ? [1] : []))
        }
    }

    /// A rule keeps what is an error, and says nothing of other versions.
    @Test(arguments: [(ObservationStatus.final, false), (.amended, false), (.enteredInError, true)])
    func rulesKeepErrors(_ status: ObservationStatus, isKept: Bool) throws {
        var rule = EntryRule(name: "kept")
        rule.action = .keep
        let rules = EntryRules([rule], sinks: ["one"])
        let decider = try #require(EntryRuleDecider(rules, types: Self.types, templates: [nil, nil]))
        var window = TestWindow()
        window.status = status
        window.add(0, [0: "60"])
        let ruling = window.withContent { content in
            decider.ruling(on: content, series: 0) { writer in
                writer.append(Array(#"{"a":1}"#.utf8))
                return true
            }
        }
        #expect(ruling.isKept == isKept && ruling.vetoed == .none && ruling.patches.isEmpty)
        #expect(decider.takeCounts().map(\.count) == (isKept ? [1] : []))
    }
}
