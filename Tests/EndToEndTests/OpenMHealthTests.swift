import CommandSupport
import KymographTestKit
import Testing

/// Open mHealth's own test data, line by line: what its schemas allow gives a reading, what they forbid is rejected.
///
/// The lines hold bodies; each becomes a data point by a header that names its schema. A line that is a header itself
/// gets a body, for a header alone says nothing about a person.
@Suite(.enabled(if: SharedMaterial.root != nil, "KYMO_SHARED names no folder with the data"))
struct OpenMHealthTests {
    @Test func whatTheSchemasAllow() throws {
        let lines = try documents("omh_should_pass")
        #expect(lines.count == 102)
        for (number, document) in lines {
            let expected = OpenMHealthLines.allowed(number)
            #expect(try map(document) == expected, "line \(number)")
        }
        let withoutReading = lines.filter { OpenMHealthLines.allowed($0.number).hasPrefix("rejected") }
        #expect(withoutReading.map(\.number) == [54, 64])
    }

    @Test func whatTheSchemasForbid() throws {
        let lines = try documents("omh_should_fail")
        #expect(lines.count == 105)
        for (number, document) in lines {
            #expect(try map(document) == OpenMHealthLines.forbidden(number), "line \(number)")
        }
    }

    /// The type of the one reading, or why there is none.
    private func map(_ document: String) throws -> String {
        let done = try Kymo.run(["map", "--mapping", "open-mhealth"], input: .bytes(Array(document.utf8)))
        let tree = try JSONTree(parsing: done.output)
        let types = (tree["measurements"]?.elements ?? []).map { $0["Type"]?.text ?? "" }
        let reasons = (tree["rejected"]?.elements ?? []).map { "rejected: \($0["reason"]?.text ?? "")" }
        #expect(done.end == .exit(reasons.isEmpty ? 0 : 65))
        return (types + reasons).joined(separator: ", ")
    }

    private func documents(_ name: String) throws -> [(number: Int, document: String)] {
        let text = Files.text("\(SharedMaterial.root ?? "")/data/\(name).ndjson")
        return try text.split(separator: "\n").enumerated().map { ($0 + 1, try dataPoint($1)) }
    }

    private func dataPoint(_ line: Substring) throws -> String {
        let schema = try #require(try JSONTree(parsing: Array(line.utf8))["schema"]?.text).split(separator: ":")
        let member = try #require(line.firstRange(of: "\"body\":"))
        let body = line[member.upperBound...].dropLast()
        switch schema[1] {
        case "data-point": return String(body)
        case "header": return "{\"header\":\(body),\"body\":\(OpenMHealthLines.walk)}"
        default: return "{\"header\":\(header(String(schema[1]), String(schema[2]))),\"body\":\(body)}"
        }
    }

    private func header(_ name: String, _ version: String) -> String {
        """
        {"id":"7a1d3c52-0000-4000-8000-000000000001","creation_date_time":"2021-03-01T08:00:00Z",\
        "schema_id":{"namespace":"omh","name":"\(name)","version":"\(version)"},\
        "acquisition_provenance":{"source_name":"watch-app-3","modality":"sensed"},"user_id":"p-0042"}
        """
    }
}

/// What each line becomes.
enum OpenMHealthLines {
    /// A body without a time, so that the header's must be good.
    static let walk = "{\"activity_name\":\"walking\",\"distance\":{\"value\":1.5,\"unit\":\"mi\"}}"

    /// The type that an allowed document gives.
    static func allowed(_ line: Int) -> String {
        switch line {
        // Its interval starts in 2023 and ends in 2020.
        case 54: "rejected: invalidTimestamp"
        // Its body is empty.
        case 64: "rejected: noTemplate"
        case 2, 14: "serumGlucoseMass"
        case 5: "serumGlucoseMassStatistic"
        case 13: "interstitialGlucoseMassStatistic"
        case 19, 24: "capillaryGlucoseStatistic"
        case 4, 12, 18, 23: "glucoseMassStatistic"
        case 1...26: "glucoseMass"
        case 30: "bloodPressureMinimum"
        case 29, 35, 38, 42: "bloodPressureMaximum"
        case 27...44: "bloodPressure"
        case 45, 48, 51: "bodyTemperatureFahrenheitStatistic"
        case 46...55: "bodyTemperatureFahrenheit"
        default: allowedAfterTemperature(line)
        }
    }

    private static func allowedAfterTemperature(_ line: Int) -> String {
        switch line {
        case 59, 61, 63: "bodyMassStatistic"
        case 56...62: "bodyMass"
        case 65...68: "activityDistance"
        case 75: "heartRateStatistic"
        case 69...76: "heartRate"
        case 80: "oxygenSaturationStatistic"
        case 77...81: "oxygenSaturation"
        case 83, 87: "respiratoryRateStatistic"
        case 82...88: "respiratoryRate"
        case 90: "rrIntervalStatistic"
        case 89...92: "rrInterval"
        case 96, 97, 100, 101: "stepsPerDayStatistic"
        case 98, 102: "stepsPerSessionStatistic"
        default: "intervalSteps"
        }
    }

    /// Without a time that counts: none at all, half an interval, an instant for steps, a part of the day where the
    /// schema has none.
    private static let withoutTime: Set = [
        6, 7, 13, 14, 20, 21, 27, 28, 37, 45, 48, 51, 52, 58, 59, 65, 66, 74, 83, 88, 98, 100, 103, 105,
    ]

    /// Why a forbidden document is rejected.
    static func forbidden(_ line: Int) -> String {
        if withoutTime.contains(line) { return "rejected: noTimestamp" }
        switch line {
        case 55, 62, 69: return "rejected: missingValue"
        // The header's time has a year of three digits.
        case 75: return "rejected: invalidTimestamp"
        default: return "rejected: noTemplate"
        }
    }
}
