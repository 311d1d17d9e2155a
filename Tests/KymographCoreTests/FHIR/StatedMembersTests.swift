@testable import KymographCore
import KymographTemplates
import Testing

/// Identifiers, status and exact times of Observations by choice of their templates.
@Suite struct StatedMembersTests {
    private static let value =
        "\"codes\":[{\"system\":\"urn:c\",\"code\":\"c\"}],"
        + "\"value\":{\"valueType\":\"Integer\",\"valueName\":\"v\"}"

    private static func template(_ members: String, period: String = "instance") -> String {
        "{\"typeName\":\"x\",\"period\":\"\(period)\",\(value)\(members.isEmpty ? "" : ",")\(members)}"
    }

    private static func reading(_ texts: [Int: String] = [:], _ status: ObservationStatus = .final) -> TestWindow {
        var window = TestWindow(seconds: 0)
        window.status = status
        window.add(0, [0: "1"], texts: texts)
        return window
    }

    // MARK: Identifiers

    private static let identifiers =
        "\"identifier\":[{\"system\":\"urn:example:study\",\"value\":\"S \\\"17\\\"\"},"
        + "{\"system\":\"urn:example:uuid\",\"valueName\":\"uuid\"}]"

    /// Behind that by which it is found, which is what it would be without.
    @Test func identifiersFollowOurs() throws {
        let window = Self.reading([1: "8BA093D9"])
        let node = try TestPipeline(Self.template(Self.identifiers)).observation(window)
        let without = try TestPipeline(Self.template("")).observation(window)
        #expect(node.text("identifier.0.value") == without.text("identifier.0.value"))
        #expect(node.text("identifier.0.system") == without.text("identifier.0.system"))
        #expect(node.text("id") == without.text("id"))
        #expect(node.text("identifier.1.system") == "urn:example:study")
        #expect(node.text("identifier.1.value") == "S \"17\"")
        #expect(node.text("identifier.2.system") == "urn:example:uuid")
        #expect(node.text("identifier.2.value") == "8BA093D9")
        #expect(node["identifier.3"] == nil)
    }

    /// FHIR has no identifier without value; a number is one as it was sent.
    @Test(
        arguments: [
            (nil, nil), ("", nil), (" \t", nil), ("a b", "a b"), ("\u{e9}", "\u{e9}"),
        ] as [(String?, String?)])
    func identifiersOfValues(text: String?, expected: String?) throws {
        let pipeline = try TestPipeline(Self.template(Self.identifiers))
        let node = try pipeline.observation(Self.reading(text.map { [1: $0] } ?? [:]))
        #expect(node.text("identifier.2.value") == expected)
        #expect(node.text("identifier.1.value") == "S \"17\"" && node.text("valueInteger") == "1")
    }

    @Test func aNumberIsAnIdentifier() throws {
        let pipeline = try TestPipeline(Self.template(Self.identifiers))
        var window = TestWindow(seconds: 0)
        window.add(0, [0: "1", 1: "0017"])
        #expect(try pipeline.observation(window).text("identifier.2.value") == "17")
    }

    /// An identifier makes no Observation of a reading without value, as a note does not.
    @Test func anIdentifierAloneIsNothing() throws {
        let pipeline = try TestPipeline(Self.template(Self.identifiers))
        var window = TestWindow(seconds: 0)
        window.add(0, texts: [1: "u"])
        #expect(pipeline.text(window).outcome == .skipped(.missingValue))
    }

    /// A blank note would be no FHIR either.
    @Test func blankNotesAreLeftOut() throws {
        let pipeline = try TestPipeline(Self.template("\"note\":{\"valueName\":\"n\"}"))
        #expect(try pipeline.observation(Self.reading([1: "  "]))["note"] == nil)
        #expect(try pipeline.observation(Self.reading([1: "ok"])).text("note.0.text") == "ok")
    }

    /// The guide's own identifier stays before those of templates, and the reference's where it was.
    @Test func identifiersInOtherShapes() throws {
        let body = Self.template(Self.identifiers).replacing("urn:c", with: "urn:iso:std:iso:11073:10101")
        var guide = try TestPipeline(body)
        guide.options.profile = .phd
        let node = try guide.observation(Self.reading([1: "u"]))
        #expect(node.text("identifier.1.system")?.hasSuffix("PhdBaseObservation") == true)
        #expect(node.text("identifier.2.value") == "S \"17\"" && node.text("identifier.3.value") == "u")
        var reference = try TestPipeline(body)
        reference.types[0].compatibility = .iomtFHIR
        let other = try reference.observation(Self.reading([1: "u"]))
        #expect(other.text("identifier.0.system") == Compatibility.iomtFHIRSystem)
        #expect(other.text("identifier.2.value") == "u" && other["identifier.3"] == nil)
    }

