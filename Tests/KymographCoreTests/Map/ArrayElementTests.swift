import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// An array of flat objects is mapped element by element: it must give what it gives when templates look through it as
/// a whole, which they do where one of them looks at more than the elements.
@Suite struct ArrayElementTests {
    private static let pulse = #"{"device":"d-1","type":"hr","ts":"2023-11-14T22:13:20Z","value":72,"unit":"bpm"}"#
    private static let level = #"{"device":"d-1","ts":"2023-11-14T22:13:20Z","level":1,"seq":1}"#

    /// Finds nothing, but looks for it beside the elements.
    private static let lookingElsewhere = (
        name: "elsewhere",
        text: """
        {"templateType":"JsonPathContent","template":{"typeName":"elsewhere","typeMatchExpression":"$.nowhere",
        "deviceIdExpression":"$.d","timestampExpression":"$.t","values":[{"valueName":"x","valueExpression":"$.v"}]}}
        """
    )

    /// A mapper, and one without a fast path, which must give the same.
    private struct Session: ~Copyable {
        let run: MappingRun
        private var mapper: Mapper
        private var general: Mapper
        private(set) var plainReadings = 0

        init(_ run: MappingRun) {
            self.run = run
            mapper = run.mapper()
            var without = run
            without.usesFastPath = false
            general = without.mapper()
        }

        private mutating func bothWays(
            refusal: Rejection? = nil, _ map: (inout Mapper, inout CollectingOutput) -> Void
        ) -> MappingRun.Outcome {
            var output = CollectingOutput(run.set)
            var other = CollectingOutput(run.set)
            output.refusal = refusal
            other.refusal = refusal
            map(&mapper, &output)
            map(&general, &other)
            plainReadings += output.plainReadings
            let outcome = MappingRun.Outcome(readings: output.readings, rejections: output.rejections)
            #expect(outcome == MappingRun.Outcome(readings: other.readings, rejections: other.rejections))
            #expect(other.plainReadings == 0)
            return outcome
        }

        mutating func map(_ payload: [UInt8], asLine: Bool, refusal: Rejection? = nil) -> MappingRun.Outcome {
            let storage = PaddedBytes(copying: payload)
            return bothWays(refusal: refusal) { [run] mapper, output in
                if asLine {
                    mapper.mapLine(storage.view, context: run.context, received: run.received, output: &output)
                } else {
                    mapper.mapDatagram(storage.view, context: run.context, received: run.received, output: &output)
                }
            }
        }

        /// Maps one line of bytes that more may follow.
        mutating func map(_ line: ByteView) -> MappingRun.Outcome {
            bothWays { [run] mapper, output in
                mapper.mapLine(line, context: run.context, received: run.received, output: &output)
            }
        }

        /// Maps lines as they come in a stream.
        mutating func mapStream(_ lines: [String]) -> MappingRun.Outcome {
            let storage = PaddedBytes(copying: Array(lines.map { $0 + "\n" }.joined().utf8))
            return bothWays { [run] mapper, output in
                var rest = storage.view
                for line in lines {
                    let known = mapper.mapKnownLine(
                        rest, context: run.context, received: run.received, output: &output)
                    if known == nil {
                        mapper.mapLine(
                            rest[0..<line.utf8.count], context: run.context, received: run.received, output: &output)
                    }
                    rest = rest[line.utf8.count + 1..<rest.count]
                }
            }
        }

        mutating func map(_ payload: String, asLine: Bool = true, refusal: Rejection? = nil) -> MappingRun.Outcome {
            map(Array(payload.utf8), asLine: asLine, refusal: refusal)
        }
    }

    /// In the order of templates, as if each had looked through all: what each gave stays in its order.
    private func byTemplate(_ outcome: MappingRun.Outcome) -> MappingRun.Outcome {
        let order = KnownShapeTests.documents.map(\.name)
        var sorted = outcome
        sorted.readings = order.flatMap { name in outcome.readings.filter { $0.type == name } }
        sorted.rejections.sort { "\($0)" < "\($1)" }
        return sorted
    }

