import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Every type of bundle with every way of writing.
@Suite struct BundleFormTests {
    private func bundle(
        _ type: ObservationOptions.BundleType, _ write: ObservationOptions.Write, device: String = "hr-1",
        system: String = "urn:kymograph:observation"
    ) throws -> JSONNode {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.bundleType = type
        pipeline.options.write = write
        pipeline.options.observationSystem = system
        var writer = pipeline.writer()
        for minute in 0..<2 {
            let window = window(minute: minute, device: device)
            #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        }
        return try TextJSON.parse(writer.finish().string)
    }

    private func window(minute: Int, device: String = "hr-1", readings: Int = 2) -> TestWindow {
        var window = TestWindow(device: device, start: TestWindow.tenOClock + Int64(minute) * 60 * TestWindow.second)
        for index in 0..<readings { window.add(Int64(index) * TestWindow.second, [0: "\(60 + index)"]) }
        return window
    }

    @Test(arguments: ObservationOptions.Write.allCases) func collection(_ write: ObservationOptions.Write) throws {
        let bundle = try bundle(.collection, write)
        #expect(bundle.text("type") == "collection")
        let entries = try #require(bundle["entry"]?.elements)
        let urls = entries.compactMap { $0.text("fullUrl") }
        #expect(entries.count == 4 && Set(urls).count == 4)
        #expect(entries.allSatisfy { $0["request"] == nil && $0["resource"] != nil })
        for url in urls {
            #expect(url.wholeMatch(of: /urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil, "\(url)")
        }
        for entry in entries.dropFirst(2) {
            #expect(entry.text("resource.subject.reference") == urls[0])
            #expect(entry.text("resource.device.reference") == urls[1])
            #expect(entry.text("resource.id")?.count == 64)
        }
    }

    @Test(arguments: [ObservationOptions.BundleType.transaction, .batch])
    func conditionalUpdate(_ type: ObservationOptions.BundleType) throws {
        let bundle = try bundle(type, .conditionalUpdate)
        let identifier = try #require(bundle.text("entry.2.resource.identifier.0.value"))
        #expect(identifier == "7.hr-1.heartRate.20240501100000Z.20240501100059Z")
        #expect(bundle.text("entry.2.request.method") == "PUT")
        #expect(
            bundle.text("entry.2.request.url")
                == "Observation?identifier=urn:kymograph:observation%7C\(identifier)")
        #expect(bundle["entry.2.resource.id"] == nil && bundle["entry.2.request.ifNoneExist"] == nil)
    }

    @Test func putNeedsNoSearch() throws {
        let bundle = try bundle(.transaction, .putByID, device: "a b&c")
        let id = try #require(bundle.text("entry.2.resource.id"))
        #expect(bundle.text("entry.2.request.url") == "Observation/\(id)")
    }

    /// A character that means something in a URL or in a FHIR search never stands alone.
    @Test(arguments: [
        (" ", "%20"), ("+", "%2B"), ("&", "%26"), ("%", "%2525"), ("#", "%23"), (",", "%5C%2C"), ("$", "%5C%24"),
        ("|", "%5C%7C"), ("\\", "%5C%5C"), ("é", "%C3%A9"), ("日", "%E6%97%A5"), ("\"", "%22"), ("=", "%3D"),
        ("?", "%3F"), (";", "%3B"), (".", "%252E"), ("\u{1}", "%01"),
    ])
    func identifiersAreEncoded(character: String, encoded: String) throws {
        let value = "a\(encoded)b"
        let segment = "heartRate.20240501100000Z.20240501100059Z"
        for type in [ObservationOptions.BundleType.transaction, .batch] {
            let update = try bundle(type, .conditionalUpdate, device: "a\(character)b")
            #expect(
                update.text("entry.2.request.url")
                    == "Observation?identifier=urn:kymograph:observation%7C7.\(value).\(segment)")
            let create = try bundle(type, .conditionalCreate, device: "a\(character)b")
            let bar = encoded.hasPrefix("%5C") ? "%7C" : "|"
            #expect(
                create.text("entry.2.request.ifNoneExist")
                    == "identifier=urn:kymograph:observation\(bar)7.\(value).\(segment)")
            #expect(create.text("entry.1.resource.identifier.0.value") == "a\(character)b")
        }
    }

    @Test func systemsAreEncoded() throws {
        let create = try bundle(.transaction, .conditionalCreate, system: "https://a.example/x,y$z?q=1&r#f")
        let search = try #require(create.text("entry.2.request.ifNoneExist"))
        #expect(search.hasPrefix("identifier=https://a.example/x%5C%2Cy%5C%24z%3Fq%3D1%26r%23f%7C7.hr-1."))
        #expect(create.text("entry.2.resource.identifier.0.system") == "https://a.example/x,y$z?q=1&r#f")
    }

    /// Windows that come again, amended by late readings: a bundle never has two of one identity, no window is lost,
    /// and the last version of each comes last.
    @Test(arguments: Trials.seeds(6)) func noIdentityTwice(seed: UInt64) throws {
        for type in ObservationOptions.BundleType.allCases {
            for write in ObservationOptions.Write.allCases {
                try checkIdentities(type, write, seed)
            }
        }
    }

    private func checkIdentities(
        _ type: ObservationOptions.BundleType, _ write: ObservationOptions.Write, _ seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.bundleType = type
        pipeline.options.write = write
        var writer = pipeline.writer(maxEntries: 12, maxBytes: 20_000)
        var bundles: [String] = []
        var readings: [Int: Int] = [:]
        var expected: [String] = []
        for _ in 0..<150 {
            let minute = Int.random(in: 0..<12, using: &generator)
            readings[minute, default: 0] += Int.random(in: 1...3, using: &generator)
            var amended = window(
                minute: minute, device: "hr-\(minute % 3)", readings: readings[minute, default: 0])
            amended.status = readings[minute] == 1 ? .final : .amended
            expected.append("\(minute)=\(readings[minute, default: 0])")
            var outcome = amended.withContent { writer.add($0) }
            if outcome == .full {
                bundles.append(writer.finish().string)
                writer.reset()
                outcome = amended.withContent { writer.add($0) }
            }
            #expect(outcome == .added(condensedValues: 0))
        }
        bundles.append(writer.finish().string)
        var written: [String] = []
        for text in bundles {
            let entries = try TextJSON.parse(text)["entry"]?.elements ?? []
            #expect(entries.count <= 12 && text.utf8.count <= 20_000)
            let observations = entries.filter { $0.text("resource.resourceType") == "Observation" }
            let identities = observations.compactMap { $0.text("resource.identifier.0.value") }
            #expect(identities.count == observations.count && Set(identities).count == identities.count)
            let resources = entries.map {
                ($0.text("resource.identifier.0.system") ?? "")
                    + "|" + ($0.text("resource.identifier.0.value") ?? "")
            }
            #expect(Set(resources).count == resources.count)
            written += try observations.map(summary)
        }
        #expect(written == expected)
    }

    /// Minute and number of readings.
    private func summary(_ entry: JSONNode) throws -> String {
        let identity = try #require(entry.text("resource.identifier.0.value"))
        let start = try #require(identity.split(separator: ".").dropFirst(3).first)
        let minute = try #require(Int(start.dropFirst(10).prefix(2)))
        let series = entry.text("resource.component.3.valueSampledData.data")
        return "\(minute)=\(series?.split(separator: " ").count ?? 1)"
    }
}