    // MARK: Status

    @Test(arguments: [
        ("final", ["preliminary", "final", "amended", "entered-in-error"]),
        ("preliminary", ["preliminary", "preliminary", "preliminary", "entered-in-error"]),
    ])
    func status(stated: String, expected: [String]) throws {
        let pipeline = try TestPipeline(Self.template("\"status\":\"\(stated)\""))
        let all: [ObservationStatus] = [.preliminary, .final, .amended, .enteredInError]
        let written = try all.map { try pipeline.observation(Self.reading([:], $0)).text("status") }
        #expect(written == expected)
        var guide = pipeline
        guide.options.profile = .phd
        let ofTheGuide = try all.map { try guide.observation(Self.reading([:], $0)).text("status") }
        #expect(ofTheGuide == expected.map { $0 == "amended" ? "final" : $0 })
    }

    // MARK: Exact times

    private static let start = "https://bdh.stanford.edu/fhir/defs/absoluteTimeRangeStart"

    private func range(_ node: JSONNode, at index: Int = 0) -> [String?] {
        #expect(node.text("extension.\(index).url") == Self.start)
        #expect(node.text("extension.\(index + 1).url") == Self.start.replacing("Start", with: "End"))
        #expect(node["extension.\(index + 2)"] == nil)
        return [node.text("extension.\(index).valueDecimal"), node.text("extension.\(index + 1).valueDecimal")]
    }

    @Test(
        arguments: [
            (TestWindow.tenOClock, 5 * TestWindow.second, ["1714557600", "1714557605"]),
            (TestWindow.tenOClock + 120_000_000, 10, ["1714557600.12", "1714557600.12000001"]),
            (0, 0, ["0", "0"]), (-1_500_000_000, 1_000_000_000, ["-1.5", "-0.5"]),
            // A FHIR decimal has no room for more digits: what is less than 10 ns is cut, towards the past.
            (TestWindow.tenOClock + 123_456_789, 6, ["1714557600.12345678", "1714557600.12345679"]),
            (-1_500_000_001, 2, ["-1.50000001", "-1.5"]),
        ] as [(Int64, Int64, [String])])
    func rangeIsExactTo10Nanoseconds(start: Int64, length: Int64, expected: [String]) throws {
        var pipeline = try TestPipeline(Self.template("\"absoluteTimeRange\":true", period: "1h"))
        pipeline.options.timePrecision = .milli
        var window = TestWindow(start: start, seconds: 60)
        window.add(0, [0: "1"])
        if length > 0 { window.add(length, [0: "2"]) }
        #expect(try range(pipeline.observation(window)) == expected)
    }

    /// The start of what a reading covers, behind other extensions.
    @Test func rangeOfAnInterval() throws {
        let body = Self.template(
            "\"absoluteTimeRange\":true,\"extension\":[{\"url\":\"urn:a\",\"valueInteger\":1}]")
        let pipeline = try TestPipeline(body, durationSlot: 1)
        var window = TestWindow(seconds: 0)
        window.add(0, [0: "1", 1: "60000000000"])
        let node = try pipeline.observation(window)
        #expect(node.text("extension.0.url") == "urn:a")
        #expect(range(node, at: 1) == ["1714557540", "1714557600"])
        #expect(node.text("effectivePeriod.start") == "2024-05-01T09:59:00Z")
    }

    /// Summaries and other resources have no times of a window to tell, whatever the file says.
    @Test(arguments: ["", "\"absoluteTimeRange\":true,"]) func rangeOfNoObservations(stated: String) throws {
        let file = """
            {"templateType":"CollectionFhir",\(stated)"template":[
            {"templateType":"GlucoseSummaryFhir","template":{"typeName":"g","period":"1d","valueName":"v",
             "unit":"mg/dL","samplePeriod":"5m"}},
            {"templateType":"ResourceFhir","template":{"typeName":"d","resourceType":"Device",
             "resource":{"status":"active"}}}]}
            """
        var log = DiagnosticLog(file: "fhir.json")
        let loaded = FHIRTemplateLoader.load(try TextJSON.parse(file), log: &log)
        #expect(loaded.count == 2, "\(log.all.map(\.text))")
        #expect(loaded.allSatisfy { $0.members.writesTimeRange == nil })
    }

