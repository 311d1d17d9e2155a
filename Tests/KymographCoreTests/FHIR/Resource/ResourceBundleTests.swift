import KymographCore
import KymographTemplates
import Testing

/// Resources of readings as entries of bundles.
@Suite struct ResourceBundleTests {
    private static let templates = [
        "{\"templateType\":\"ResourceFhir\",\"template\":\(TestResources.device)}",
        "{\"templateType\":\"ResourceFhir\",\"template\":\(TestResources.message)}",
        "{\"templateType\":\"CodeValueFhir\",\"template\":\(TestTemplates.heartRate)}",
    ]

    private func pipeline() throws -> TestPipeline { try TestPipeline(shells: Self.templates) }

    private func window(_ type: Int, second: Int = 0, device: String = "hr-1") -> TestWindow {
        var window = TestWindow(
            device: device, type: type, start: TestWindow.tenOClock + Int64(second) * TestWindow.second)
        type == 2 ? window.add(0, [0: "60"]) : window.add(0, texts: [type == 0 ? 2 : 0: "x"])
        return window
    }

    private func add(_ types: [Int], to writer: inout BundleTrial) -> [BundleTrial.AddOutcome] {
        types.enumerated().map { index, type in
            let window = window(type, second: index * 60)
            return window.withContent { writer.add($0) }
        }
    }

    private func entries(_ writer: inout BundleTrial) throws -> [JSONNode] {
        try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
    }

    /// Observations of the same bundle refer to the Device that a reading describes; there is no other of it.
    @Test func observationsReferToTheDevice() throws {
        var writer = try pipeline().writer()
        #expect(add([0, 2, 1], to: &writer).allSatisfy { $0 == .added(condensedValues: 0) })
        let entries = try entries(&writer)
        let devices = entries.filter { $0.text("resource.resourceType") == "Device" }
        #expect(devices.count == 1 && devices[0].text("resource.serialNumber") == "x")
        #expect(devices[0].text("request.method") == "PUT")
        #expect(devices[0].text("request.url") == "Device?identifier=urn:kymograph:device%7Chr-1")
        let observation = try #require(entries.first { $0.text("resource.resourceType") == "Observation" })
        #expect(observation.text("resource.device.reference") == devices[0].text("fullUrl"))
        let message = try #require(entries.first { $0.text("resource.resourceType") == "Communication" })
        let id = try #require(message.text("resource.id"))
        #expect(message.text("request.url") == "Communication/\(id)" && message["fullUrl"] == nil)
        #expect(message.text("resource.about.0.reference") == devices[0].text("fullUrl"))
    }

    /// A bundle that has the Device only by its identifier, or has it already, is to be sent first.
    @Test(arguments: [[2, 0], [0, 0], [1, 0]]) func oneDeviceABundle(types: [Int]) throws {
        var writer = try pipeline().writer()
        #expect(add(types, to: &writer) == [.added(condensedValues: 0), .full])
        _ = writer.finish()
        writer.reset()
        #expect(add([0], to: &writer) == [.added(condensedValues: 0)])
    }

    @Test(arguments: ObservationOptions.BundleType.allCases, ObservationOptions.Write.allCases)
    func everyForm(type: ObservationOptions.BundleType, write: ObservationOptions.Write) throws {
        var pipeline = try pipeline()
        pipeline.options.bundleType = type
        pipeline.options.write = write
        var writer = pipeline.writer()
        _ = add([0, 1], to: &writer)
        let entries = try entries(&writer)
        #expect(entries.count == 2)
        let (device, message) = (entries[0], entries[1])
        #expect((device["resource.id"] != nil) == (type == .collection))
        #expect((message["resource.id"] != nil) == (type == .collection || write == .putByID))
        if type == .collection {
            #expect(entries.allSatisfy { $0["fullUrl"] != nil && $0["request"] == nil })
        } else if write == .conditionalCreate {
            #expect(device.text("request.ifNoneExist") == "identifier=urn:kymograph:device|hr-1")
            #expect(message.text("request.ifNoneExist")?.hasPrefix("identifier=urn:kymograph:resource|7.hr-1.") == true)
        } else {
            #expect(device.text("request.url")?.hasPrefix("Device?identifier=") == true)
            let isSearch = message.text("request.url")?.hasPrefix("Communication?identifier=") == true
            #expect(isSearch == (write == .conditionalUpdate))
        }
    }

    /// The caps on entries and bytes hold for resources, too.
    @Test func bundlesAreBounded() throws {
        var writer = try pipeline().writer(maxEntries: 2)
        #expect(add([1, 1, 1], to: &writer) == [.added(condensedValues: 0), .full, .full])
        #expect(try entries(&writer).count == 2 && writer.contentCount == 1)
    }

    @Test func linesHaveIdsAndReferencesByIdentifier() throws {
        var pipeline = try pipeline()
        pipeline.options.format = .ndjson
        var writer = pipeline.writer()
        _ = add([0, 1], to: &writer)
        let lines = writer.finish().string.split(separator: "\n").map(String.init)
        let nodes = try lines.map(TextJSON.parse)
        #expect(nodes.map { $0.text("resourceType") } == ["Device", "Communication"])
        #expect(nodes.allSatisfy { $0.text("id")?.count == 64 })
        #expect(nodes[1].text("about.0.identifier.value") == "hr-1")
    }

    /// With a type in the shape of the reference, its identifier systems are used for what resources refer to.
    @Test func compatibleTypesKeepTheirSystems() throws {
        var pipeline = try pipeline()
        for index in pipeline.types.indices { pipeline.types[index].compatibility = .iomtFHIR }
        var writer = pipeline.writer()
        _ = add([0, 2], to: &writer)
        let entries = try entries(&writer)
        #expect(entries[0].text("request.url") == "Device?identifier=%7Chr-1")
        #expect(entries[0]["resource.identifier.0.system"] == nil)
        let observation = try #require(entries.last)
        #expect(observation.text("resource.device.reference") == entries[0].text("fullUrl"))
    }
}
