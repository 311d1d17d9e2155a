import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// A mapper knows the shapes of what it has seen, and reads what has such a shape without a scan: it must give the same
/// as a mapper that has seen nothing, and as one without a fast path (``MappingRun/bothWays(sourceLocation:_:)``).
@Suite struct KnownShapeTests {
    private static func template(_ name: String, _ match: String, _ value: String, more: String = "") -> String {
        """
        {"templateType":"JsonPathContent","template":{"typeName":"\(name)","typeMatchExpression":"$..[?(\(match))]",
        "deviceIdExpression":"$.device","timestampExpression":"$.ts"\(more),
        "values":[{"valueName":"x","valueExpression":"$.\(value)","required":true}]}}
        """
    }

    static func run(_ payload: String, _ templates: [(name: String, text: String)]) throws -> MappingRun {
        let fhir = templates.map {
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\($0.name)","codes":[{"code":"c"}],
            "value":{"valueType":"Quantity","valueName":"x","unit":"1"}}}
            """
        }
        return try MappingRun(
            device: """
                {"templateType":"CollectionContent"\(payload),"template":[\(templates.map(\.text).joined(separator: ","))]}
                """,
            fhir: #"{"templateType":"CollectionFhir","template":[\#(fhir.joined(separator: ","))]}"#)
    }

    /// What each gives to a mapper of its own.
    private func alone<Payload>(_ payloads: [Payload], _ map: (Payload) -> MappingRun.Outcome) -> MappingRun.Outcome {
        payloads.map(map).reduce(into: MappingRun.Outcome(readings: [], rejections: [])) { all, one in
            all.readings += one.readings
            all.rejections += one.rejections
        }
    }

    // MARK: Documents

    static let documents: [(name: String, text: String)] = [
        (
            "pulse",
            template("pulse", "@type == 'hr' && @value > 30.5", "value", more: #","patientIdExpression":"$.who""#)
        ),
        ("fever", template("fever", "@type == 'temperature'", "value", more: #","timestampFormat":"epoch-ms""#)),
        ("level", template("level", "@level >= 1 && @level != 5", "level")),
        ("other", template("other", "@kind != 'x' && @amount", "amount")),
        ("free", template("free", "@type =~ /^free/", "value")),
    ]

    /// Those of which it is certain, for all documents of a shape, whether they match: beside one with a pattern no document
    /// that has a type becomes known.
    static let settled = documents.filter { $0.name != "free" }

    @Test(arguments: Trials.seeds(tenthOf: 40))
    func documentsGiveWhatTheyGiveToANewMapper(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var run = try KnownShapeTests.run("", seed % 2 == 0 ? KnownShapeTests.settled : KnownShapeTests.documents)
        if seed % 3 == 1 { run.context = SourceContext(defaultDevice: Array("dd".utf8)) }
        if seed % 3 == 2 { run.context = SourceContext(defaultPatient: Array("dp".utf8), requiresPatient: true) }
        let lines = (0..<600).map { _ in String(decoding: GeneratedDocument.edited(&random), as: UTF8.self) }
        let known = run.lines(lines)
        #expect(known == alone(lines) { run.line($0) })
        #expect(known.readings.count > 100 && known.rejections.count > 100)
    }

    @Test(arguments: Trials.seeds(20))
    func datagramsGiveWhatTheyGiveToANewMapper(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let run = try KnownShapeTests.run("", seed % 2 == 0 ? KnownShapeTests.settled : KnownShapeTests.documents)
        let payloads = (0..<200).map { _ in
            (0..<Int.random(in: 1...4, using: &random)).reduce(into: [UInt8]()) { datagram, _ in
                datagram += GeneratedDocument.edited(&random) + [Bool.random(using: &random) ? 0x0A : 0x20]
            }
        }
        let known = run.datagrams(payloads)
        #expect(known == alone(payloads) { run.datagrams([$0]) })
        #expect(known.readings.count > 60 && known.rejections.count > 60)
    }

    /// What is known is forgotten after 100,000 documents that were not, and what is learnt then has other numbers.
    @Test func whatIsLearntAnewIsReadByItsOwnTemplate() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        // Their values are in the same places and of the same kinds, so that the plan of one could read the other.
        let level = #"{"device":"d","ts":"2023-11-14T22:13:20Z","level":3}"#
        let pulse = #"{"device":"d","ts":"2023-11-14T22:13:20Z","type":"hr","value":72}"#
        // Nobody sends the same member twice, so that nothing more is learnt.
        let others = (0..<1_100).map {
            #"{"device":"d","m\#($0)":1,"type":"hr","ts":"2023-11-14T22:13:20Z","value":70}"#
        }
        var mapper = run.mapper()
        func types(_ lines: [String]) -> [String: Int] {
            var output = CollectingOutput(run.set)
            for line in lines {
                let storage = PaddedBytes(copying: line.utf8)
                mapper.mapLine(storage.view, context: run.context, received: run.received, output: &output)
            }
            return output.readings.reduce(into: [:]) { $0[$1.type, default: 0] += 1 }
        }
        #expect(types([level, level] + others) == ["level": 2, "pulse": 1_100])
        for _ in 0..<101 {
            #expect(types(Array(repeating: pulse, count: 1_000)) == ["pulse": 1_000])
        }
        #expect(types([pulse, level, pulse, level, level, pulse]) == ["pulse": 3, "level": 3])
    }

    @Test func aTextThatDecidesIsLookedAtEachTime() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        func line(_ type: String, _ ts: String) -> String {
            #"{"device":"d","type":"\#(type)","ts":\#(ts),"value":72}"#
        }
        let lines = [("hr", #""2023-11-14T22:13:20Z""#), ("temperature", "1700000000000")].map(line)
        let outcome = run.lines(
            Array(repeating: lines, count: 3).flatMap { $0 } + [line("hs", #""2023-11-14T22:13:20Z""#)])
        #expect(outcome.readings.map(\.type) == ["pulse", "fever", "pulse", "fever", "pulse", "fever"])
        #expect(outcome.reasons == [.noTemplate])
    }

    @Test func aComparisonIsMadeEachTime() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        let outcome = run.lines(
            ["31", "30", "30.5", "30.51", "-31", "1e2"].map {
                #"{"device":"d","type":"hr","ts":"2023-11-14T22:13:20Z","value":\#($0)}"#
            })
        #expect(outcome.values() == ["31", "3051e-2", "1e2"])
        #expect(outcome.reasons == [.noTemplate, .noTemplate, .noTemplate])
    }

    @Test func aFullOutputIsToldAsElsewhere() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        let line = #"{"device":"d","type":"hr","ts":"2023-11-14T22:13:20Z","value":72}"#
        var mapper = run.mapper()
        var output = CollectingOutput(run.set)
        let storage = PaddedBytes(copying: line.utf8)
        for refusal in [nil, Rejection.tooManyDevices, nil] {
            output.refusal = refusal
            mapper.mapLine(storage.view, context: run.context, received: run.received, output: &output)
        }
        #expect(output.readings.count == 2)
        #expect(output.rejections == [MappedRejection(reason: .tooManyDevices, text: line)])
    }

    @Test func aDocumentThatIsCutIsIncomplete() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        let line = #"{"device":"d","type":"hr","ts":"2023-11-14T22:13:20Z","value":72.5,"unit":"bpm"}"#
        for length in 1..<line.utf8.count {
            let cut = String(line.prefix(length))
            let outcome = run.lines([line, line, cut])
            #expect(outcome.readings.count == 2)
            #expect(outcome.reasons == [.invalidJSON], "\(cut)")
        }
    }

    /// A source of which no two documents are alike is scanned as before.
    @Test func shapesThatDoNotRepeatCostNothingButTheTries() throws {
        let run = try KnownShapeTests.run("", KnownShapeTests.settled)
        let lines = (0..<3_000).map {
            #"{"device":"d","m\#($0)":1,"type":"hr","ts":"2023-11-14T22:13:20Z","value":\#(40 + $0 % 100)}"#
        }
        let outcome = run.lines(lines)
        #expect(outcome.readings.count == 3_000 && outcome.rejections.isEmpty)
        #expect(outcome.values() == (0..<3_000).map { "\(40 + $0 % 100)" })
    }

    // MARK: Packets

    private static func packetTemplate(_ match: String, _ value: String, more: String = "") -> (String, String) {
        let text = template("t", match, value, more: more).replacing(#""$.ts""#, with: #""$.time""#)
        return ("t", text)
    }

    private static let packets = [
        packetTemplate("@heartRate > 40 && @contact != 'lost'", "heartRate"),
        packetTemplate("@heartRate && @device == 'A'", "heartRate"),
        packetTemplate("@heartRate", "energyExpended"), packetTemplate("@bridgeSequence", "heartRate"),
        packetTemplate("@bridgeSequence < 5", "heartRate"),
        packetTemplate("@characteristic == '2A37'", "bridgeSequence"),
        packetTemplate("@heartRate", "heartRate", more: #","patientIdExpression":"$.device""#),
        packetTemplate("@rrInterval > 0 || @heartRate", "heartRate"), packetTemplate("@batteryLevel", "batteryLevel"),
    ]

    private func frame(_ random: inout SeededGenerator) -> [UInt8] {
        let device = [#""device":"A","#, #""device":"B","#, #""device":"\u0041","#, #""device":"é","#, ""]
        let sequence = [#""sequence":3,"#, #""sequence":7,"#, "", ""]
        let characteristic = Int.random(in: 0..<6, using: &random) == 0 ? "2A19" : "2A37"
        let flags = [0, 4, 6, 1, 8, 9, 16, 22, 31].randomElement(using: &random) ?? 0
        let count = Int.random(in: 0...6, using: &random)
        let bytes = [flags] + (0..<count).map { _ in Int.random(in: 0...90, using: &random) }
        let hex = bytes.map { String($0 + 256, radix: 16).dropFirst() }.joined()
        let text = """
            {\(device.randomElement(using: &random) ?? "")\(sequence.randomElement(using: &random) ?? "")\
            "characteristic":"\(characteristic)","time":"2023-11-14T22:13:20+01:00","value":"\(hex)"}
            """
        return Array(text.utf8)
    }

    @Test(arguments: packets.indices)
    func packetsGiveWhatTheyGiveToANewMapper(template: Int) throws {
        var random = SeededGenerator(seed: Trials.seed(UInt64(template)))
        var run = try KnownShapeTests.run(#","payload":"gatt""#, [KnownShapeTests.packets[template]])
        run.context = SourceContext(defaultDevice: Array("dd".utf8))
        let frames = (0..<2_000).map { _ in frame(&random) }
        let known = run.datagrams(frames)
        #expect(known == alone(frames) { run.datagrams([$0]) })
        #expect(known.readings.count > 20 && known.rejections.count > 50)
    }
}
