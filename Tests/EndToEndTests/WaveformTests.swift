import CommandSupport
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// An electrocardiogram goes through the binary, and every sample comes back.
@Suite(.serialized) struct WaveformTests {
    private static let seconds = 20
    private static let rate = 500

    /// A second of two leads in µV, in the form of the catalogue's `ecg-waveform`.
    private func message(_ second: Int, _ leads: [[Int]]) -> String {
        let arrays = leads.map { "[\($0.map(String.init).joined(separator: ","))]" }
        let time = "2026-03-01T08:00:\(second < 10 ? "0" : "")\(second)Z"
        return """
            {"deviceId":"ecg-1","patientId":"7","timestamp":"\(time)","sampleRate":\(Self.rate),\
            "leads":{"I":\(arrays[0]),"V5":\(arrays[1])}}
            """
    }

    private func signals(seed: UInt64) -> [[[Int]]] {
        var random = SeededGenerator(seed: Trials.seed(seed))
        return (0..<Self.seconds).map { _ in
            (0..<2).map { _ in
                var level = 0
                return (0..<Self.rate).map { _ in
                    level += Int.random(in: -90...90, using: &random)
                    return level
                }
            }
        }
    }

    @Test func everySampleComesBack() throws {
        let signals = signals(seed: 5)
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", "ecg-waveform"], environment: ["KYMO_OUTPUT_FORMAT": "ndjson"],
            input: .bytes(Readings.ndjson(signals.enumerated().map { message($0.offset, $0.element) })))
        #expect(done.end == .exit(0) && done.error.contains("accepted \(Self.seconds) "), "\(done.error)")
        let observations = try done.output.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
            .filter { $0["resourceType"]?.text == "Observation" }
        #expect(observations.count == Self.seconds)
        for observation in observations {
            let series = try SeriesDecoder.series(of: observation)
            #expect(series.map(\.codes) == ["131329", "131335"].map { ["urn:iso:std:iso:11073:10101|\($0)"] })
            let start = try #require(series.first?.samples.first?.instant.nanoseconds)
            let second = Int(start / 1_000_000_000 % 60)
            for (lead, found) in series.enumerated() {
                #expect(found.values.map { Int($0.number.mantissa) } == signals[second][lead])
                let steps = found.samples.enumerated().map {
                    $0.element.instant.nanoseconds - start - Int64($0.offset) * 2_000_000
                }
                #expect(steps.allSatisfy { $0 == 0 })
            }
        }
    }

    /// A whole electrocardiogram is one message and one Observation, also when it comes twice and is stored.
    @Test(arguments: [500, 1_000]) func twelveLeadsOfTenSecondsAreOneObservation(rate: Int) throws {
        let names = ["I", "II", "III", "aVR", "aVL", "aVF", "V1", "V2", "V3", "V4", "V5", "V6"]
        var random = SeededGenerator(seed: Trials.seed(UInt64(rate)))
        let leads = names.map { _ in (0..<rate * 10).map { _ in Int.random(in: -1_900...1_900, using: &random) } }
        let arrays = zip(names, leads).map { "\"\($0)\":[\($1.map(String.init).joined(separator: ","))]" }
        let message = """
            {"deviceId":"ecg-1","patientId":"7","timestamp":"2026-03-01T08:00:00Z","sampleRate":\(rate),\
            "leads":{\(arrays.joined(separator: ","))}}
            """
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", "ecg-waveform", "--data", folder.file("store")],
            environment: ["KYMO_OUTPUT_FORMAT": "ndjson"], input: .bytes(Readings.ndjson([message, message])))
        #expect(done.end == .exit(0) && done.error.contains("accepted 1 "), "\(done.error)")
        let observations = try done.output.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
            .filter { $0["resourceType"]?.text == "Observation" }
        #expect(observations.count == 1)
        let series = try SeriesDecoder.series(of: #require(observations.first))
        #expect(series.map { $0.values.map { Int($0.number.mantissa) } } == leads)
    }

    /// With a window of its own mapping, the seconds are joined into one Observation.
    @Test func readingsThatAbutAreOneSeries() throws {
        let signals = signals(seed: 6)
        let folder = TemporaryFolder()
        let done = try Kymo.run(["mappings", "--export", "ecg-waveform", folder.file("ecg")])
        #expect(done.end == .exit(0), "\(done.error)")
        let file = folder.file("ecg/fhir.json")
        Files.write(Array(Files.text(file).replacing("\"instance\"", with: "\"1m\"").utf8), to: file)
        let lines = signals.enumerated().map { message($0.offset, $0.element) }
        var generator = SeededGenerator(seed: 7)
        // Twice and in any order.
        let run = try Kymo.run(
            ["run", "--stdin", "--mapping", folder.file("ecg")], environment: ["KYMO_OUTPUT_FORMAT": "ndjson"],
            input: .bytes(Readings.ndjson((lines + lines).shuffled(using: &generator))))
        #expect(run.end == .exit(0) && run.error.contains("duplicate \(Self.seconds) "), "\(run.error)")
        let observation = try #require(
            try run.output.split(separator: 0x0A).map { try JSONTree(parsing: Array($0)) }
                .filter { $0["resourceType"]?.text == "Observation" }.last)
        let series = try SeriesDecoder.series(of: observation)
        for lead in 0..<2 {
            #expect(series[lead].samples.count == Self.seconds * Self.rate)
            #expect(series[lead].values.map { Int($0.number.mantissa) } == signals.flatMap { $0[lead] })
        }
    }

    @Test(
        .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"),
        arguments: FHIRVersion.allCases)
    func everyVersionIsValid(version: FHIRVersion) throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--mapping", "ecg-waveform", "--fhir-version", version.rawValue],
            input: .bytes(Readings.ndjson(signals(seed: 8).enumerated().map { message($0.offset, $0.element) })))
        #expect(done.end == .exit(0) && !done.output.isEmpty, "\(done.error)")
        Files.write(done.output, to: folder.file("ecg.ndjson"))
        let findings = try Validator.findings(in: [folder.file("ecg.ndjson")], version: version.rawValue)
        #expect(findings.isEmpty, "\(findings.prefix(20))")
    }
}
