import KymographCore
import KymographTemplates
import Testing

/// Templates given as text, joined with types whose values are those that the templates name.
struct TestPipeline {
    var types: [MeasurementType] = []
    var templates: [FHIRTemplate?] = []
    var options = ObservationOptions()

    static let hour: Int64 = 3_600_000_000_000

    /// Loads `bodies`: CodeValueFhir templates without their shell.
    init(_ bodies: String..., durationSlot: Int? = nil) throws {
        try self.init(list: bodies, durationSlot: durationSlot)
    }

    /// As ``init(_:durationSlot:)``.
    init(list bodies: [String], durationSlot: Int? = nil) throws {
        let shells = bodies.map { "{\"templateType\":\"CodeValueFhir\",\"template\":\($0)}" }
        try self.init(shells: shells, durationSlot: durationSlot)
    }

    /// Loads `bodies`: ResourceFhir templates without their shell, for output in `version`.
    init(resources bodies: String..., version: FHIRVersion = .r4, durationSlot: Int? = nil) throws {
        let shells = bodies.map { "{\"templateType\":\"ResourceFhir\",\"template\":\($0)}" }
        try self.init(shells: shells, version: version, durationSlot: durationSlot)
    }

    /// Loads templates with their shells.
    init(shells: [String], version: FHIRVersion = .r4, durationSlot: Int? = nil) throws {
        options.version = version
        let file = "{\"templateType\":\"CollectionFhir\",\"template\":[\(shells.joined(separator: ","))]}"
        var log = DiagnosticLog(file: "fhir.json")
        let loaded = FHIRTemplateLoader.load(try TextJSON.parse(file), version: version, log: &log)
        try #require(!log.hasErrors, "\(log.all.map(\.text))")
        for template in loaded {
            let uses = template.valueUses
            types.append(
                MeasurementType(
                    name: template.typeName, valueNames: uses.map(\.name),
                    grouping: template.grouping(defaultPeriod: TestPipeline.hour / 60),
                    isNumeric: uses.map(\.isNumeric), durationSlot: durationSlot))
            templates.append(template)
        }
    }

    func encoder() -> ObservationEncoder {
        ObservationEncoder(types: types, templates: templates, options: options, digest: testDigest)
    }

    func writer(maxEntries: Int = 100, maxBytes: Int = 1 << 20) -> BundleTrial {
        BundleTrial(encoder(), limits: BundleLimits(entries: maxEntries, bytes: maxBytes))
    }

    /// The Observation of `window` as a node, references by identifier.
    func observation(_ window: borrowing TestWindow) throws -> JSONNode {
        try TextJSON.parse(text(window).text)
    }

    /// The Observation of `window` as text, and what became of it.
    func text(_ window: borrowing TestWindow) -> (text: String, outcome: EncodeOutcome) {
        var encoder = encoder()
        var writer = ByteWriter()
        let outcome = window.withContent { encoder.encode($0, into: &writer) }
        return (writer.view.string, outcome)
    }
}

/// Templates that several tests use.
enum TestTemplates {
    static let heartRate = """
        {"typeName":"heartRate","period":"1m","effective":"covered",
         "category":[{"codes":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",
                                "code":"vital-signs"}]}],
         "profile":["http://hl7.org/fhir/StructureDefinition/heartrate"],
         "codes":[{"system":"http://loinc.org","code":"8867-4"}],
         "value":{"valueType":"Statistics","valueName":"value","unit":"/min","code":"/min",
                  "series":{"codes":[{"system":"urn:iso:std:iso:11073:10101","code":"149530",
                                      "display":"MDC_PULS_OXIM_PULS_RATE"}]}}}
        """
    static let bloodPressure = """
        {"typeName":"bloodPressure","period":"instance",
         "category":[{"codes":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",
                                "code":"vital-signs"}]}],
         "profile":["http://hl7.org/fhir/StructureDefinition/bp"],
         "codes":[{"system":"http://loinc.org","code":"85354-9"}],
         "components":[
           {"codes":[{"system":"http://loinc.org","code":"8480-6"}],
            "value":{"valueType":"Quantity","valueName":"systolic","unit":"mmHg","code":"mm[Hg]"}},
           {"codes":[{"system":"http://loinc.org","code":"8462-4"}],
            "value":{"valueType":"Quantity","valueName":"diastolic","unit":"mmHg","code":"mm[Hg]"}},
           {"codes":[{"system":"http://loinc.org","code":"8478-0"}],
            "value":{"valueType":"Quantity","valueName":"mean","unit":"mmHg","code":"mm[Hg]"}}]}
        """
    static let steps = """
        {"typeName":"steps","period":"1h",
         "category":[{"codes":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",
                                "code":"activity"}]}],
         "codes":[{"system":"http://loinc.org","code":"55423-8"}],
         "value":{"valueType":"Statistics","valueName":"value","aggregate":"sum","unit":"steps","code":"{steps}",
                  "components":[]}}
        """
    static let glucose = """
        {"typeName":"glucose","period":"instance",
         "category":[{"codes":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",
                                "code":"laboratory"}]}],
         "codes":[{"system":"http://loinc.org","code":"99504-3"}],
         "value":{"valueType":"Quantity","valueName":"value","unit":"mg/dL","code":"mg/dL"}}
        """
    /// iomt-fhir's own kinds of value.
    static let sampled = """
        {"typeName":"ecg","periodInterval":60,"codes":[{"system":"urn:iso:std:iso:11073:10101","code":"131329"}],
         "value":{"valueType":"SampledData","valueName":"mv","defaultPeriod":1000,"unit":"mV","code":"mV"}}
        """
    static let note = """
        {"typeName":"note","periodInterval":0,"codes":[],"value":{"valueType":"string","valueName":"text"}}
        """
    static let alarm = """
        {"typeName":"alarm","periodInterval":-1,
         "codes":[{"system":"https://example.org/events","code":"event","display":"Device event"}],
         "value":{"valueType":"CodeableConcept","valueName":"alarm","text":"Alarm!",
                  "codes":[{"system":"https://example.org/events","code":"alarm"}]},
         "components":[{"codes":[],"value":{"valueType":"String","valueName":"detail"}}]}
        """
}
