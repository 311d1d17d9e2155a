import KymographCore
import KymographTemplates
import Testing

/// What `compatibility: iomt-fhir` changes in Observations and bundles.
@Suite struct IomtFHIRShapeTests {
    private static let system = "https://azure.microsoft.com/en-us/services/iomt-fhir-connector/"

    private func pipeline(_ bodies: String...) throws -> TestPipeline {
        var pipeline = try TestPipeline(bodies[0])
        for body in bodies.dropFirst() {
            let other = try TestPipeline(body)
            pipeline.types += other.types
            pipeline.templates += other.templates
        }
        for index in pipeline.types.indices { pipeline.types[index].compatibility = .iomtFHIR }
        return pipeline
    }

    private func hour(device: String = "ecg-1", encounter: String? = nil) -> TestWindow {
        var window = TestWindow(device: device, encounter: encounter, seconds: 3600)
        window.add(0, [0: "1.50"])
        window.add(2 * TestWindow.second, [0: "3"])
        return window
    }

    @Test func seriesCoversTheWholeWindow() throws {
        let observation = try pipeline(TestTemplates.sampled).observation(hour())
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:00.0000000Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:59:59.9999999Z")
        let series = observation["valueSampledData"]
        #expect(series?["origin"]?.canonical() == #"{unit:"mV",value:0}"#)
        #expect(series?.text("period") == "1000" && series?.text("dimensions") == "1")
        let tokens = series?.text("data")?.split(separator: " ") ?? []
        #expect(tokens.count == 3600)
        #expect(tokens.prefix(4) == ["1.50", "E", "3", "E"])
    }

    @Test func codeNamesTheType() throws {
        let observation = try pipeline(TestTemplates.sampled).observation(hour())
        #expect(observation.text("code.text") == "ecg")
        #expect(observation.text("code.coding.0.code") == "131329")
        #expect(observation.text("code.coding.1.system") == Self.system)
        #expect(observation.text("code.coding.1.code") == "ecg")
        #expect(observation.text("code.coding.1.display") == "ecg")
        #expect(observation["code.coding.2"] == nil)
    }

    @Test func instantIsAPeriodInUTC() throws {
        var window = TestWindow(device: "cgm-1", seconds: 0)
        window.add(0, [0: "104.50"], zone: 120)
        let observation = try pipeline(TestTemplates.glucose).observation(window)
        #expect(observation["effectiveDateTime"] == nil)
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:00.0000000Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:00.0000000Z")
        #expect(observation.text("issued") == "2024-05-01T10:00:00.0000000Z")
        #expect(observation.text("valueQuantity.value") == "104.50")
    }

    @Test func identityIsMadeOfLogicalIDs() throws {
        let observation = try pipeline(TestTemplates.sampled).observation(hour())
        let value = "\(hexDigest("_7")).\(hexDigest("_ecg-1")).ecg.20240501100000Z.20240501105959Z"
        #expect(observation.text("identifier.0.system") == Self.system)
        #expect(observation.text("identifier.0.value") == value)
        #expect(observation.text("id") == hexDigest("\(Self.system)_\(value)"))
        #expect(observation["subject.identifier"]?.canonical() == #"{value:"7"}"#)
    }

