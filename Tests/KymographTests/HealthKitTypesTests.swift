import Foundation
import Kymograph
import Testing

/// `docs/healthkit-types.md` says of each type of HealthKit what it becomes, and an example of the mapping shows it.
@Suite struct HealthKitTypesTests {
    private struct Row {
        /// Cells, without the blanks around them.
        var cells: [String]
        var type: String { cells[0] }

        /// What stands in backticks in a cell.
        func names(_ cell: Int) -> [String] { cells[cell].matches(of: /`([^`]+)`/).map { String($0.1) } }
    }

    private static let sections: [String] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let bytes = FileManager.default.contents(atPath: root.appending(path: "docs/healthkit-types.md").path)
        return String(decoding: bytes ?? Data(), as: UTF8.self).components(separatedBy: "\n## ")
    }()

    private static func rows(_ section: String) -> [Row] {
        let text = sections.first { $0.hasPrefix(section) } ?? ""
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2)
        return lines.map { line in
            let cells = line.dropFirst().dropLast().components(separatedBy: " | ")
            return Row(cells: cells.map { $0.trimmingCharacters(in: .whitespaces) })
        }
    }

    /// Examples of the mapping, as texts.
    private static let examples: [(input: String, output: String)] =
        (MappingCatalogue.files(of: "apple-health")?.examples ?? []).map { example in
            (String(decoding: example.input, as: UTF8.self), String(decoding: example.output ?? [], as: UTF8.self))
        }

    /// What examples with `identifier` become; nothing that was rejected.
    private static func outputs(of identifier: String) -> [String] {
        examples.filter { $0.input.contains("\"\(identifier)\"") && !$0.output.contains("\"rejected\"") }.map(\.output)
    }

    private func expect(_ identifier: String, _ texts: [String], _ comment: String) {
        let outputs = Self.outputs(of: identifier)
        #expect(!outputs.isEmpty, "\(identifier) has no example")
        for text in texts {
            #expect(outputs.contains { $0.contains(text) }, "no example of \(identifier) has \(text): \(comment)")
        }
    }

    @Test func quantities() {
        let rows = Self.rows("Quantities")
        #expect(rows.count == 119 && Set(rows.map(\.type)).count == 119)
        for row in rows {
            let identifier = "HKQuantityTypeIdentifier\(row.type)"
            let codes = row.cells[1] == "Apple" ? [identifier] : row.names(1)
            #expect(!codes.isEmpty && !row.names(2).isEmpty && !row.names(3).isEmpty && row.cells[4].first!.isNumber)
            expect(identifier, (codes + row.names(2)).map { "\"code\": \"\($0)\"" }, "code and unit")
            expect(identifier, row.names(3).map { "\"Type\": \"\($0)\"" }, "type name")
        }
    }

    @Test func categories() {
        let rows = Self.rows("Categories")
        #expect(rows.count == 68 && Set(rows.map(\.type)).count == 68)
        for row in rows {
            let identifier = "HKCategoryTypeIdentifier\(row.type)"
            let systems = row.names(1).map { name in
                "\"system\": \"https://developer.apple.com/documentation/healthkit/\(name.lowercased())\""
            }
            let value = systems.isEmpty ? ["\"valueString\": \"\(identifier)\""] : systems
            expect(identifier, ["\"code\": \"\(identifier)\""] + value, "code and value")
            expect(identifier, row.names(2).map { "\"Type\": \"\($0)\"" }, "type name")
        }
    }

    /// Each constant of Apple's enumerations has its number: those of sleep, of which all have an example.
    @Test func stagesOfSleep() {
        let cases = ["InBed", "AsleepUnspecified", "Awake", "AsleepCore", "AsleepDeep", "AsleepREM"]
        for (number, name) in cases.enumerated() {
            let display = name.prefix(1).lowercased() + name.dropFirst()
            let outputs = Self.outputs(of: "HKCategoryValueSleepAnalysis\(name)")
            #expect(
                outputs.contains {
                    $0.contains("\"code\": \"\(number)\"") && $0.contains("\"display\": \"\(display)\"")
                },
                "\(name)")
        }
    }

    /// What the third table says of types that are no quantity and no category: their codes and types have an example,
    /// of `apple-health` or of the mapping that the row links to; of what is not mapped nothing does.
    @Test func correlationsWorkoutsAndElectrocardiograms() {
        let rows = Self.rows("Correlations, workouts, electrocardiograms")
        let names = [
            "HKCorrelationTypeIdentifierBloodPressure", "HKCorrelationTypeIdentifierFood", "HKWorkout",
            "HKElectrocardiogram", "HKStateOfMind", "HKClinicalRecord",
        ]
        #expect(rows.map(\.type) == names)
        let links = ["HKStateOfMind": "health-auto-export"]
        for row in rows {
            let mapping = links[row.type] ?? "apple-health"
            #expect(row.cells[2].contains("catalogue.md#") == (links[row.type] != nil), "\(row.type)")
            let outputs = (MappingCatalogue.files(of: mapping)?.examples ?? [])
                .map { String(decoding: $0.output ?? [], as: UTF8.self) }
            guard !row.cells[2].hasPrefix("not mapped") else {
                let device = MappingCatalogue.files(of: mapping)?.device ?? []
                #expect(
                    !device.isEmpty && !String(decoding: device, as: UTF8.self).contains(row.type),
                    "a template of \(mapping) names \(row.type)")
                continue
            }
            let codes = row.names(1) + row.cells[1].matches(of: /MDC ([0-9]+)/).map { String($0.1) }
            #expect(!codes.isEmpty, "\(row.type)")
            let type = row.names(2).first { !$0.contains("-") } ?? ""
            for text in codes.map({ "\"code\": \"\($0)\"" }) + ["\"Type\": \"\(type)\""] {
                #expect(outputs.contains { $0.contains(text) }, "no example of \(row.type) has \(text)")
            }
        }
    }

    /// What no row has is no type of the mapping.
    @Test func rowsAreAllThatIsMapped() {
        let quantities = Set(Self.rows("Quantities").map { "HKQuantityTypeIdentifier\($0.type)" })
        let categories = Set(Self.rows("Categories").map { "HKCategoryTypeIdentifier\($0.type)" })
        for (input, output) in Self.examples where output.contains("\"measurements\"") {
            for match in input.matches(of: /"(HK(?:Quantity|Category)TypeIdentifier\w+)"/) {
                let name = String(match.1)
                #expect(quantities.contains(name) || categories.contains(name), "\(name)")
            }
        }
    }
}
