import COpenSSL
import Foundation
import KymographCore
import KymographTemplates
import Testing

/// Samples that leave their Observation (`output.attachOver`).
@Suite struct AttachmentTests {
    private static let leads = """
        {"typeName":"ecg","period":"instance",
         "codes":[{"system":"urn:iso:std:iso:11073:10101","code":"131328"}],
         "components":[
          {"codes":[{"system":"urn:iso:std:iso:11073:10101","code":"131329"}],
           "value":{"valueType":"SampledData","valueName":"I","dimensions":1,"defaultPeriod":2,"unit":"uV",
                    "code":"uV"}},
          {"codes":[{"system":"urn:iso:std:iso:11073:10101","code":"131335"}],
           "value":{"valueType":"SampledData","valueName":"V5","dimensions":1,"defaultPeriod":2,"unit":"uV",
                    "code":"uV"}}]}
        """

    private func pipeline(over limit: Int, _ template: String = leads) throws -> TestPipeline {
        var pipeline = try TestPipeline(template)
        pipeline.options.attachOver = limit
        pipeline.options.sha1 = testSHA1
        return pipeline
    }

    private func window(_ samples: [Int], _ others: [Int], status: ObservationStatus = .final) -> TestWindow {
        var window = TestWindow(seconds: 0)
        window.status = status
        window.add(0, arrays: [0: samples.map(String.init), 1: others.map(String.init)])
        return window
    }

    /// The resources of one bundle, or of its lines.
    private func resources(
        _ pipeline: TestPipeline, _ window: borrowing TestWindow
    ) throws -> (all: [JSONNode], text: String) {
        var trial = pipeline.writer()
        let outcome = window.withContent { trial.add($0) }
        #expect(outcome == .added(condensedValues: 0))
        let text = trial.finish().string
        if pipeline.options.format == .ndjson {
            return (try text.split(separator: "\n").map { try TextJSON.parse(String($0)) }, text)
        }
        return (try TextJSON.parse(text)["entry"]?.elements?.compactMap { $0["resource"] } ?? [], text)
    }

    private func only(_ type: String, _ all: [JSONNode]) -> [JSONNode] {
        all.filter { $0.text("resourceType") == type }
    }

    private let long = (0..<400).map { $0 * 37 % 1_000 }
    private let short = [1, 2, 3]

    /// Without the setting, and with one that nothing reaches, every byte is as it was.
    @Test func nothingChangesBelow() throws {
        let usual = try resources(pipeline(over: 0), window(long, short)).text
        #expect(try resources(pipeline(over: 1 << 20), window(long, short)).text == usual)
        #expect(!usual.contains("DocumentReference") && !usual.contains("derivedFrom"))
        let bytes = long.map(String.init).joined(separator: " ").utf8.count
        #expect(try resources(pipeline(over: bytes), window(long, short)).text == usual)
        #expect(try resources(pipeline(over: bytes - 1), window(long, short)).text.contains("DocumentReference"))
    }

    /// The samples of the long lead are in the document, those of the other in the Observation.
    @Test func longSamplesLeave() throws {
        let (all, _) = try resources(pipeline(over: 100), window(long, short))
        let observation = try #require(only("Observation", all).first)
        let document = try #require(only("DocumentReference", all).first)
        #expect(all.count == 4 && only("DocumentReference", all).count == 1)
        #expect(observation["component.0.valueSampledData.data"] == nil)
        #expect(observation["component.0.valueSampledData.period"]?.numberText == "2")
        #expect(observation["component.0.valueSampledData.dimensions"]?.numberText == "1")
        #expect(observation.text("component.1.valueSampledData.data") == "1 2 3")
        #expect(observation.text("derivedFrom.0.type") == "DocumentReference")
        #expect(observation["derivedFrom.0.identifier"]?.jsonText == document["identifier.0"]?.jsonText)
        #expect(observation["derivedFrom"]?.elements?.count == 1)
        // Its identity is the Observation's, in another system.
        #expect(document.text("identifier.0.value") == observation.text("identifier.0.value"))
        #expect(document.text("identifier.0.system") == "urn:kymograph:resource")
        #expect(document.text("id") == hexDigest("urn:kymograph:resource_\(document.text("identifier.0.value") ?? "")"))
        #expect(document.text("status") == "current" && document.text("type.coding.0.code") == "131329")
        #expect(document["subject"]?.jsonText == observation["subject"]?.jsonText)
        #expect(document["author.0"]?.jsonText == observation["device"]?.jsonText)
        try check(document, long)
    }

