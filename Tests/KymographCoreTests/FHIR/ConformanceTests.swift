import Foundation
import KymographCore
import KymographTemplates
import Testing

@Suite struct ConformanceTests {
    @Test(.enabled(if: SharedFiles.root != nil, "needs the shared folder: set KYMO_SHARED"))
    func heartRateWindowEqualsTheGoldenOne() throws {
        let file = try #require(SharedFiles.root).appendingPathComponent("fhir/examples/good/bundle-window.json")
        let golden = try #require(try TextJSON.parse(String(contentsOf: file, encoding: .utf8))["entry.2.resource"])
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        let values = try #require(golden.text("component.3.valueSampledData.data")).split(separator: " ")
        for (index, value) in values.enumerated() { window.add(Int64(index) * second, [0: String(value)]) }
        let observation = try pipeline.observation(window)
        // Identity and references are ours; the golden period ends with the window, ours with the last reading.
        let own: Set<String> = ["id", "identifier", "subject", "device", "effectivePeriod"]
        #expect(observation.canonical(dropping: own) == golden.canonical(dropping: own))
        #expect(observation.text("effectivePeriod.start") == golden.text("effectivePeriod.start"))
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:59Z")
    }

    /// iomt-fhir's own mapping files (conformance cases `fhir.load.collection.*`).
    @Test(
        .enabled(if: SharedFiles.root != nil, "needs the shared folder: set KYMO_SHARED"),
        arguments: [
            ("CollectionFhirTemplateValid", 6, false), ("CollectionFhirTemplateEmptyWithType", 0, false),
            ("CollectionFhirTemplateInvalid", 1, true), ("CollectionFhirTemplateMixedValidity", 1, true),
            ("CollectionFhirTemplateMultipleMocks", 0, true),
            ("InvalidCollectionFhirTemplateWithNoTemplateArray", 0, true), ("CollectionFhirTemplateEmpty", 0, true),
        ])
    func loadsMappingsOfTheReferenceSystem(name: String, templates: Int, hasErrors: Bool) throws {
        let file = try #require(SharedFiles.root).appendingPathComponent("conformance/inputs/data_\(name).json")
        let text = try String(contentsOf: file, encoding: .utf8).replacing("\u{FEFF}", with: "")
        var log = DiagnosticLog(file: name)
        let loaded = FHIRTemplateLoader.load(try TextJSON.parse(text), log: &log)
        #expect(loaded.count == templates, "\(log.all.map(\.text))")
        #expect(log.hasErrors == hasErrors, "\(log.all.map(\.text))")
    }

    @Test(
        .enabled(if: SharedFiles.canValidate, "needs KYMO_SHARED, and KYMO_PYTHON with fhir.resources"),
        arguments: ObservationOptions.BundleType.allCases, ObservationOptions.Write.allCases)
    func bundlesHaveNoErrorsOrWarnings(type: ObservationOptions.BundleType, write: ObservationOptions.Write) throws {
        var options = ObservationOptions()
        options.bundleType = type
        options.write = write
        let text = try everything(options)
        #expect(try SharedFiles.complaints(text, name: "bundle.json") == "")
    }

    @Test(.enabled(if: SharedFiles.canValidate, "needs KYMO_SHARED, and KYMO_PYTHON with fhir.resources"))
    func linesHaveNoErrorsOrWarnings() throws {
        var options = ObservationOptions()
        options.format = .ndjson
        let text = try everything(options)
        #expect(try SharedFiles.complaints(text, name: "observations.ndjson") == "")
    }

    /// One of every kind of Observation, for several patients and devices.
    private func everything(_ options: ObservationOptions) throws -> String {
        var pipeline = try TestPipeline(
            TestTemplates.heartRate, TestTemplates.bloodPressure, TestTemplates.steps, TestTemplates.glucose,
            TestTemplates.sampled, TestTemplates.note, TestTemplates.alarm,
            TestTemplates.heartRate.replacing("\"covered\"", with: "\"window\"").replacing("heartRate", with: "hr2"))
        pipeline.options = options
        var writer = pipeline.writer(maxEntries: 1000)
        for (patient, device) in [("7", "hr-1"), (nil, "hr-1"), ("a b,c|d", "é+\"1\""), (nil, "x.y%z")] {
            for kind in 0..<10 {
                let window = window(kind, device: device, patient: patient)
                #expect(window.withContent { writer.add($0) } != .full)
            }
        }
        #expect(writer.contentCount == 40)
        return writer.finish().string
    }

    private func window(_ kind: Int, device: String, patient: String?) -> TestWindow {
        var window = TestWindow(
            device: device, patient: patient, encounter: kind == 6 ? "e1" : nil, correlation: kind == 6 ? "c1" : nil,
            type: [0, 1, 2, 3, 4, 5, 6, 7, 0, 0][kind], start: TestWindow.tenOClock + Int64(kind) * 3600 * second)
        switch kind {
        case 0, 7: for index in [0, 5, 10, 20, 50] { window.add(Int64(index) * second, [0: "\(60 + index).5"]) }
        case 1: window.add(0, [0: "127", 1: "79"])
        case 2: for index in 0..<5 { window.add(Int64(index) * 10 * second, [0: "\(index)"]) }
        case 3: window.add(0, [0: "104"], zone: 120)
        case 4: for index in 0..<50 { window.add(Int64(index) * 333_000_000, [0: "0.\(index + 10)"]) }
        case 5: window.add(0, texts: [0: "felt \"dizzy\"\nat rest"])
        case 6: window.add(0, texts: [0: "on", 1: "lead off"])
        case 8: for time in [3, 1009, 20011, 31337, 59999] { window.add(Int64(time) * 1_000_000, [0: "66"]) }
        default: window.add(0, [0: "72"])
        }
        return window
    }
}
