import KymographCore
import KymographTemplates
import Testing

@Suite struct BundleWriterTests {
    @Test func transactionHasEachResourceOnce() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate, TestTemplates.glucose)
        var writer = pipeline.writer()
        for minute in 0..<3 {
            let window = heartRate(minute: minute)
            #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        }
        let line = writer.finish().string
        #expect(line.hasSuffix("]}\n") && line.dropLast().allSatisfy { $0 != "\n" })
        let bundle = try TextJSON.parse(line)
        #expect(bundle.text("type") == "transaction")
        #expect(
            bundle["entry"]?.elements?.map { $0.text("resource.resourceType") } == [
                "Patient", "Device", "Observation", "Observation", "Observation",
            ])
        #expect(bundle.text("entry.2.resource.subject.reference") == bundle.text("entry.0.fullUrl"))
        #expect(bundle.text("entry.2.resource.device.reference") == bundle.text("entry.1.fullUrl"))
        #expect(bundle.text("entry.0.request.ifNoneExist") == "identifier=urn:kymograph:patient|7")
        #expect(bundle["entry.2.fullUrl"] == nil)
        let id = try #require(bundle.text("entry.2.resource.id"))
        #expect(bundle.text("entry.2.request.url") == "Observation/\(id)")
        #expect(bundle.text("entry.2.request.method") == "PUT")
        let uuid = try #require(bundle.text("entry.0.fullUrl")?.dropFirst("urn:uuid:".count))
        #expect(uuid.count == 36)
        #expect(Array(uuid)[14] == "8")
        #expect("89ab".contains(Array(uuid)[19]))
    }

    @Test func sameContentGivesTheSameBytes() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var writer = pipeline.writer()
        let window = heartRate(minute: 0)
        _ = window.withContent { writer.add($0) }
        let first = writer.finish().string
        writer.reset()
        _ = window.withContent { writer.add($0) }
        #expect(writer.finish().string == first)
    }

    @Test func batchRefersByIdentifier() throws {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.bundleType = .batch
        let bundle = try bundle(of: pipeline)
        #expect(bundle.text("type") == "batch")
        #expect(bundle["entry.0.fullUrl"] == nil)
        #expect(bundle["entry.2.resource.subject.reference"] == nil)
        #expect(bundle.text("entry.2.resource.subject.type") == "Patient")
        #expect(bundle.text("entry.2.resource.subject.identifier.value") == "7")
        #expect(bundle.text("entry.2.resource.device.identifier.value") == "hr-1")
        #expect(bundle.text("entry.1.request.ifNoneExist") == "identifier=urn:kymograph:device|hr-1")
    }

    @Test func conditionalCreateHasNoID() throws {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.write = .conditionalCreate
        let bundle = try bundle(of: pipeline)
        #expect(bundle["entry.2.resource.id"] == nil)
        #expect(bundle.text("entry.2.request.method") == "POST")
        #expect(bundle.text("entry.2.request.url") == "Observation")
        #expect(
            bundle.text("entry.2.request.ifNoneExist")
                == "identifier=urn:kymograph:observation|7.hr-1.heartRate.20240501100000Z.20240501100059Z")
    }

    @Test func ndjsonIsOneObservationPerLine() throws {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.format = .ndjson
        var writer = pipeline.writer()
        for minute in 0..<2 {
            let window = heartRate(minute: minute)
            _ = window.withContent { writer.add($0) }
        }
        let lines = writer.finish().string.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3 && lines[2].isEmpty)
        #expect(try TextJSON.parse(String(lines[1])).text("resourceType") == "Observation")
        #expect(try TextJSON.parse(String(lines[1])).text("subject.identifier.value") == "7")
    }

    @Test func refusesAnIdentityTwice() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var writer = pipeline.writer()
        let window = heartRate(minute: 0)
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        #expect(window.withContent { writer.add($0) } == .full)
        #expect(writer.contentCount == 1)
        writer.reset()
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
    }

    @Test func closesAtTheEntryLimit() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var writer = pipeline.writer(maxEntries: 4)
        var added = 0
        for minute in 0..<5 {
            let window = heartRate(minute: minute)
            let outcome = window.withContent { writer.add($0) }
            guard outcome == .full else {
                added += 1
                continue
            }
        }
        #expect(added == 2)
        #expect(writer.entryCount == 4)
        #expect(try TextJSON.parse(writer.finish().string)["entry"]?.elements?.count == 4)
    }

    @Test func closesAtTheByteLimitButTakesOne() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var writer = pipeline.writer(maxBytes: 10)
        let first = heartRate(minute: 0)
        let next = heartRate(minute: 1, device: "hr-2")
        #expect(first.withContent { writer.add($0) } == .added(condensedValues: 0))
        #expect(next.withContent { writer.add($0) } == .full)
        #expect(try TextJSON.parse(writer.finish().string)["entry"]?.elements?.count == 3)
        writer.reset()
        #expect(next.withContent { writer.add($0) } == .added(condensedValues: 0))
    }

    @Test func emptyBundleIsNoBytes() throws {
        var writer = try TestPipeline(TestTemplates.heartRate).writer()
        #expect(writer.finish().array.isEmpty)
    }

    @Test(arguments: [
        ("a b+c&d%e#f?g", "identifier=urn:kymograph:patient|a%20b%2Bc%26d%25e%23f%3Fg"),
        ("é\"", "identifier=urn:kymograph:patient|%C3%A9%22"),
        ("a,b", "identifier=urn:kymograph:patient%7Ca%5C%2Cb"),
        ("a|b$c\\d", "identifier=urn:kymograph:patient%7Ca%5C%7Cb%5C%24c%5C%5Cd"),
    ])
    func encodesSearches(patient: String, search: String) throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var writer = pipeline.writer()
        let window = heartRate(minute: 0, patient: patient)
        _ = window.withContent { writer.add($0) }
        let bundle = try TextJSON.parse(writer.finish().string)
        #expect(bundle.text("entry.0.request.ifNoneExist") == search)
        #expect(bundle.text("entry.0.resource.identifier.0.value") == patient)
    }

    private func bundle(of pipeline: TestPipeline) throws -> JSONNode {
        var writer = pipeline.writer()
        let window = heartRate(minute: 0)
        _ = window.withContent { writer.add($0) }
        return try TextJSON.parse(writer.finish().string)
    }

    private func heartRate(minute: Int, device: String = "hr-1", patient: String = "7") -> TestWindow {
        var window = TestWindow(
            device: device, patient: patient, start: TestWindow.tenOClock + Int64(minute) * 60 * second)
        window.add(0, [0: "60"])
        window.add(second, [0: "61"])
        return window
    }
}
