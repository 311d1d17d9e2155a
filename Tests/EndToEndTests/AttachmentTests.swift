import CommandSupport
import Foundation
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Samples beside their Observation (`output.attachOver`), through the binary.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct AttachmentTests {
    private static let rate = 250

    /// A second of two leads in µV, in the form of the catalogue's `ecg-waveform`.
    private func message(_ second: Int, _ leads: [[Int]]) -> String {
        let arrays = leads.map { "[\($0.map(String.init).joined(separator: ","))]" }
        return """
            {"deviceId":"ecg-1","patientId":"7","timestamp":"2026-03-01T08:00:0\(second)Z","sampleRate":\(Self.rate),\
            "leads":{"I":\(arrays[0]),"V5":\(arrays[1])}}
            """
    }

    private func signals(_ seconds: Int) -> [[[Int]]] {
        var random = SeededGenerator(seed: Trials.seed(31))
        return (0..<seconds).map { _ in
            (0..<2).map { _ in (0..<Self.rate).map { _ in Int.random(in: -900...900, using: &random) } }
        }
    }

    private static func samples(_ data: Data) -> [Int] {
        String(decoding: data, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    }

    /// Whatever the series takes for its origin.
    private static func fromLowest(_ samples: [Int]) -> [Int] { samples.map { $0 - (samples.min() ?? 0) } }

    private func run(
        _ lines: [String], _ environment: [String: String] = [:], _ arguments: [String] = [],
        mapping: String = "ecg-waveform"
    ) throws -> Kymo.Finished {
        try Kymo.run(
            ["run", "--stdin", "--mapping", mapping] + arguments,
            environment: ["KYMO_OUTPUT_ATTACH_OVER": "500"].merging(environment) { $1 },
            input: .bytes(Readings.ndjson(lines)))
    }

    /// Every sample is in a document that its Observation names.
    @Test func everySampleComesBack() throws {
        let signals = signals(5)
        let done = try run(
            signals.enumerated().map { message($0.offset, $0.element) }, ["KYMO_OUTPUT_FORMAT": "ndjson"])
        #expect(done.end == .exit(0) && done.error.contains("accepted 5 "), "\(done.error)")
        let all = try done.output.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
        let observations = all.filter { $0["resourceType"]?.text == "Observation" }
        var documents: [String: JSONTree] = [:]
        for document in all where document["resourceType"]?.text == "DocumentReference" {
            documents[document["identifier"]?.elements?.first?["value"]?.text ?? ""] = document
        }
        #expect(observations.count == 5 && documents.count == 10)
        for observation in observations {
            let start = observation["effectivePeriod"]?["start"]?.text ?? ""
            let second = try #require(Int(start.dropFirst(17).prefix(2)))
            let named = observation["derivedFrom"]?.elements ?? []
            let series = (observation["component"]?.elements ?? []).compactMap { $0["valueSampledData"] }
            #expect(series.count == named.count)
            let found = try zip(named, series).map { reference, series in
                guard case .number(let text)? = series["origin"]?["value"] else { return [Int]() }
                let origin = try #require(Int(text))
                #expect(series["factor"] == nil && series["data"] == nil)
                let value = try #require(reference["identifier"]?["value"]?.text)
                let attachment = documents[value]?["content"]?.elements?.first?["attachment"]
                let data = try #require(Data(base64Encoded: attachment?["data"]?.text ?? ""))
                #expect(attachment?["size"] == .number("\(data.count)"))
                return Self.samples(data).map { $0 + origin }
            }
            #expect(found == signals[second])
        }
    }

    /// What comes out is FHIR, says somebody else; `data` is 0..1 in the profile of SampledData, of whose absence the
    /// validator warns.
    @Test(arguments: ["R4", "R4B", "R5"], ["transaction", "batch", "collection"])
    func isValid(version: String, bundle: String) throws {
        let folder = TemporaryFolder()
        let done = try run(
            signals(3).enumerated().map { message($0.offset, $0.element) }, ["KYMO_OUTPUT_BUNDLE": bundle],
            ["--fhir-version", version])
        #expect(done.end == .exit(0) && done.text.contains("DocumentReference"), "\(done.error)")
        Files.write(done.output, to: folder.file("ecg.ndjson"))
        let findings = try Validator.findings(
            in: [folder.file("ecg.ndjson")], version: version, passing: ["sd-nodata"])
        #expect(findings.isEmpty, "\(findings.prefix(20))")
    }

    /// A strict server takes all bundles three times and in any order, and has each document once.
    @Test func aStrictServerTakesThem() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let lines = signals(4).enumerated().map { message($0.offset, $0.element) }
        for bundle in ["transaction", "batch"] {
            for write in ["put", "conditional-create", "conditional-update"] {
                try await server.reset()
                let done = try run(lines, ["KYMO_OUTPUT_BUNDLE": bundle, "KYMO_OUTPUT_WRITE": write])
                let form = "\(bundle) \(write)"
                try await server.postThreeTimes(done.output.split(separator: 0x0A).map(Array.init), form)
                let stats = try await server.stats()
                #expect(stats["identifier_dups"] == .number("0"), "\(form): \(stats)")
                #expect(stats["resources"]?["Observation"] == .number("4"), "\(form): \(stats)")
                #expect(stats["resources"]?["DocumentReference"] == .number("8"), "\(form): \(stats)")
            }
        }
    }

    /// By way of the outbox, with a run that brings more of a window: the document is replaced, and none is left over.
    @Test func replacedOnTheServer() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let exported = try Kymo.run(["mappings", "--export", "ecg-waveform", folder.file("ecg")])
        #expect(exported.end == .exit(0), "\(exported.error)")
        let file = folder.file("ecg/fhir.json")
        Files.write(Array(Files.text(file).replacing("\"instance\"", with: "\"1m\"").utf8), to: file)
        let signals = signals(3)
        let lines = signals.enumerated().map { message($0.offset, $0.element) }
        let arguments = ["--data", folder.file("data"), "--out", "none", "--server", server.base]
        for part in [Array(lines[..<2]), Array(lines[2...])] {
            let done = try run(
                part, ["KYMO_SERVER_IDENTITY": "create"], arguments, mapping: folder.file("ecg"))
            #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        }
        let stats = try await server.stats()
        #expect(stats["resources"]?["Observation"] == .number("1"), "\(stats)")
        // The later version says of the ten leads without samples that they have none.
        #expect(stats["resources"]?["DocumentReference"] == .number("12"), "\(stats)")
        let (body, _) = try await server.get("/DocumentReference?_count=50")
        let all = try JSONTree(parsing: Array(body))["entry"]?.elements?.compactMap { $0["resource"] } ?? []
        let documents = all.filter { $0["status"]?.text == "current" }
        let samples = documents.map { document in
            let data = document["content"]?.elements?.first?["attachment"]?["data"]?.text ?? ""
            return Self.fromLowest(Self.samples(Data(base64Encoded: data) ?? Data()))
        }
        #expect(Set(samples) == Set((0..<2).map { lead in Self.fromLowest(signals.flatMap { $0[lead] }) }))
        // What the archive shows is whole.
        let query = try Kymo.run(["query", "--data", folder.file("data"), "--mapping", folder.file("ecg")])
        #expect(!query.text.contains("derivedFrom") && query.text.contains("\"data\":\""), "\(query.error)")
    }
}
