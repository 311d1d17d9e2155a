import CommandSupport
import Foundation
import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// The catalogue's `glucose-monitor`: readings and the summaries of 14 days, as validators and servers see them.
@Suite(
    .serialized,
    .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct GlucoseMonitorTests {
    private static let versions = FHIRVersion.allCases.map(\.rawValue)
    private static let panel = "107931-8"
    /// Readings of a sensor, six a day from 5 to 18 March 2026: a week in either of two windows.
    private static let count = 84
    /// Which of all readings is kept back: one of the first sensor, in its first window.
    private static let latePlace = 30

    private static func reading(_ index: Int, _ sensor: Int, generator: inout SeededGenerator) -> String {
        let (day, hour) = (5 + index / 6, index % 6 * 4)
        let time = "2026-03-\(day < 10 ? "0" : "")\(day)T\(hour < 10 ? "0" : "")\(hour):05:00Z"
        let tenths = Int.random(in: 22...222, using: &generator)
        let glucose =
            sensor == 1
            ? "{\"value\":\(tenths / 10).\(tenths % 10),\"unit\":\"mmol/L\"}"
            : "{\"value\":\(tenths * 18 / 10),\"unit\":\"mg/dL\"}"
        let patient = sensor == 2 ? "" : "\"patient\":\"p-\(sensor)\","
        return "{\"sensor\":\"CGM-\(sensor)\",\(patient)\"time\":\"\(time)\",\"glucose\":\(glucose)}"
    }

    /// Readings of three sensors, of whose wearers one is not known; of the first sensor one is kept back.
    private static func readings(seed: UInt64) -> (readings: [String], late: String) {
        var generator = SeededGenerator(seed: Trials.seed(seed))
        var lines = (0..<count).flatMap { index in
            (0..<3).map { reading(index, $0, generator: &generator) }
        }
        let late = lines.remove(at: latePlace)
        return (lines, late)
    }

    private func run(
        _ lines: [String], version: String, data: String? = nil, _ environment: [String: String] = [:]
    ) throws -> [UInt8] {
        let arguments = ["run", "--stdin", "--mapping", "glucose-monitor", "--fhir-version", version]
        let done = try Kymo.run(
            arguments + (data.map { ["--data", $0] } ?? []), environment: environment,
            input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0), "\(done.error)")
        return done.output
    }

    /// Every resource in `output`: bundles, or one a line.
    private func resources(_ output: [UInt8]) throws -> [JSONTree] {
        try output.split(separator: 0x0A).flatMap { line in
            let tree = try JSONTree(parsing: Array(line))
            return tree["entry"]?.elements?.compactMap { $0["resource"] } ?? [tree]
        }
    }

    private func code(_ resource: JSONTree) -> String {
        resource["code"]?["coding"]?.elements?.first?["code"]?.text ?? ""
    }

    private func identities(_ output: [UInt8]) throws -> Set<String> {
        Set(
            try resources(output).filter { $0["resourceType"]?.text == "Observation" }
                .compactMap { $0["identifier"]?.elements?.first?["value"]?.text })
    }

    @Test(arguments: versions) func everyFormIsValid(version: String) throws {
        let folder = TemporaryFolder()
        let forms: [(name: String, environment: [String: String])] = [
            ("put", [:]), ("create", ["KYMO_OUTPUT_WRITE": "conditional-create"]),
            ("update", ["KYMO_OUTPUT_WRITE": "conditional-update"]), ("batch", ["KYMO_OUTPUT_BUNDLE": "batch"]),
            ("collection", ["KYMO_OUTPUT_BUNDLE": "collection"]), ("lines", ["KYMO_OUTPUT_FORMAT": "ndjson"]),
            ("small", ["KYMO_OUTPUT_MAX_ENTRIES": "3"]),
        ]
        for (index, form) in forms.enumerated() {
            var (lines, late) = Self.readings(seed: UInt64(index))
            lines.insert(late, at: Self.latePlace)
            let output = try run(lines, version: version, form.environment)
            let panels = try resources(output).filter { code($0) == Self.panel }
            #expect(panels.count == 6, "\(form.name)")
            #expect(try identities(output).count == 3 * Self.count + 6 * 7, "\(form.name)")
            try expectReadings(output)
            Files.write(output, to: folder.file("\(form.name).ndjson"))
            // Each on its own: the forms are of the same windows.
            let findings = try Validator.findings(in: [folder.file("\(form.name).ndjson")], version: version)
            #expect(findings.isEmpty, "\(form.name): \(findings.prefix(20))")
        }
    }

    /// Sensor readings are what the guide's profiles ask: a time, a subject, a quantity in the one unit of the code.
    private func expectReadings(_ output: [UInt8]) throws {
        var count = 0
        for reading in try resources(output) where ["99504-3", "105272-9"].contains(code(reading)) {
            let isMolar = code(reading) == "105272-9"
            let quantity = reading["valueQuantity"]
            #expect(reading["effectiveDateTime"] != nil && reading["subject"] != nil && reading["device"] != nil)
            #expect(quantity?["code"]?.text == (isMolar ? "mmol/L" : "mg/dL"))
            #expect(quantity?["unit"]?.text == (isMolar ? "mmol/l" : "mg/dl"))
            #expect(quantity?["system"]?.text == "http://unitsofmeasure.org" && quantity?["value"] != nil)
            count += 1
        }
        #expect(count == 3 * Self.count)
    }

    // MARK: Servers

    @Test(arguments: ["put", "conditional-create", "conditional-update"], ["R4", "STU3", "R5"])
    func aStrictServerTakesEveryBundleThreeTimes(write: String, version: String) async throws {
        let server = try FHIRServer(version: version)
        try await server.waitUntilReady()
        let folder = TemporaryFolder()
        let (lines, late) = Self.readings(seed: 7)
        let environment = ["KYMO_OUTPUT_WRITE": write, "KYMO_OUTPUT_MAX_ENTRIES": "12"]
        let data = folder.file("data")
        let first = try run(lines, version: version, data: data, environment)
        let second = try run([late], version: version, data: data, environment)
        let output = first + second
        // The reading itself, and the summary of its window again, whose members are those of before.
        #expect(try resources(second).count { $0["status"]?.text == "amended" } == 7)
        #expect(try identities(second).subtracting(try identities(first)).count == 1)
        let count = try identities(output).count
        #expect(count == 3 * Self.count + 6 * 7)
        try await server.postThreeTimes(output.split(separator: 0x0A).map(Array.init), "\(write) \(version)")
        let stats = try await server.stats()
        #expect(stats["identifier_dups"] == .number("0") && stats["observation_key_dups"] == .number("0"), "\(stats)")
        #expect(stats["resources"]?["Observation"] == .number("\(count)"), "\(stats)")
        #expect(stats["resources"]?["Device"] == .number("3") && stats["resources"]?["Patient"] == .number("3"))
        try await expectMembers(on: server, isOld: version == "STU3")
    }

    /// Every panel on the server refers to six Observations that are there, one of each kind.
    private func expectMembers(on server: FHIRServer, isOld: Bool) async throws {
        let (found, _) = try await server.get("/Observation?code=\(Self.panel)")
        let panels = try JSONTree(parsing: Array(found))["entry"]?.elements ?? []
        #expect(panels.count == 6)
        for panel in panels.compactMap({ $0["resource"] }) {
            let members = (isOld ? panel["related"] : panel["hasMember"])?.elements ?? []
            var codes: [String] = []
            for member in members {
                let reference = (isOld ? member["target"] : member)?["reference"]?.text ?? ""
                let (body, status) = try await server.get("/\(reference)")
                #expect(status == 200, "\(reference)")
                codes.append(code(try JSONTree(parsing: Array(body))))
            }
            let mean = codes.first == "105273-7" ? "105273-7" : "97507-8"
            #expect(codes == [mean, "106793-3", "97506-0", "104638-2", "104636-6", "104637-4"])
        }
    }
}
