import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Flat payloads go a short way through scanner and mapper. A member that nobody reads and that is an object makes a
/// payload one of the general way: both must give the same.
@Suite struct FlatPayloadTests {
    private static let device = """
        {"templateType":"CollectionContent","template":[
        \(template("hr", "@type == 'heart-rate'", ["rate": "value"], more: #","patientIdExpression":"$.patient""#)),
        \(template("steps", "@type == 'steps' && @unit != 'km'", ["steps": "value"],
            more: #","startExpression":"$.start""#)),
        \(template("bp", "@type == 'bp'", ["systolic": "sys", "diastolic": "dia"], required: false)),
        \(template("again", "@type == 'heart-rate' && @value > 100", ["high": "value"])),
        \(template("spo2", "@spo2 >= 50 || @spo2 == null", ["saturation": "spo2"])),
        \(template("cuffA", "@type == 'blood-pressure-of-cuff-A'", ["systolic": "sys"])),
        \(template("cuffB", "@type == 'blood-pressure-of-cuff-B'", ["systolic": "sys"],
            more: #","encounterIdExpression":"$.encounter""#)),
        \(template("epoch", "@unit !== 'km'", ["distance": "value"], more: #","timestampFormat":"epoch-ms""#)),
        \(template("text", "@type == ''", ["word": "value"]))]}
        """