    private func array(_ random: inout SeededGenerator) -> [UInt8] {
        let blanks: [[UInt8]] = [[], [], [], [0x20], [0x09, 0x20]]
        let others = ["7", "null", #"{"device":"d","of":{"type":"hr","value":3}}"#, "{}", "[]", #"{"Body":1}"#].map {
            Array($0.utf8)
        }
        let elements = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            let isOther = Int.random(in: 0..<40, using: &random) == 0
            let element = isOther ? others.randomElement(using: &random) : nil
            return (blanks.randomElement(using: &random) ?? [])
                + (element ?? GeneratedDocument.edited(&random, oneOf: 24))
                + (blanks.randomElement(using: &random) ?? [])
        }
        return [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    @Test(arguments: Trials.seeds(tenthOf: 60))
    func elementsGiveWhatTheArrayGives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let templates = seed % 2 == 0 ? KnownShapeTests.settled : KnownShapeTests.documents
        var context = SourceContext()
        if seed % 3 == 1 { context = SourceContext(defaultDevice: Array("dd".utf8)) }
        if seed % 3 == 2 { context = SourceContext(defaultPatient: Array("dp".utf8), requiresPatient: true) }
        var (run, whole) = (
            try KnownShapeTests.run("", templates),
            try KnownShapeTests.run("", templates + [ArrayElementTests.lookingElsewhere])
        )
        (run.context, whole.context) = (context, context)
        var session = Session(run)
        var reference = Session(whole)
        var (taken, rejected) = (0, 0)
        for _ in 0..<200 {
            let isLine = Bool.random(using: &random)
            let payload = array(&random) + (isLine ? [] : [0x0A] + array(&random))
            let outcome = session.map(payload, asLine: isLine)
            let expected = reference.map(payload, asLine: isLine)
            #expect(byTemplate(outcome) == byTemplate(expected), "\(String(decoding: payload, as: UTF8.self))")
            taken += outcome.readings.count
            rejected += outcome.rejections.count
        }
        #expect(taken > 100 && rejected > 100)
        #expect(reference.plainReadings == 0)
        #expect((session.plainReadings > 0) == (seed % 3 != 2))
    }

    @Test func elementsOfKnownShapesComeInRegisters() throws {
        var session = Session(try KnownShapeTests.run("", KnownShapeTests.settled))
        // A template that names a patient has no plain readings of documents that have one; these have none.
        let array = "[\(ArrayElementTests.pulse), \(ArrayElementTests.level) ,\(ArrayElementTests.pulse)]"
        #expect(session.map(array).readings.map(\.type) == ["pulse", "level", "pulse"])
        let learnt = session.plainReadings
        #expect(session.map(array).readings.map(\.type) == ["pulse", "level", "pulse"])
        #expect(session.map(array + "\n" + array, asLine: false).readings.count == 6)
        #expect(session.plainReadings == learnt + 9)
        // What lines have taught, arrays know, and the other way round.
        #expect(session.map(ArrayElementTests.pulse).readings.count == 1)
        #expect(session.plainReadings == learnt + 10)
    }

    @Test func anArrayThatIsCutGivesNothing() throws {
        var session = Session(try KnownShapeTests.run("", KnownShapeTests.settled))
        let array = "[\(ArrayElementTests.pulse),\(ArrayElementTests.level)]"
        #expect(session.map(array).readings.count == 2)
        for length in 1..<array.utf8.count {
            let cut = String(array.prefix(length))
            for isLine in [true, false] {
                let outcome = session.map(cut, asLine: isLine)
                #expect(outcome.readings.isEmpty)
                #expect(outcome.rejections.map(\.text) == [cut])
                #expect(outcome.reasons == [.invalidJSON])
            }
        }
        #expect(session.map(array + "x").reasons == [.invalidJSON])
        #expect(session.map(array + ",").reasons == [.invalidJSON])
        #expect(session.map(array + " \r").readings.count == 2)
    }

