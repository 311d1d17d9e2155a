import Foundation
import KymographCore
import Testing
import TrialSupport

/// Packets decode as the reference decoder of the shared folder says; `KYMO_SHARED` and `KYMO_PYTHON` name both.
@Suite(.enabled(if: SharedFiles.canDecodePackets, "KYMO_SHARED and KYMO_PYTHON name no packets and no Python"))
struct GATTReferenceTests {
    /// A packet and what the reference makes of it; nil where it is refused.
    struct Case {
        var uuid: String
        var bytes: [UInt8]
        var objects: [[String: String]]?

        init(_ line: Substring) throws {
            let parts = line.split(separator: " ", maxSplits: 2)
            uuid = String(parts[0])
            bytes = PacketRun.bytes(String(parts[1]))
            objects =
                try JSONSerialization.jsonObject(with: Data(parts[2].utf8), options: .fragmentsAllowed)
                as? [[String: String]]
        }
    }

    private func cases(_ arguments: String...) throws -> [Case] {
        let result = SharedFiles.packets(arguments)
        try #require(result.status == 0, "\(result.output)")
        return try result.output.split(separator: "\n").map(Case.init)
    }

    @Test func allVectors() throws {
        let cases = try cases("vectors")
        #expect(cases.count == 110)
        try compare(cases)
    }

    /// Packets of which a sixth are cut, lengthened or spoiled.
    @Test func generatedPackets() throws {
        let count = Trials.count(tenthOf: 200_000)
        let cases = try cases("random", "\(Trials.seed(20_261_122))", "\(count)")
        #expect(cases.count == count)
        #expect(cases.count { $0.objects == nil } > count / 10 && cases.count { $0.objects != nil } > count / 2)
        try compare(cases)
    }

    private func compare(_ cases: [Case]) throws {
        for (uuid, cases) in Dictionary(grouping: cases, by: \.uuid) {
            let run = try run(for: uuid, cases)
            var wrong: [String] = []
            for subject in cases where wrong.count < 10 {
                let outcome = run.datagram(subject.bytes)
                let hex = subject.bytes.map { String(format: "%02x", $0) }.joined()
                if let text = difference(outcome, subject.objects) { wrong.append("\(uuid) \(hex): \(text)") }
            }
            #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
        }
    }

    private func run(for uuid: String, _ cases: [Case]) throws -> PacketRun {
        // Only what is compared, because each member costs time.
        let members = Set(cases.flatMap { $0.objects ?? [] }.flatMap(\.keys)).union(["characteristic"]).sorted()
        guard uuid.hasSuffix("FLOAT") else { return try PacketRun("gatt/\(uuid)", members: members) }
        let field = #","fields":[{"name":"v","type":"\#(uuid.lowercased())","offset":0}]"#
        return try PacketRun("binary", top: field, members: members)
    }

    /// What differs, or nil.
    private func difference(_ outcome: MappingRun.Outcome, _ objects: [[String: String]]?) -> String? {
        guard let objects else {
            return outcome.readings.isEmpty && outcome.rejections.count == 1 ? nil : "taken: \(outcome.readings)"
        }
        guard outcome.rejections.isEmpty else { return "rejected: \(outcome.reasons)" }
        guard outcome.readings.count == objects.count else { return "\(outcome.readings.count) objects" }
        for (reading, object) in zip(outcome.readings, objects) {
            for (name, text) in object where !isSame(reading.values[name], text) {
                return "\(name) is \(reading.values[name] ?? "absent"), not \(text)"
            }
            let extra = Set(reading.values.keys).subtracting(object.keys)
                .subtracting(["characteristic", "status", "unit", "deviceTime"])
            if let name = extra.first { return "\(name) is \(reading.values[name] ?? "") and should not be there" }
        }
        return nil
    }

    /// Equal texts, or equal numbers: decimals of so few digits are told apart by doubles.
    private func isSame(_ left: String?, _ right: String) -> Bool {
        guard let left else { return false }
        if left == right { return true }
        guard let first = Double(left), let second = Double(right) else { return false }
        return first == second
    }
}

extension SharedFiles {
    /// Whether the reference decoder can run.
    static let canDecodePackets: Bool =
        root.map {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("gatt/gatt_decode.py").path)
        } == true && run(["-c", "import decimal"]).status == 0

    /// What `Tests/Validation/gatt_packets.py` writes.
    static func packets(_ arguments: [String]) -> (status: Int32, output: String) {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Validation/gatt_packets.py")
        return run(["-B", script.path, root?.appendingPathComponent("gatt").path ?? ""] + arguments)
    }
}
