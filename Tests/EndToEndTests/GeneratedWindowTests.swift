import CommandSupport
import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// 20,000 windows that a seed draws are FHIR, says somebody else, and a strict server holds each once.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct GeneratedWindowTests {
    private static let windows = 20_000

    /// The mappings whose types all become Observations: a code that is drawn by chance is no status of a resource.
    static let names = MappingCatalogue.names.filter { name in
        !Files.text("\(SharedMaterial.package)/mappings/\(name)/fhir.json").contains("ResourceFhir")
    }

    @Test(arguments: FHIRVersion.allCases) func areValid(version: FHIRVersion) throws {
        let folder = TemporaryFolder()
        let names = GeneratedWindowTests.names
        let each = GeneratedWindowTests.windows / FHIRVersion.allCases.count / names.count + 1
        var files: [String] = []
        var written = 0
        for (index, name) in names.enumerated() {
            var options = ObservationOptions()
            options.version = version
            options.bundleType = ObservationOptions.BundleType.allCases[index % 3]
            options.write = ObservationOptions.Write.allCases[index / 3 % 3]
            var windows = try GeneratedWindows(mapping: name, version: version, seed: UInt64(index))
            let bundles = windows.bundles(each, options: options)
            written += windows.written
            files.append(folder.file("\(name).ndjson"))
            Files.write(Array(bundles.joined()), to: folder.file("\(name).ndjson"))
        }
        #expect(written * FHIRVersion.allCases.count >= GeneratedWindowTests.windows)
        // Units of UCUM that the validator's list lacks.
        let lacking = [
            "'dB[SPL]'", "'{steps}/{session}'", "'L/min'", "'mL/(kg.min)'", "'uS'", "'{flights}'", "'{pushes}'",
            "'{strokes}'", "'{falls}'", "'{beverages}'",
        ]
        let findings = try Validator.findings(in: files, version: version.rawValue).filter { finding in
            !(finding.contains("ucum-unknown") && lacking.contains(where: finding.contains))
        }
        #expect(findings.isEmpty, "\(findings.count): \(findings.prefix(20))")
    }

    @Test(arguments: [("R4", FHIRVersion.r4), ("R5", .r5), ("STU3", .stu3)])
    func aStrictServerTakesThemThreeTimes(name: String, version: FHIRVersion) async throws {
        let server = try FHIRServer(version: name)
        try await server.waitUntilReady()
        for write in ObservationOptions.Write.allCases {
            try await server.reset()
            var options = ObservationOptions()
            options.version = version
            options.write = write
            var bundles: [[UInt8]] = []
            var written = 0
            for (index, mapping) in GeneratedWindowTests.names.enumerated() {
                var windows = try GeneratedWindows(mapping: mapping, version: version, seed: UInt64(100 + index))
                bundles += windows.bundles(60, options: options)
                written += windows.observations
            }
            try await server.postThreeTimes(bundles, "\(name) \(write)")
            let stats = try await server.stats()
            #expect(stats["resources"]?["Observation"] == .number("\(written)"), "\(stats)")
            #expect(
                stats["identifier_dups"] == .number("0") && stats["observation_key_dups"] == .number("0"), "\(stats)")
        }
    }
}