    /// What is behind the bytes at hand is none of them, even where it goes on with the array; and shapes that are told
    /// apart late in an element are told apart among its bytes.
    @Test func anArrayIsCutWhereItsBytesEnd() throws {
        let late = #"{"device":"sensor-with-a-long-name","ts":"2023-11-14T22:13:20Z","value":72,"type":"hr"}"#
        let later = late.replacing(#""type""#, with: #""seq":1,"type""#)
        var session = Session(try KnownShapeTests.run("", KnownShapeTests.settled))
        for line in [late, later, late, "[\(late),\(later)]"] { #expect(session.map(line).rejections.isEmpty) }
        #expect(session.map("[{").reasons == [.invalidJSON])
        let array = Array("[\(late),\(later)]".utf8)
        let storage = PaddedBytes(copying: array)
        for count in 1..<array.count {
            #expect(session.map(storage.view[0..<count]).reasons == [.invalidJSON], "\(count) bytes")
        }
        #expect(session.map(storage.view).readings.count == 2)
    }

    /// Lines of a stream are held against known shapes before they are cut out of it.
    @Test func arraysComeAsLinesOfAStream() throws {
        var session = Session(try KnownShapeTests.run("", KnownShapeTests.settled))
        let lines = [
            ArrayElementTests.pulse, "[\(ArrayElementTests.level),\(ArrayElementTests.pulse)]", ArrayElementTests.level,
            "[]", "[\(ArrayElementTests.pulse)]", ArrayElementTests.pulse,
        ]
        let types = ["pulse", "level", "pulse", "level", "pulse", "pulse"]
        for _ in 0..<3 {
            let outcome = session.mapStream(lines)
            #expect(outcome.readings.map(\.type) == types)
            #expect(outcome.rejections.isEmpty)
        }
    }

    /// What is known is forgotten when much of what comes is not, in the middle of an array too.
    @Test func shapesMayBeForgottenWithinAnArray() throws {
        var run = try KnownShapeTests.run("", KnownShapeTests.settled)
        // So that arrays of 6 MB are mapped element by element.
        run.limits = ScanLimits(values: 10_000_000)
        let others = (0..<1_100).map {
            #"{"device":"d","m\#($0)":1,"type":"hr","ts":"2023-11-14T22:13:20Z","value":70}"#
        }
        var session = Session(run)
        let array = (others + Array(repeating: ArrayElementTests.pulse, count: 60_000)).joined(separator: ",")
        let plain = (0..<3).map { _ in
            let before = session.plainReadings
            let outcome = session.map("[\(array)]")
            #expect(outcome.readings.count == 61_100 && outcome.rejections.isEmpty)
            return session.plainReadings - before
        }
        // The others have used up the tries when the array comes first. The second time, all is forgotten when 100,000
        // documents have had to be scanned, the first 61,100 among them, and what follows is learnt anew.
        #expect(plain[0] == 0 && 22_000...22_400 ~= plain[1] && plain[2] >= 60_000, "\(plain)")
    }

    @Test func aFullOutputRefusesEachElement() throws {
        var session = Session(try KnownShapeTests.run("", KnownShapeTests.settled))
        let array = "[\(ArrayElementTests.pulse), \(ArrayElementTests.level)]"
        for _ in 0..<2 {
            let outcome = session.map(array, refusal: .tooManyDevices)
            #expect(outcome.readings.isEmpty)
            #expect(outcome.reasons == [.tooManyDevices, .tooManyDevices])
            #expect(outcome.rejections.map(\.text) == [ArrayElementTests.pulse, ArrayElementTests.level])
        }
        #expect(session.map(array).readings.count == 2)
    }

    @Test func anArrayMayHaveNoMoreValuesThanADocument() throws {
        var run = try KnownShapeTests.run("", KnownShapeTests.settled)
        run.limits = ScanLimits(values: 40)
        var session = Session(run)
        let few = "[\(Array(repeating: ArrayElementTests.level, count: 3).joined(separator: ","))]"
        let many = "[\(Array(repeating: ArrayElementTests.level, count: 20).joined(separator: ","))]"
        #expect(session.map(few).readings.count == 3)
        #expect(session.map(many).reasons == [.tooManyValues])
        #expect(session.map(few).readings.count == 3)
    }

    /// A template may say that what the first element is named is the device of all.
    @Test func whatLooksBesideItsElementSeesTheArray() throws {
        let template = """
            {"templateType":"CalculatedContent","template":{"typeName":"pulse","typeMatchExpression":"$..[?(@value)]",
            "deviceIdExpression":"$.Body[0].device","timestampExpression":"$.matchedToken.ts",
            "values":[{"valueName":"x","valueExpression":"$.matchedToken.value","required":true}]}}
            """
        var session = Session(try KnownShapeTests.run("", [("pulse", template)]))
        let elements = ["a", "b"].map { #"{"device":"\#($0)","ts":"2023-11-14T22:13:20Z","value":7}"# }
        for _ in 0..<2 {
            let outcome = session.map("[\(elements.joined(separator: ","))]")
            #expect(outcome.readings.map(\.device) == ["a", "a"])
        }
    }

    @Test func whatIsNamedByItsPlaceIsNotTheElement() throws {
        let matches = ["$..[?(@value)]": "JsonPath", "to_array(Body)[]": "JmesPath"]
        for (match, language) in matches {
            let isPath = language == "JsonPath"
            let template = """
                {"templateType":"CalculatedContent","template":{"typeName":"pulse",
                "typeMatchExpression":{"value":"\(match)","language":"\(language)"},
                "deviceIdExpression":"$.\(isPath ? "Body" : "matchedToken").device",
                "timestampExpression":"$.matchedToken.ts",
                "values":[{"valueName":"x","valueExpression":"$.matchedToken.value","required":true}]}}
                """
            var session = Session(try KnownShapeTests.run("", [("pulse", template)]))
            let element = #"{"device":"a","ts":"2023-11-14T22:13:20Z","value":7}"#
            for _ in 0..<2 {
                #expect(session.map(element).readings.map(\.device) == ["a"])
                let outcome = session.map("[\(element)]")
                #expect(outcome.reasons == (isPath ? [.noDevice] : []))
            }
        }
    }

    /// Which of two readings of a series is the earlier one must not depend on how an array is read.
    @Test func templatesOfOneTypeComeInTheirOrder() throws {
        func template(_ match: String) -> (name: String, text: String) {
            (
                "pulse",
                """
                {"templateType":"JsonPathContent","template":{"typeName":"pulse",
                "typeMatchExpression":"$..[?(@\(match))]","deviceIdExpression":"$.device","timestampExpression":"$.ts",
                "values":[{"valueName":"x","valueExpression":"$.\(match)","required":true}]}}
                """
            )
        }
        let fhir = """
            {"templateType":"CodeValueFhir","template":{"typeName":"pulse","codes":[{"code":"c"}],
            "value":{"valueType":"Quantity","valueName":"x","unit":"1"}}}
            """
        let run = try MappingRun(
            device: """
                {"templateType":"CollectionContent","template":[\(template("a").text),\(template("b").text)]}
                """,
            fhir: #"{"templateType":"CollectionFhir","template":[\#(fhir)]}"#)
        var session = Session(run)
        let elements = ["b", "a", "b"].enumerated().map {
            #"{"device":"d","ts":"2023-11-14T22:13:20Z","\#($0.element)":\#($0.offset)}"#
        }
        for _ in 0..<3 {
            #expect(session.map("[\(elements.joined(separator: ","))]").values() == ["1", "0", "2"])
        }
    }
}