    private static let fhir: String = {
        let numbers: KeyValuePairs = [
            "hr": ["rate"], "steps": ["steps"], "bp": ["systolic", "diastolic"], "again": ["high"],
            "spo2": ["saturation"], "cuffA": ["systolic"], "cuffB": ["systolic"], "epoch": ["distance"],
        ]
        let parts = numbers.map { name, values in
            let components = values.map {
                #"{"codes":[{"code":"\#($0)"}],"value":{"valueType":"Quantity","valueName":"\#($0)","unit":"1"}}"#
            }
            return entry(name, #""components":[\#(components.joined(separator: ","))]"#)
        }
        let text = entry("text", #""value":{"valueType":"String","valueName":"word"}"#)
        return #"{"templateType":"CollectionFhir","template":[\#((parts + [text]).joined(separator: ","))]}"#
    }()

    private static func entry(_ name: String, _ value: String) -> String {
        #"{"templateType":"CodeValueFhir","template":{"typeName":"\#(name)","codes":[{"code":"c"}],\#(value)}}"#
    }

    private static func template(
        _ name: String, _ match: String, _ values: [String: String], required: Bool = true, more: String = ""
    ) -> String {
        let entries = values.sorted { $0.key < $1.key }.map {
            #"{"valueName":"\#($0.key)","valueExpression":"$.\#($0.value)","required":\#(required)}"#
        }
        return """
            {"templateType":"JsonPathContent","template":{"typeName":"\(name)","typeMatchExpression":"$..[?(\(match))]",
            "deviceIdExpression":"$.device","timestampExpression":"$.ts"\(more),
            "values":[\(entries.joined(separator: ","))]}}
            """
    }

    private static let choices: KeyValuePairs = [
        "device": [#""d1""#, #""device-with-a-long-name""#, #"" ""#, #""""#, #""a\u0062""#, "7", "null", #""ü""#],
        "type": [
            #""heart-rate""#, #""heart-rate""#, #""steps""#, #""bp""#, #""heart-ratE""#, #""blood-pressure-of-cuff-A""#,
            #""blood-pressure-of-cuff-B""#, #""blood-pressure-of-cuff-C""#, #""heart\u002drate""#, "1", "null", #""""#,
        ],
        "ts": [
            #""2026-03-01T08:15:59Z""#, #""2026-03-01T08:15:59.250Z""#, #""2026-03-01T08:15:59+01:00""#, #""soon""#,
            "1772352959250", "1772352959.5", "null", #""2026-02-30T08:15:59Z""#, #""2099-01-01T00:00:00Z""#,
        ],
        "value": ["72", "120", "0", "72.50", "-3", "1e2", #""72""#, #""x""#, "null", "true", "007", "[1]"],
        "sys": ["120", "null", #""121""#, "1234567890123456789"], "dia": ["80", #""""#],
        "unit": [#""km""#, #""m""#, "1"],
        "spo2": ["97", "40", "null", #""97""#], "patient": [#""p1""#, #"" ""#, "null", "12"],
        "start": [#""2026-03-01T08:00:00Z""#, "null"], "encounter": [#""e1""#, "null"], "seq": ["1", #""é""#, "[]"],
        "a-member-with-a-name-beyond-all-guesses": ["1"],
    ]

    /// Members in the order that devices send them, seldom in another, with blanks as some libraries write them.
    private func payload(_ random: inout SeededGenerator) -> [String] {
        var members: [String] = []
        for (name, values) in FlatPayloadTests.choices {
            let isUsual = ["device", "type", "ts", "value"].contains(name)
            guard isUsual ? Int.random(in: 0..<20, using: &random) > 0 : Int.random(in: 0..<4, using: &random) == 0
            else { continue }
            let usual = Bool.random(using: &random)
            let value = usual ? values[0] : values[Int.random(in: 0..<values.count, using: &random)]
            members.append(#""\#(name)":\#(value)"#)
        }
        if Int.random(in: 0..<20, using: &random) == 0 { members.append(members.first ?? #""x":1"#) }
        if Int.random(in: 0..<5, using: &random) == 0 { members.shuffle(using: &random) }
        return members
    }

    private func text(_ members: [String], isSpaced: Bool) -> String {
        guard isSpaced else { return "{\(members.joined(separator: ","))}" }
        return "{\(members.map { $0.replacing("\":", with: "\": ", maxReplacements: 1) }.joined(separator: ", "))}"
    }

    private func plain(_ rejections: [MappedRejection]) -> [MappedRejection] {
        rejections.map { MappedRejection(reason: $0.reason, text: "", field: $0.field, value: $0.value) }
    }

    @Test(arguments: Trials.seeds(40))
    func giveWhatTheGeneralWayGives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var run = try MappingRun(device: FlatPayloadTests.device, fhir: FlatPayloadTests.fhir)
        run.received = Instant(seconds: 1_772_352_960)
        if seed % 4 == 1 { run.context = SourceContext(defaultDevice: Array("dd".utf8)) }
        if seed % 4 == 2 { run.context = SourceContext(defaultPatient: Array("dp".utf8), requiresPatient: true) }
        if seed % 4 == 3 { run.context = SourceContext(requiresPatient: true) }
        var flat: [String] = []
        var nested: [String] = []
        for _ in 0..<500 {
            let members = payload(&random)
            let isSpaced = Int.random(in: 0..<3, using: &random) == 0
            flat.append(text(members, isSpaced: isSpaced))
            nested.append(text(members + [#""nobody-reads-this":{}"#], isSpaced: isSpaced))
        }
        // One mapper for all, so that it guesses from one to the next.
        let short = run.lines(flat)
        let general = run.lines(nested)
        #expect(short.readings == general.readings)
        #expect(plain(short.rejections) == plain(general.rejections))
        // Few name a patient.
        #expect(short.readings.count > (seed % 4 == 3 ? 5 : 100) && short.rejections.count > 100)
        // And alone, so that nothing is known of others.
        for (one, other) in zip(flat, nested).prefix(50) {
            let (short, general) = (run.line(one), run.line(other))
            #expect(short.readings == general.readings, "\(one)")
            #expect(plain(short.rejections) == plain(general.rejections), "\(one)")
        }
    }

    @Test func aFullOutputIsToldAsElsewhere() throws {
        let run = try MappingRun(device: FlatPayloadTests.device, fhir: FlatPayloadTests.fhir)
        let line = #"{"device":"d","type":"bp","ts":"2023-01-01T00:00:00Z","sys":120,"dia":80}"#
        let outcome = run.lines([line], refusal: .tooManyDevices)
        #expect(outcome.readings.isEmpty)
        #expect(outcome.rejections == [MappedRejection(reason: .tooManyDevices, text: line)])
    }

    @Test func aDocumentThatEndsInAGuessIsIncomplete() throws {
        let run = try MappingRun(device: FlatPayloadTests.device, fhir: FlatPayloadTests.fhir)
        let line = #"{"device":"d","type":"bp","ts":"2023-01-01T00:00:00Z","sys":120,"dia":80}"#
        for length in 0..<line.utf8.count {
            let cut = String(line.prefix(length))
            let outcome = run.lines([line, cut])
            #expect(outcome.readings.count == 1)
            #expect(outcome.reasons == (length == 0 ? [] : [.invalidJSON]), "\(cut)")
        }
    }
}
