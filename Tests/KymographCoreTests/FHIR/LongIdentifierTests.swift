import Testing

@testable import KymographCore
@testable import KymographTemplates

/// Identifiers of more characters than servers compare: two of them are never one for a server.
@Suite struct LongIdentifierTests {
    private static let start = String(repeating: "x", count: 128)

    private func bundle(
        _ window: borrowing TestWindow, bundle: ObservationOptions.BundleType = .transaction,
        write: ObservationOptions.Write = .conditionalUpdate,
        compatibility: Compatibility = .none
    ) throws -> JSONNode {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.bundleType = bundle
        pipeline.options.write = write
        pipeline.types[0].compatibility = compatibility
        var writer = pipeline.writer()
        _ = window.withContent { writer.add($0) }
        return try TextJSON.parse(writer.finish().string)
    }

    private func window(device: String, patient: String = "7", encounter: String? = nil) -> TestWindow {
        var window = TestWindow(
            device: device, patient: patient, encounter: encounter, start: TestWindow.tenOClock)
        window.add(0, [0: "60"])
        return window
    }

    private func digest(_ text: String) -> String {
        var writer = ByteWriter()
        Array(text.utf8).withByteView { writer.appendHex(testDigest.of($0)) }
        return "sha256:" + writer.view.string
    }

    @Test(arguments: [ObservationOptions.BundleType.transaction, .batch]) func devicesAndPatients(
        type: ObservationOptions.BundleType
    ) throws {
        let (device, patient) = (Self.start + "-1", Self.start + "é")
        let bundle = try bundle(window(device: device, patient: patient), bundle: type)
        for (entry, value) in [("entry.0", patient), ("entry.1", device)] {
            #expect(bundle.text("\(entry).resource.identifier.0.value") == digest(value))
            #expect(bundle.text("\(entry).resource.identifier.1.use") == "secondary")
            #expect(bundle.text("\(entry).resource.identifier.1.system") == "urn:kymograph:full-identifier")
            #expect(bundle.text("\(entry).resource.identifier.1.value") == value)
            let search = bundle.text("\(entry).request.ifNoneExist")?.removingEscapes
            #expect(search?.hasSuffix("|" + digest(value)) == true, "\(search ?? "")")
        }
        guard type == .batch else { return }
        #expect(bundle.text("entry.2.resource.subject.identifier.value") == digest(patient))
        #expect(bundle.text("entry.2.resource.device.identifier.value") == digest(device))
    }

    /// Nobody makes Encounters: they have the identifiers that the server knows.
    @Test(arguments: [ObservationOptions.BundleType.transaction, .batch]) func encounters(
        type: ObservationOptions.BundleType
    ) throws {
        let encounter = Self.start + "-e"
        let bundle = try bundle(window(device: "d", encounter: encounter), bundle: type)
        #expect(bundle.text("entry.2.resource.encounter.identifier.value") == encounter)
        // The identity has it whole, and is long by that.
        let whole = "7.d.heartRate.20240501100000Z.20240501100059Z.\(encounter)"
        #expect(bundle.text("entry.2.resource.identifier.0.value") == digest(whole))
        #expect(bundle.text("entry.2.resource.identifier.1.value") == whole)
    }

    /// The identity of an Observation is long when its parts are not.
    @Test(arguments: [ObservationOptions.Write.conditionalCreate, .conditionalUpdate]) func observations(
        mode: ObservationOptions.Write
    ) throws {
        let parts = (String(repeating: "d", count: 64), String(repeating: "p", count: 64))
        let bundle = try bundle(window(device: parts.0, patient: parts.1), write: mode)
        let whole = "\(parts.1).\(parts.0).heartRate.20240501100000Z.20240501100059Z"
        #expect(bundle.text("entry.2.resource.identifier.0.value") == digest(whole))
        #expect(bundle.text("entry.2.resource.identifier.1.value") == whole)
        let search = bundle.text(
            mode == .conditionalCreate ? "entry.2.request.ifNoneExist" : "entry.2.request.url")
        #expect(search?.removingEscapes.hasSuffix("|" + digest(whole)) == true, "\(search ?? "")")
        // Neither Patient nor Device is long.
        #expect(bundle.text("entry.0.resource.identifier.0.value") == parts.1)
        #expect(bundle["entry.0.resource.identifier.1"] == nil)
    }

    /// The id of an Observation is what it was before long identifiers had another value.
    @Test func idsStayWhatTheyWere() throws {
        let bundle = try bundle(window(device: Self.start, patient: Self.start), write: .putByID)
        let whole = "\(Self.start).\(Self.start).heartRate.20240501100000Z.20240501100059Z"
        let id = digest("urn:kymograph:observation_" + whole).dropFirst("sha256:".count)
        #expect(bundle.text("entry.2.resource.id") == String(id))
    }

    @Test func whatServersCompareIsWrittenAsItIs() throws {
        // 128 characters of two bytes each; a character beyond the first plane counts as two.
        for value in [Self.start, String(repeating: "ж", count: 128), String(repeating: "😀", count: 64)] {
            let bundle = try bundle(window(device: value))
            #expect(bundle.text("entry.1.resource.identifier.0.value") == value)
            #expect(bundle["entry.1.resource.identifier.1"] == nil)
        }
        let emoji = String(repeating: "😀", count: 65)
        #expect(try bundle(window(device: emoji)).text("entry.1.resource.identifier.0.value") == digest(emoji))
    }

    @Test func asTheReferenceSystemWritesThem() throws {
        let device = Self.start + "-1"
        let bundle = try bundle(window(device: device), compatibility: .iomtFHIR)
        #expect(bundle.text("entry.1.resource.identifier.0.value") == device)
        #expect(bundle["entry.1.resource.identifier.1"] == nil && bundle["entry.2.resource.identifier.1"] == nil)
    }
}

extension String {
    /// A search without percent-encoding and backslashes.
    fileprivate var removingEscapes: String {
        replacing("%7C", with: "|").replacing("%3A", with: ":").replacing("\\", with: "")
    }
}