    /// What the file says is for all whose templates do not say otherwise.
    @Test func rangeOfAFile() throws {
        let shells = ["", ",\"absoluteTimeRange\":false", ",\"absoluteTimeRange\":true"].enumerated().map {
            "{\"templateType\":\"CodeValueFhir\",\"template\":{\"typeName\":\"x\($0)\",\(Self.value)\($1)}}"
        }
        for (stated, expected) in [("", [false, false, true]), (",\"absoluteTimeRange\":true", [true, false, true])] {
            let file = "{\"templateType\":\"CollectionFhir\"\(stated),\"template\":[\(shells.joined(separator: ","))]}"
            var log = DiagnosticLog(file: "fhir.json")
            let loaded = FHIRTemplateLoader.load(try TextJSON.parse(file), log: &log)
            #expect(loaded.map(\.members.writesTimeRange) == expected && log.all.isEmpty, "\(log.all.map(\.text))")
        }
    }

    // MARK: Mistakes

    @Test(arguments: [
        ("\"identifier\":[{\"system\":\"uuid\",\"value\":\"1\"}]", "instance", "must be an absolute URI"),
        ("\"identifier\":[{\"system\":\"urn:a b\",\"value\":\"1\"}]", "instance", "must be an absolute URI"),
        ("\"identifier\":[{\"system\":\"urn:a\"}]", "instance", "either 'value' or 'valueName'"),
        ("\"identifier\":[{\"system\":\"urn:a\",\"value\":\" \"}]", "instance", "either 'value' or 'valueName'"),
        (
            "\"identifier\":[{\"system\":\"urn:a\",\"value\":\"1\",\"valueName\":\"v\"}]", "instance",
            "either 'value' or 'valueName'"
        ),
        ("\"identifier\":[{\"system\":\"urn:a\",\"valueName\":\"u\"}]", "1h", "'u' is of one of them"),
    ])
    func wrongIdentifiers(members: String, period: String, message: String) throws {
        #expect(
            try findings(members, period: period).contains {
                $0.hasPrefix("wrong-identifier: ") && $0.contains(message)
            })
    }

    @Test(arguments: [
        ("\"identifier\":[{\"value\":\"1\"}]", "missing-field: Required property 'System'"),
        ("\"identifier\":{}", "wrong-kind: 'identifier' must be an array"),
        ("\"status\":\"amended\"", "unknown-choice: unknown status 'amended'"),
        ("\"status\":\"entered-in-error\"", "unknown-choice: unknown status 'entered-in-error'"),
        ("\"absoluteTimeRange\":\"yes\"", "wrong-kind: 'absoluteTimeRange' must be true or false"),
    ])
    func wrongMembers(members: String, message: String) throws {
        #expect(try findings(members, period: "instance").contains { $0.hasPrefix(message) })
    }

    private func findings(_ members: String, period: String) throws -> [String] {
        let body = Self.template(members, period: period)
        var log = DiagnosticLog(file: "fhir.json")
        _ = FHIRTemplateLoader.load(
            try TextJSON.parse(
                "{\"templateType\":\"CollectionFhir\",\"template\":[{\"templateType\":\"CodeValueFhir\","
                    + "\"template\":\(body)}]}"), log: &log)
        return log.all.filter { $0.severity == .error }.map { "\($0.code): \($0.message)" }
    }

    /// An identifier in a system that kymo makes could be that of another Observation.
    @Test func systemsOfTheOutputAreRefused() throws {
        let device = """
            {"templateType":"CollectionContent","template":[{"templateType":"JsonPathContent","template":{
            "typeName":"x","typeMatchExpression":"$..[?(@v)]","deviceIdExpression":"$.d","timestampExpression":"$.t",
            "values":[{"valueName":"v","valueExpression":"$.v"}]}}]}
            """
        var options = ObservationOptions()
        options.observationSystem = "urn:mine"
        for (system, count) in [
            ("urn:mine", 1), ("urn:kymograph:patient", 1), (Compatibility.iomtFHIRSystem, 1), ("urn:other", 0),
        ] {
            let body = Self.template("\"identifier\":[{\"system\":\"\(system)\",\"value\":\"1\"}]")
            let shell = "{\"templateType\":\"CodeValueFhir\",\"template\":\(body)}"
            let fhir = "{\"templateType\":\"CollectionFhir\",\"template\":[\(shell)]}"
            let mapping = NamedMapping(
                name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
                fhir: MappingFile(name: "fhir.json", bytes: Array(fhir.utf8)))
            let set = try #require(MappingLoader.load([mapping]).set)
            let found = set.diagnostics(of: options, [mapping])
            #expect(
                found.count == count && found.allSatisfy { $0.severity == .error && $0.template == "x" }, "\(system)")
        }
    }
}