    private func check(_ document: JSONNode, _ samples: [Int]) throws {
        let text = samples.map(String.init).joined(separator: " ")
        let attachment = try #require(document["content.0.attachment"])
        #expect(attachment.text("contentType") == "text/plain")
        #expect(attachment.text("data") == Data(text.utf8).base64EncodedString())
        #expect(attachment["size"]?.numberText ?? attachment.text("size") == "\(text.utf8.count)")
        #expect(attachment.text("hash") == Data(sha1(text)).base64EncodedString())
        let hex = hexDigest(text)
        let digest = Data(stride(from: 0, to: 64, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) })
        let name = digest.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
        #expect(document.text("identifier.1.system") == "urn:ietf:rfc:3986")
        #expect(document.text("identifier.1.value") == "ni:///sha-256;\(name)")
    }

    /// Each long series has a document of its own; the second is called by its number.
    @Test func eachSeriesHasItsOwn() throws {
        let other = long.map { $0 + 1 }
        let (all, _) = try resources(pipeline(over: 10), window(long, other))
        let documents = only("DocumentReference", all)
        let observation = try #require(only("Observation", all).first)
        try #require(documents.count == 2)
        #expect(documents.map { $0.text("type.coding.0.code") } == ["131329", "131335"])
        #expect(Set(documents.map { $0.text("id") }).count == 2)
        #expect(documents[1].text("identifier.0.value")?.contains(".ecg.2.") ?? false)
        let named = observation["derivedFrom"]?.elements?.map { $0["identifier"]?.jsonText ?? "" }
        #expect(named == documents.map { $0["identifier.0"]?.jsonText ?? "" })
        try check(documents[0], long)
        try check(documents[1], other)
    }

    /// The size of R5 is a number of 64 bits, which JSON has as text.
    @Test func theSizeOfR5() throws {
        var pipeline = try pipeline(over: 10)
        pipeline.options.version = .r5
        let document = try #require(only("DocumentReference", try resources(pipeline, window(long, short)).all).first)
        #expect(document["content.0.attachment.size"]?.string != nil)
        try check(document, long)
    }

    /// A version of a window whose samples are few has the document as an error, without samples; one that was an error
    /// itself, too. A first version has none.
    @Test func laterVersionsLeaveNoOrphan() throws {
        let pipeline = try pipeline(over: 100)
        let first = try #require(only("DocumentReference", try resources(pipeline, window(long, short)).all).first)
        #expect(only("DocumentReference", try resources(pipeline, window(short, short)).all).isEmpty)
        let amended = only("DocumentReference", try resources(pipeline, window(short, short, status: .amended)).all)
        #expect(amended.map { $0.text("status") } == ["entered-in-error", "entered-in-error"])
        #expect(amended.first?.text("id") == first.text("id"))
        #expect(amended.allSatisfy { $0["content.0.attachment.data"] == nil })
        #expect(amended.allSatisfy { $0.text("content.0.attachment.contentType") == "text/plain" })
        // What was preliminary before, or shown by an earlier run, is no amendment.
        var final = window(short, short)
        final.mayHaveBeenSeen = true
        let closed = only("DocumentReference", try resources(pipeline, final).all)
        #expect(closed.map { $0.text("status") } == ["entered-in-error", "entered-in-error"])
        let replaced = only("DocumentReference", try resources(pipeline, window(long, short, status: .amended)).all)
        #expect(replaced.map { $0.text("status") } == ["current", "entered-in-error"])
        let gone = only("DocumentReference", try resources(pipeline, window(long, short, status: .enteredInError)).all)
        #expect(gone.map { $0.text("status") }.contains("entered-in-error"))
    }

    /// Without samples that leave, but beside documents of earlier runs, every version is as without any, and the later
    /// ones take the documents back.
    @Test func documentsOfEarlierRunsAreTakenBack() throws {
        let former = try only("DocumentReference", resources(self.pipeline(over: 100), window(long, short)).all)
        let pipeline = try pipeline(over: ObservationOptions.noneLeaves)
        let usual = try resources(self.pipeline(over: 0), window(long, short)).text
        #expect(try resources(pipeline, window(long, short)).text == usual)
        for status in [ObservationStatus.amended, .enteredInError] {
            let usual = try resources(self.pipeline(over: 0), window(long, short, status: status)).all
            let found = try resources(pipeline, window(long, short, status: status)).all
            let documents = only("DocumentReference", found)
            #expect(documents.map { $0.text("status") } == ["entered-in-error", "entered-in-error"])
            #expect(documents.first?.text("id") == former.first?.text("id"))
            #expect(documents.allSatisfy { $0["content.0.attachment.data"] == nil })
            let texts = only("Observation", found).map(\.jsonText)
            #expect(texts == only("Observation", usual).map(\.jsonText))
        }
    }

    /// No server deletes what is kept, which is an error all the same.
    @Test(arguments: [ObservationStatus.amended, .enteredInError], [true, false])
    func whatIsKept(status: ObservationStatus, isKept: Bool) throws {
        var writer = EntryWriter(try pipeline(over: 100).encoder())
        let window = window(short, short, status: status)
        let outcome = window.withContent { writer.add($0, isKept: isKept) }
        guard case .added = outcome else {
            Issue.record("\(outcome)")
            return
        }
        let entries: [(type: String, isEmptied: Bool)] = writer.finish().array.withByteView { bytes in
            var index = EntryIndex()
            guard let block = index.read(bytes) else { return [] }
            return (0..<block.count).map { (block[$0].type.string, block[$0].isEmptied) }
        }
        let documents = entries.filter { $0.type == "DocumentReference" }.map(\.isEmptied)
        #expect(documents == [!isKept, !isKept])
        let observations = entries.filter { $0.type == "Observation" }.map(\.isEmptied)
        #expect(observations == [!isKept && status == .enteredInError])
    }

    /// Who may see an Observation by its tags may see its samples, and nobody else.
    @Test func tagsOfTheObservation() throws {
        var window = window(long, short)
        window.tag(["study|a", "consented"])
        let all = try resources(pipeline(over: 100), window).all
        let documents = only("DocumentReference", all)
        #expect(documents.map { $0.text("meta.tag.0.code") } == ["consented"])
        #expect(documents.map { $0.text("meta.tag.1.system") } == ["study"])
        #expect(only("Observation", all).map { $0.text("meta.tag.0.code") } == ["consented"])
    }

    /// What a program or a rule is asked about, and what is asked of the archive, is the whole Observation.
    @Test func aloneItIsWhole() throws {
        let observation = try pipeline(over: 10).observation(window(long, short))
        #expect(observation["derivedFrom"] == nil)
        let text = long.map(String.init).joined(separator: " ")
        #expect(observation.text("component.0.valueSampledData.data") == text)
    }

    /// A series with times of its own stays whole: the times are as long.
    @Test func irregularSeriesStay() throws {
        var window = TestWindow()
        for (index, milliseconds) in [0, 1_001, 17_003, 17_004, 59_990].enumerated() {
            window.add(Int64(milliseconds) * 1_000_000, [0: "\(60 + index)"])
        }
        let usual = try resources(pipeline(over: 0, TestTemplates.heartRate), window).text
        #expect(usual.contains("offsets"))
        #expect(try resources(pipeline(over: 1, TestTemplates.heartRate), window).text == usual)
    }

    /// By the rules of the reference, samples are merged with those of the server: they stay where they are.
    @Test func notByTheRulesOfTheReference() throws {
        var usual = try pipeline(over: 0, TestTemplates.sampled)
        var attaching = try pipeline(over: 1, TestTemplates.sampled)
        usual.types[0].compatibility = .iomtFHIR
        attaching.types[0].compatibility = .iomtFHIR
        var window = TestWindow(seconds: 3_600)
        for second in 0..<20 { window.add(Int64(second) * TestWindow.second, [0: "\(second)"]) }
        #expect(try resources(attaching, window).text == resources(usual, window).text)
    }

    /// What a bundle cannot hold moves with its document, and lines count both.
    @Test(arguments: [ObservationOptions.Format.bundle, .ndjson]) func movesAsAWhole(
        _ format: ObservationOptions.Format
    ) throws {
        var pipeline = try pipeline(over: 100)
        pipeline.options.format = format
        var trial = pipeline.writer(maxEntries: format == .bundle ? 5 : 3)
        var texts: [String] = []
        for number in 0..<4 {
            var window = window(long.map { $0 + number }, short)
            window.start += Int64(number) * 10 * TestWindow.second
            window.end = window.start
            while window.withContent({ trial.add($0) }) == .full {
                texts.append(trial.finish().string)
                trial.reset()
            }
        }
        texts.append(trial.finish().string)
        let counts = texts.map { text in
            (text.ranges(of: "\"Observation\"").count, text.ranges(of: "\"DocumentReference\",\"id\"").count)
        }
        #expect(counts.allSatisfy { $0.0 == 1 && $0.1 == 1 } && counts.count == 4, "\(counts)")
    }

    /// Base64 as Foundation writes it.
    @Test func base64() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 89 + count) }
            var writer = ByteWriter()
            bytes.withByteView { writer.appendBase64($0) }
            #expect(writer.view.string == Data(bytes).base64EncodedString())
            let plain = writer.view.string.replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
            writer.removeAll()
            bytes.withByteView { writer.appendBase64URL($0) }
            #expect(writer.view.string == plain)
        }
    }
}

/// SHA-1 of the system's crypto library.
private let testSHA1 = Digest160 { message, bytes in
    let digest = sha1(message.string)
    for index in 0..<20 { bytes[index] = digest[index] }
}

private func sha1(_ text: String) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    let bytes = Array(text.utf8)
    // Safe: it reads the message as long as it is, and writes 20 bytes.
    _ = unsafe SHA1(bytes, bytes.count, &digest)
    return digest
}
