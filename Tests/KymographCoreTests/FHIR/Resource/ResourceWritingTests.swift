import KymographCore
import KymographTemplates
import Testing

/// What readings become that are no Observations.
@Suite struct ResourceWritingTests {
    /// The resource of one reading of `texts` by value name, with `numbers` among them.
    private func resource(
        _ template: String, _ texts: [String: String], numbers: [String: String] = [:],
        version: FHIRVersion = .r4, encounter: String? = nil, device: String = "d-1"
    ) throws -> (node: JSONNode?, outcome: EncodeOutcome) {
        let pipeline = try TestPipeline(resources: template, version: version)
        var window = TestWindow(device: device, encounter: encounter)
        func slots(_ values: [String: String]) throws -> [Int: String] {
            var slots: [Int: String] = [:]
            for (name, value) in values {
                slots[try #require(pipeline.types[0].valueNames.firstIndex(of: name))] = value
            }
            return slots
        }
        window.add(0, try slots(numbers), texts: try slots(texts), zone: 60)
        let (text, outcome) = pipeline.text(window)
        return (text.isEmpty ? nil : try TextJSON.parse(text), outcome)
    }

    @Test func fillsTheHoles() throws {
        let (found, outcome) = try resource(
            TestResources.device,
            [
                "udi": "0950", "maker": " Acme \"A\"\t", "serial": "S\\1", "name": "Pumpe", "model": "2",
                "kind": "528403",
                "firmware": "1.2",
            ])
        let device = try #require(found)
        #expect(outcome == .written(condensedValues: 0))
        #expect(device.text("resourceType") == "Device" && device["id"] == nil)
        #expect(device.text("identifier.0.system") == "urn:kymograph:device")
        #expect(device.text("identifier.0.value") == "d-1")
        #expect(device.text("manufacturer") == "Acme \"A\"" && device.text("serialNumber") == "S\\1")
        #expect(device.text("udiCarrier.0.deviceIdentifier") == "0950")
        #expect(device.text("type.coding.0.code") == "528403")
        #expect(device.text("version.0.type.text") == "firmware" && device.text("version.0.value") == "1.2")
    }

    /// What a reading does not say is left out with what makes no sense without it.
    @Test func leavesOutWhatIsMissing() throws {
        let device = try #require(try resource(TestResources.device, ["serial": "S", "maker": " \t", "name": ""]).node)
        let names = try #require(device.members).map(\.name)
        #expect(names == ["resourceType", "identifier", "status", "serialNumber"])

        let dose = try #require(try resource(TestResources.dose, ["drug": "x"]).node)
        #expect(["statusReason", "context", "dosage"].allSatisfy { dose[$0] == nil })
        #expect(dose.text("effectiveDateTime") == "2024-05-01T11:00:00+01:00")
        #expect(dose.text("device.0.identifier.value") == "d-1")
        #expect(dose.text("subject.type") == "Patient" && dose.text("subject.identifier.value") == "7")
        #expect(dose.text("id")?.count == 64)
        #expect(dose.text("identifier.0.system") == "urn:kymograph:resource")
        #expect(dose.text("identifier.0.value") == "7.d-1.dose.20240501100000Z.20240501100000Z")
    }

    @Test func encounterIsThereWhenTheReadingNamesOne() throws {
        let dose = try #require(
            try resource(TestResources.dose, ["drug": "x"], numbers: ["tablets": "0.50"], encounter: "e-3").node)
        #expect(dose.text("context.identifier.value") == "e-3")
        #expect(dose["dosage.dose.value"]?.numberDigits == "0.50" && dose.text("dosage.text") == "orally")
        #expect(dose.text("identifier.0.value")?.hasSuffix(".e-3") == true)
    }

    /// A text of several parts is written when all of them are there.
    @Test func joinsTexts() throws {
        let values = ["state": "active", "code": "7", "words": "Okklusion\u{1}! "]
        let alarm = try #require(try resource(TestResources.alarm, values).node)
        #expect(alarm.text("code.text") == "Alarm 7: Okklusion\u{1}!")
        #expect(alarm["period.end"] == nil)
        #expect(alarm.text("period.start") == "2024-05-01T11:00:00+01:00")
        #expect(try resource(TestResources.alarm, ["state": "active", "code": "7"]).outcome == .skipped(.missingValue))
    }

    @Test(arguments: [
        (["state": "ac tive", "code": "7", "words": "x"], Rejection.invalidValue),
        (["state": "active", "code": "7", "words": "x", "until": "tomorrow"], .invalidValue),
        (["state": " ", "code": "7", "words": "x"], .missingValue), (["until": "2024-05-01"], .missingValue),
    ])
    func refusesWhatIsNotFHIR(values: [String: String], reason: Rejection) throws {
        let (node, outcome) = try resource(TestResources.alarm, values)
        #expect(outcome == .skipped(reason) && node == nil)
    }

    @Test func typesAreWrittenAsTheyAre() throws {
        let task = try #require(
            try resource(
                TestResources.task, ["on": "TRUE", "at": "07:30", "uri": "urn:a"], numbers: ["n": "3.0"],
                encounter: "e"
            ).node)
        #expect(task["isActive"]?.isTrue == true && task["count"]?.numberDigits == "3")
        #expect(task.text("at") == "07:30:00" && task.text("where") == "urn:a")
        #expect(task.text("for.value") == "7" && task.text("owner.value") == "d-1" && task.text("in.value") == "e")
        #expect(task.text("came") == "2024-05-01T10:00:00Z")
        let bare = try #require(try resource(TestResources.task, ["on": "false"]).node)
        #expect(bare["isActive"]?.isTrue == false && bare["in"] == nil && bare["count"] == nil)
    }

    /// The same reading gives the same bytes; another time gives another identity, but the same Device.
    @Test func identityIsTheReadingOrTheDevice() throws {
        func identities(_ template: String, _ texts: [Int: String]) throws -> Set<String> {
            var pipeline = try TestPipeline(resources: template)
            pipeline.options.format = .ndjson
            let texts = try [0, 0, 1].map { second in
                var window = TestWindow(start: TestWindow.tenOClock + Int64(second) * TestWindow.second)
                window.add(0, texts: texts)
                return try #require(try pipeline.observation(window).text("id"))
            }
            #expect(texts[0] == texts[1])
            return Set(texts)
        }
        #expect(try identities(TestResources.device, [2: "serial"]).count == 1)
        #expect(try identities(TestResources.message, [0: "words"]).count == 2)
    }
}

extension JSONNode {
    fileprivate var numberDigits: String? { if case .number(let text) = value { text } else { nil } }
    fileprivate var isTrue: Bool? { if case .bool(let flag) = value { flag } else { nil } }
}
