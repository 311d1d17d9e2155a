import ArgumentParser
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo decode`: values of Observations as rows.
struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Print the SampledData of Observations as rows of times and values.",
        discussion: """
            Reads Observations and Bundles, one a line or one document, of any FHIR server: R4, R4B, STU3, R5. \
            Prints CSV with a row for each sample: observation (its id), identifier, patient, device, code, component \
            (whose value it is, if not the Observation's own), time (RFC 3339 in UTC), end, dimension (from 0), value, \
            flag (belowLimit for L, aboveLimit for U), unit. Values are exact: origin + number × factor. Samples \
            without a value (E) are left out, or with --missing have the flag missing.

            With --values, there are rows for what is no series, too: quantities (whose comparator is the flag), whole \
            numbers, booleans, texts, times, and concepts as system|code; their time is that of the Observation, and \
            end the end of its period. A reason why there is no value is a flag.

            Exits with status 65 when there is nothing to print, or something cannot be read.

            Example: kymo decode observations.ndjson > samples.csv
            Example: kymo decode --values --format ndjson observations.ndjson
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case csv, ndjson
    }

    @Argument(help: "File with Observations or Bundles; standard input by default.", completion: .file())
    var file: String?

    @Flag(help: "Also values that are no series.")
    var values = false

    @Flag(help: "Also samples without a value.")
    var missing = false

    @Option(help: ArgumentHelp("CSV, or an object a line.", valueName: "csv|ndjson"))
    var format = Format.csv

    func run() throws {
        let content = try InputFile.read(file, "name a file with Observations or Bundles")
        var count = 0
        let resources = try resources(of: content)
        if format == .csv { try StandardOutput.write(data: ReadingTable.csv(DecodedRow.columns)) }
        for (line, resource) in resources {
            let names = Self.names(in: resource)
            for observation in Self.observations(of: resource) {
                count += try write(observation, names, line)
            }
        }
        guard count == 0 else { return }
        let what = values ? "a value" : "SampledData"
        throw StandardError.exit("\(name) has no Observation with \(what)", code: ExitStatus.dataError)
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

    /// Writes the rows of `observation`; of how many series and values they are.
    private func write(_ observation: JSONTree, _ names: [String: String], _ line: Int) throws -> Int {
        let wanted = DecodedObservation.Wanted(values: values, missing: missing)
        do {
            let (rows, count) = try DecodedObservation(observation, names, wanted).rows()
            try StandardOutput.write(data: rows.flatMap { format == .csv ? $0.csv : $0.ndjson })
            return count
        } catch let error as SeriesDecoderError {
            throw refuse(line, error.message)
        }
    }
}
