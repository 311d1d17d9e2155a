import KymographCore
import KymographTemplates
import Testing

/// A window of glucose readings as the Observations of a summary.
@Suite struct GlucoseSummaryTests {
    private static let panel = "107931-8"

    private func observations(_ values: [String], version: FHIRVersion = .r4) throws -> [String: JSONNode] {
        try GlucoseTrial("mg/dL", version: version).observations(GlucoseTrial.window(values))
    }

    /// Codes, units with the texts that the profiles fix, and who, when and by what.
    @Test func membersHaveTheirProfiles() throws {
        let found = try observations(["50", "60", "100", "200", "300"])
        #expect(found.count == 7)
        let units = [
            "97507-8": ("mg/dl", "mg/dL"), "97506-0": ("%", "%"), "104638-2": ("%", "%"), "104636-6": ("days", "d"),
            "104637-4": ("%", "%"),
        ]
        for (code, unit) in units {
            let quantity = found[code]?["valueQuantity"]
            #expect(quantity?.text("unit") == unit.0 && quantity?.text("code") == unit.1)
            #expect(quantity?.text("system") == "http://unitsofmeasure.org")
        }
        let ranges = try #require(found["106793-3"]?["component"]?.elements)
        #expect(
            ranges.map { $0.text("code.coding.0.code") } == ["104642-4", "104641-6", "97510-2", "104640-8", "104639-0"])
        #expect(ranges.allSatisfy { $0.text("valueQuantity.unit") == "%" && $0.text("valueQuantity.code") == "%" })
        #expect(found["106793-3"]?["valueQuantity"] == nil && found[Self.panel]?["valueQuantity"] == nil)
        for node in found.values {
            #expect(node.text("code.coding.0.system") == "http://loinc.org" && node.text("status") == "final")
            #expect(node.text("effectivePeriod.start") == "2024-05-01T10:00:00Z")
            #expect(node.text("effectivePeriod.end") == "2024-05-01T10:59:59.999Z")
            #expect(node.text("category.0.text") == "cgm" && node.text("encounter.identifier.value") == "e")
            #expect(node.text("subject.identifier.value") == "7" && node.text("device.identifier.value") == "hr-1")
        }
        let molar = try GlucoseTrial("mmol/L").observations(GlucoseTrial.window(["5.5"]))
        #expect(molar["105273-7"]?.text("valueQuantity.unit") == "mmol/l")
        #expect(molar["105273-7"]?.text("valueQuantity.code") == "mmol/L")
    }

    @Test func thePanelRefersToItsMembers() throws {
        let found = try observations(["100", "120"])
        let panel = try #require(found[Self.panel])
        let members = try #require(panel["hasMember"]?.elements)
        let identifiers = found.filter { $0.key != Self.panel }.compactMap { $0.value.text("identifier.0.value") }
        #expect(members.count == 6 && members.allSatisfy { $0.text("type") == "Observation" })
        #expect(Set(members.compactMap { $0.text("identifier.value") }) == Set(identifiers))
        #expect(Set(found.values.compactMap { $0.text("id") }).count == 7)
        #expect(panel.text("identifier.0.value") == "7.hr-1.summary.20240501100000Z.20240501105959Z.e")
        #expect(identifiers.contains("7.hr-1.summary.gmi.20240501100000Z.20240501105959Z.e"))
    }

    @Test func otherVersions() throws {
        let stu3 = try observations(["100"], version: .stu3)
        #expect(stu3[Self.panel]?["hasMember"] == nil && stu3["97506-0"]?["context"] != nil)
        #expect(stu3[Self.panel]?["related"]?.elements?.count == 6)
        #expect(stu3[Self.panel]?.text("related.0.type") == "has-member")
        #expect(stu3[Self.panel]?.text("related.0.target.identifier.value")?.contains(".mean.") == true)
        #expect(
            stu3["104638-2"]?.text("dataAbsentReason.coding.0.system") == "http://hl7.org/fhir/data-absent-reason")
        #expect(try observations(["100"], version: .r5)[Self.panel]?["hasMember"]?.elements?.count == 6)
    }

    /// What was summed up before is replaced, member by member.
    @Test func amendmentsKeepTheirIdentities() throws {
        var window = GlucoseTrial.window(["100", "120"])
        let before = try GlucoseTrial("mg/dL").observations(window)
        window.add(40 * GlucoseTrial.minute, [0: "200"])
        window.status = .amended
        let after = try GlucoseTrial("mg/dL").observations(window)
        #expect(before.keys == after.keys)
        for (code, node) in after {
            #expect(node.text("status") == "amended" && node.text("id") == before[code]?.text("id"))
            #expect(node.text("identifier.0.value") == before[code]?.text("identifier.0.value"))
        }
        #expect(GlucoseTrial.number(after["97507-8"]) == "140.0")
        #expect(GlucoseTrial.number(before["97507-8"]) == "110.0")
    }

    // MARK: Bundles

    /// All of a summary is in one bundle, however small that is to be, and what the panel refers to is in it.
    @Test(arguments: ObservationOptions.Write.allCases, [1, 9, 12, 15])
    func summariesStayTogether(write: ObservationOptions.Write, maxEntries: Int) throws {
        var pipeline = try GlucoseTrial("mg/dL").pipeline
        pipeline.options.write = write
        var writer = pipeline.writer(maxEntries: maxEntries)
        let window = GlucoseTrial.window(["100", "120"])
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        #expect(window.withContent { writer.add($0) } == .full)
        let next = GlucoseTrial.window(["90"], hour: 1)
        #expect(next.withContent { writer.add($0) } == .full)
        let entries = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
        #expect(entries.count == 9 && writer.entryCount == 9 && writer.contentCount == 7)
        try expectMembers(of: entries)
        #expect(Set(entries.compactMap { $0["request"]?.canonical }).count == 9)
        for entry in entries.dropFirst(2) where write == .putByID {
            #expect(entry.text("request.url") == "Observation/\(entry.text("resource.id") ?? "")")
            #expect(entry["fullUrl"] == nil)
        }
        writer.reset()
        #expect(next.withContent { writer.add($0) } == .added(condensedValues: 0))
    }

    /// Checks that the panel, the last of `entries`, refers to six others of them.
    private func expectMembers(of entries: [JSONNode]) throws {
        let panel = try #require(entries.last)
        #expect(panel.text("resource.code.coding.0.code") == Self.panel)
        var names: [String: String] = [:]
        for entry in entries.dropLast() {
            let code = entry.text("resource.code.coding.0.code") ?? ""
            if let url = entry.text("fullUrl") { names[url] = code }
            if let id = entry.text("resource.id") { names["Observation/\(id)"] = code }
        }
        let members = try #require(panel["resource.hasMember"]?.elements).compactMap { $0.text("reference") }
        let codes = ["97507-8", "106793-3", "97506-0", "104638-2", "104636-6", "104637-4"]
        #expect(members.compactMap { names[$0] } == codes, "\(members) of \(names)")
    }

    @Test func twoSummariesInOneBundle() throws {
        var writer = try GlucoseTrial("mg/dL").pipeline.writer(maxEntries: 16)
        for hour in 0..<2 {
            let window = GlucoseTrial.window(["100", "120"], hour: Int64(hour))
            #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        }
        let entries = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
        #expect(entries.count == 16 && Set(entries.compactMap { $0.text("resource.id") }).count == 14)
        try expectMembers(of: Array(entries[..<9]))
        try expectMembers(of: Array(entries[9...]))
    }

    @Test func collectionsAndBatches() throws {
        var pipeline = try GlucoseTrial("mg/dL").pipeline
        pipeline.options.bundleType = .collection
        var writer = pipeline.writer()
        let window = GlucoseTrial.window(["100", "120"])
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        let collection = try #require(try TextJSON.parse(writer.finish().string)["entry"]?.elements)
        #expect(Set(collection.compactMap { $0.text("fullUrl") }).count == 9)
        try expectMembers(of: collection)
        pipeline.options.bundleType = .batch
        var batches = pipeline.writer()
        #expect(window.withContent { batches.add($0) } == .added(condensedValues: 0))
        let batch = try #require(try TextJSON.parse(batches.finish().string)["entry"]?.elements)
        let members = try #require(batch.last?["resource.hasMember"]?.elements)
        // Entries of a batch may not refer to each other.
        #expect(members.count == 6 && members.allSatisfy { $0["reference"] == nil && $0["identifier"] != nil })
    }

    @Test func linesAreCounted() throws {
        var pipeline = try GlucoseTrial("mg/dL").pipeline
        pipeline.options.format = .ndjson
        var writer = pipeline.writer(maxEntries: 8)
        let window = GlucoseTrial.window(["100"])
        #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
        let next = GlucoseTrial.window(["90"], hour: 1)
        #expect(next.withContent { writer.add($0) } == .full)
        #expect(writer.finish().string.split(separator: "\n").count == 7 && writer.contentCount == 7)
    }
}

extension JSONNode {
    /// The node as text, to compare two.
    fileprivate var canonical: String {
        switch value {
        case .object(let members): "{\(members.map { "\($0.name):\($0.node.canonical)" }.joined(separator: ","))}"
        case .array(let elements): "[\(elements.map(\.canonical).joined(separator: ","))]"
        case .string(let text), .number(let text): text
        case .bool(let flag): "\(flag)"
        case .null: "null"
        }
    }
}