    /// A search for another identifier than the Observation carries finds nothing: each version was a new Observation.
    @Test(arguments: [ObservationOptions.Write.conditionalUpdate, .conditionalCreate])
    func serversSearchWhatTheObservationCarries(_ write: ObservationOptions.Write) throws {
        var pipeline = try pipeline(TestTemplates.sampled)
        pipeline.options.write = write
        var writer = pipeline.writer()
        let window = hour()
        _ = window.withContent { writer.add($0) }
        let entry = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements?.last)
        let value = try #require(entry.text("resource.identifier.0.value"))
        let request = try #require(entry.text(write == .conditionalUpdate ? "request.url" : "request.ifNoneExist"))
        #expect(request.contains("identifier=\(Self.system)") && request.hasSuffix(value), "\(request)")
    }

    @Test func encountersStayApart() throws {
        let pipeline = try pipeline(TestTemplates.sampled)
        let first = try pipeline.observation(hour(encounter: "e1"))
        let second = try pipeline.observation(hour(encounter: "e2"))
        #expect(first.text("identifier.0.value")?.hasSuffix(".20240501105959Z.e1") == true)
        #expect(first.text("id") != second.text("id"))
    }

    @Test func configuredSystemsAreKept() throws {
        var pipeline = try pipeline(TestTemplates.sampled)
        pipeline.options.deviceSystem = "urn:example:devices"
        let observation = try pipeline.observation(hour())
        let device = hexDigest("urn:example:devices_ecg-1")
        #expect(observation.text("identifier.0.value")?.contains(".\(device).") == true)
    }

    @Test func transactionPutsPatientAndDevice() throws {
        var writer = try pipeline(TestTemplates.sampled).writer()
        for number in 0..<2 {
            var window = hour()
            window.start += Int64(number) * TestPipeline.hour
            window.end += Int64(number) * TestPipeline.hour
            #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        }
        let text = writer.finish().string
        let bundle = try TextJSON.parse(text)
        let (patient, device) = (hexDigest("_7"), hexDigest("_ecg-1"))
        #expect(bundle["entry"]?.elements?.count == 4)
        // Never PUT: it would replace what the server's Patient has got since.
        #expect(bundle.text("entry.0.request.method") == "POST")
        #expect(bundle.text("entry.0.request.ifNoneExist") == "identifier=|7")
        #expect(bundle["entry.0.resource.identifier.0"]?.canonical() == #"{value:"7"}"#)
        #expect(bundle.text("entry.2.resource.subject.reference") == bundle.text("entry.0.fullUrl"))
        #expect(bundle.text("entry.3.resource.device.reference") == bundle.text("entry.1.fullUrl"))
        let identifier = bundle.text("entry.2.resource.identifier.0.value") ?? ""
        #expect(identifier.hasPrefix("\(patient).\(device)."))
        guard SharedFiles.canValidate else { return }
        #expect(try SharedFiles.complaints(text, name: "bundle.json") == "")
    }

    @Test func batchRefersByIdentifier() throws {
        var pipeline = try pipeline(TestTemplates.sampled)
        pipeline.options.bundleType = .batch
        var writer = pipeline.writer()
        let window = hour()
        _ = window.withContent { writer.add($0) }
        let bundle = try TextJSON.parse(writer.finish().string)
        #expect(bundle.text("entry.0.request.method") == "POST")
        #expect(bundle.text("entry.2.resource.subject.identifier.value") == "7")
    }

    @Test func bothModesShareABundle() throws {
        var pipeline = try pipeline(TestTemplates.sampled, TestTemplates.glucose)
        pipeline.types[1].compatibility = .none
        var writer = pipeline.writer()
        let reference = hour(device: "d-1")
        _ = reference.withContent { writer.add($0) }
        var window = TestWindow(device: "d-1", type: 1, seconds: 0)
        window.add(0, [0: "104"])
        _ = window.withContent { writer.add($0) }
        let bundle = try TextJSON.parse(writer.finish().string)
        #expect(bundle["entry"]?.elements?.count == 6)
        #expect(bundle.text("entry.3.resource.identifier.0.system") == "urn:kymograph:patient")
        #expect(bundle.text("entry.5.resource.identifier.0.system") == "urn:kymograph:observation")
        #expect(bundle.text("entry.5.resource.subject.reference") == bundle.text("entry.3.fullUrl"))
    }

    @Test func missingBloodPressureIsLeftOut() throws {
        var window = TestWindow(seconds: 0)
        window.add(0, [0: "120"])
        let observation = try pipeline(TestTemplates.bloodPressure).observation(window)
        #expect(observation["component"]?.elements?.count == 1)
        #expect(observation.text("component.0.code.text") == "systolic")
        #expect(observation.text("component.0.code.coding.1.code") == "systolic")
    }
}
