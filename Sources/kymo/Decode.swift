import ArgumentParser
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo decode`: series of Observations as rows.
struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Print the SampledData of Observations as rows of times and values.",
        discussion: """
            Reads Observations and Bundles, one a line or one document, of any FHIR server: R4, R4B, STU3, R5. \
            Prints CSV with a row for each sample: observation, patient, device, code, time (RFC 3339 in UTC), \
            dimension (from 0), value, flag (belowLimit, aboveLimit), unit. Values are exact: origin + number × \
            factor. Samples without a value (E) are left out. What is no SampledData is passed over; exits with status \
            65 when there is none, or something cannot be read.

            Example: kymo decode observations.ndjson > samples.csv
            """)

    @Argument(help: "File with Observations or Bundles; standard input by default.", completion: .file())
    var file: String?

    private static let columns = [
        "observation", "patient", "device", "code", "time", "dimension", "value", "flag", "unit",
    ]

    func run() throws {
        let content = try InputFile.read(file, "name a file with Observations or Bundles")
        var series = 0
        let resources = try resources(of: content)
        try StandardOutput.write(data: ReadingTable.csv(Self.columns))
        for (line, resource) in resources {
            let names = Self.names(in: resource)
            for observation in Self.observations(of: resource) {
                series += try write(observation, names, line)
            }
        }
        guard series == 0 else { return }
        throw StandardError.exit("\(name) has no Observation with SampledData", code: ExitStatus.dataError)
    }

    private var name: String { file ?? "standard input" }

    // MARK: Reading

    /// The resources of the input, each with the number of its line.
    private func resources(of content: [UInt8]) throws -> [(line: Int, JSONTree)] {
        // One document over several lines is not one a line.
        if let whole = try? JSONTree(parsing: content) { return [(1, whole)] }
        var found: [(Int, JSONTree)] = []
        for (number, line) in content.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            do {
                found.append((number + 1, try JSONTree(parsing: Array(line))))
            } catch {
                throw refuse(number + 1, "\(error.message) at byte \(error.offset)")
            }
        }
        return found
    }

    private static func observations(of resource: JSONTree) -> [JSONTree] {
        switch resource["resourceType"]?.text {
        case "Observation": [resource]
        case "Bundle": (resource["entry"]?.elements ?? []).compactMap { $0["resource"] }.flatMap(observations)
        default: []
        }
    }

    /// The first identifier of each resource of a Bundle that others refer to by its place in it.
    private static func names(in resource: JSONTree) -> [String: String] {
        var names: [String: String] = [:]
        for entry in resource["entry"]?.elements ?? [] {
            guard let place = entry["fullUrl"]?.text else { continue }
            names[place] = entry["resource"]?["identifier"]?.elements?.first?["value"]?.text
        }
        return names
    }

    private func refuse(_ line: Int, _ message: String) -> ExitCode {
        StandardError.exit("\(name):\(line): \(message)", code: ExitStatus.dataError)
    }

    // MARK: Writing

    /// Writes the rows of `observation`; how many series it has.
    private func write(_ observation: JSONTree, _ names: [String: String], _ line: Int) throws -> Int {
        let series: [SeriesDecoder.Series]
        do {
            series = try SeriesDecoder.series(of: observation)
        } catch {
            throw refuse(line, error.message)
        }
        let subjects = ["subject", "device"].map { Self.subject(observation[$0], names) }
        let first = [observation["id"]?.text] + subjects
        for one in series {
            let code = one.codes.joined(separator: " ")
            let rows = one.samples.map { sample in
                Self.value(sample.value).map { value, flag in
                    ReadingTable.csv(
                        first + [code, sample.instant.text, String(sample.dimension), value, flag, one.unit])
                } ?? []
            }
            try StandardOutput.write(data: Array(rows.joined()))
        }
        return series.count
    }

    /// What a reference refers to: an identifier where one is there, else the reference.
    private static func subject(_ reference: JSONTree?, _ names: [String: String]) -> String? {
        guard let place = reference?["reference"]?.text else { return reference?["identifier"]?["value"]?.text }
        return names[place] ?? place
    }

    /// A value and a flag; nil for a sample without either.
    private static func value(_ value: SeriesDecoder.Value) -> (value: String?, flag: String?)? {
        switch value {
        case .number(let number): (text(number), nil)
        case .belowLimit: (nil, "belowLimit")
        case .aboveLimit: (nil, "aboveLimit")
        case .missing: nil
        }
    }

    private static func text(_ number: Decimal64) -> String {
        var writer = ByteWriter(capacity: 32)
        writer.append(number)
        return writer.view.string
    }
}
