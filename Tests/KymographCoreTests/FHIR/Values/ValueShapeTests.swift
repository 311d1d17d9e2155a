import KymographCore
import Testing

@Suite struct ValueShapeTests {
    @Test(arguments: ValueShape.all.indices) func writesExactly(index: Int) throws {
        let shape = ValueShape.all[index]
        let (text, outcome) = try shape.written()
        guard let expected = shape.expected else {
            #expect(text.isEmpty, "\(shape.members)")
            guard case .skipped(let reason) = outcome else {
                Issue.record("written: \(shape.members)")
                return
            }
            #expect(reason == .invalidValue || reason == .missingValue)
            return
        }
        #expect(text == expected.replacing(",,", with: ","), "\(shape.members)")
    }

    /// What is no value of its type is told apart from what is not there.
    @Test(arguments: [("5.5", Rejection.invalidValue), (nil, .missingValue)] as [(String?, Rejection)])
    func saysWhyNothingIsWritten(number: String?, reason: Rejection) throws {
        let pipeline = try ValueShape(
            ValueShape.value("\"valueType\":\"Integer\",\"valueName\":\"v\""), gives: nil
        ).pipeline()
        var window = TestWindow()
        window.add(0, number.map { [0: $0] } ?? [:])
        #expect(pipeline.text(window).outcome == .skipped(reason))
    }

    @Test(
        .enabled(if: SharedFiles.canValidate, "needs KYMO_SHARED, and KYMO_PYTHON with fhir.resources"),
        arguments: FHIRVersion.allCases)
    func everyShapeIsValid(version: FHIRVersion) throws {
        // The validator's list of units has no squares; `variancesHaveTheSquareOfTheUnit` looks at those.
        let shapes = (ValueShape.all + StatisticsShapes.all).filter {
            $0.expected != nil && !$0.members.contains("variance")
        }
        var bodies: [String] = []
        for (index, shape) in shapes.enumerated() {
            bodies.append("{\"typeName\":\"x\(index)\",\"period\":\"1h\",\(shape.members)}")
        }
        var pipeline = try TestPipeline(list: bodies)
        pipeline.options.format = .ndjson
        pipeline.options.version = version
        var writer = pipeline.writer(maxEntries: 1000)
        for (index, shape) in shapes.enumerated() {
            let window = shape.window(type: index, start: TestWindow.tenOClock + Int64(index) * TestPipeline.hour)
            guard case .added = window.withContent({ writer.add($0) }) else {
                Issue.record("not added: \(shape.members)")
                continue
            }
        }
        #expect(writer.contentCount == shapes.count)
        let text = writer.finish().string
        #expect(try SharedFiles.complaints(text, name: "shapes.ndjson", version: version.rawValue) == "")
    }

    @Test(arguments: [
        ("dateTime", "\"effectiveDateTime\":\"2024-05-01T10:00:05Z\""),
        ("period", "\"effectivePeriod\":{\"start\":\"2024-05-01T10:00:00Z\",\"end\":\"2024-05-01T10:00:05Z\"}"),
        ("Instant", "\"effectiveInstant\":\"2024-05-01T10:00:05Z\""),
    ])
    func writesTheTimeAsStated(type: String, expected: String) throws {
        let members = ValueShape.value("\"valueType\":\"Integer\",\"valueName\":\"v\"")
        let pipeline = try TestPipeline(
            "{\"typeName\":\"x\",\"period\":\"1h\",\"effectiveType\":\"\(type)\",\(members)}")
        var window = TestWindow()
        window.add(0, [0: "1"])
        window.add(5 * TestWindow.second, [0: "2"])
        #expect(pipeline.text(window).text.contains(expected))
    }

    @Test func tagsAndSecurityAreMeta() throws {
        let members = ValueShape.value("\"valueType\":\"Integer\",\"valueName\":\"v\"")
        let pipeline = try TestPipeline(
            """
            {"typeName":"x","period":"1h","profile":["http://example.org/p"],\(members),
             "tag":[{"system":"urn:t","code":"a"}],
             "security":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ActReason","code":"HTEST"}]}
            """)
        var window = TestWindow()
        window.add(0, [0: "1"])
        let meta = """
            "meta":{"profile":["http://example.org/p"],"security":[{"system":\
            "http://terminology.hl7.org/CodeSystem/v3-ActReason","code":"HTEST"}],\
            "tag":[{"system":"urn:t","code":"a"}]},
            """
        #expect(pipeline.text(window).text.contains(meta))
    }

    /// The blood pressure profile demands both parts: a stated reason stands in for the usual one.
    @Test func aDemandedPartHasOneReason() throws {
        let pipeline = try TestPipeline(
            TestTemplates.bloodPressure.replacing(
                "\"valueName\":\"diastolic\"", with: "\"valueName\":\"diastolic\",\"absent\":true"))
        var window = TestWindow(seconds: 0)
        window.add(0, [0: "120"], texts: [1: "NaN"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("component.1.dataAbsentReason.coding.0.code") == "not-a-number")
        #expect(observation["component.2"] == nil)
    }
}
