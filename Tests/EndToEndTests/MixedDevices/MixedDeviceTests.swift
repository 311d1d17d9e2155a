import CommandSupport
import Kymograph
import KymographTestKit
import Testing

/// Packets of nine kinds of devices, replayed over every way that bridges use, against the same readings in plain JSON.
@Suite(.enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"))
struct MixedDeviceTests {
    private static let mappings = [
        "heart-rate-strap", "bluetooth-battery", "pulse-oximeter", "blood-pressure-cuff", "thermometer",
        "weight-scale", "glucose-meter", "glucose-sensor", "foot-pod",
    ]
    /// What gives no reading, and why: contact lost, no clock (two types), another layout, control solution, checksum.
    private static let refused = [
        "noTemplate": 1, "noTimestamp": 2, "malformedPacket": 1, "controlSolution": 1, "wrongChecksum": 1,
    ]

    /// Nothing is made up here: each packet is a shared vector or an example of the catalogue.
    @Test func packetsAreKnown() throws {
        let vectors = try JSONTree(parsing: Files.read("\(SharedMaterial.root ?? "")/gatt/gatt_vectors.json"))
        var known = Set(
            (vectors["vectors"]?.elements ?? []).map { "\($0["uuid"]?.text ?? "") \($0["hex"]?.text ?? "")" })
        for mapping in Self.mappings {
            for example in try #require(MappingCatalogue.files(of: mapping)).examples where example.kind == .json {
                for line in example.input.split(separator: 0x0A) {
                    let frame = try JSONTree(parsing: Array(line))
                    known.insert("\(frame["characteristic"]?.text ?? "") \(frame["value"]?.text ?? "")")
                }
            }
        }
        let unknown = DevicePacket.replay.map { "\($0.characteristic) \($0.hex)" }.filter { !known.contains($0) }
        #expect(known.count > 110 && unknown == [])
        // All characteristics of measurements in one replay.
        let all: Set = ["2A37", "2A5E", "2A5F", "2A35", "2A1C", "2A9D", "2A18", "2A34", "2AA7", "2A53", "2A19"]
        #expect(Set(DevicePacket.replay.map(\.characteristic)) == all)
    }

    @Test(arguments: BridgeRoute.allCases)
    func everyRouteGivesWhatJSONGives(route: BridgeRoute) throws {
        let folder = TemporaryFolder()
        let replayed = try replay(DevicePacket.replay, by: route, folder)
        let expected = try expectedOutput(folder)
        let (found, plain) = (try bundles(replayed), try bundles(expected))
        #expect(found.differences(from: plain) == [], "\(route)")
        #expect(found.observations.count > 30 && found.observations.count == plain.observations.count)
        // Devices and patients, too.
        #expect(!found.others.isEmpty && Set(found.others) == Set(plain.others), "\(route)")
        Files.write(replayed, to: folder.file("devices.ndjson"))
        let findings = try Validator.findings(in: [folder.file("devices.ndjson")], version: "R4")
        #expect(findings.isEmpty, "\(route): \(findings.prefix(20))")
    }

    /// The bundles of a running kymo that gets `packets`.
    private func replay(_ packets: [DevicePacket], by route: BridgeRoute, _ folder: TemporaryFolder) throws -> [UInt8] {
        let terminal = route.usesTerminal ? try PseudoTerminal() : nil
        let data = folder.file("data")
        let run = try Kymo.start(
            ["run", "--data", data, "--idle", "1h"] + route.source(terminal, folder) + route.framing
                + Self.mappings.flatMap { ["--mapping", $0] })
        let address = try run.addresses()[0]
        let payloads = route.payloads(packets)
        if let terminal {
            terminal.write(payloads.flatMap { $0 })
        } else {
            try Sending.send(exactly: payloads, to: address)
        }
        let refused = Self.refused.values.reduce(0, +)
        let count = packets.flatMap(\.readings).count + refused
        try Waiting.until("\(count) readings; \(run.errorText)") {
            let ledger = try Kymo.run(["ledger", "--format", "json", "--data", data]).output
            return (try? JSONTree(parsing: ledger))?["balance"]?["received"] == .number("\(count)")
        }
        let done = try run.terminate()
        let balance = try #require(done.balance, "\(done.error)")
        #expect(balance.isClosed && balance.reasons == Self.refused, "\(route): \(done.error)")
        #expect(balance.accepted == count - refused && done.end == .exit(0), "\(route): \(done.error)")
        return done.output
    }

    // MARK: The JSON route

    /// The bundles of the same readings in JSON, written by the same FHIR templates.
    private func expectedOutput(_ folder: TemporaryFolder) throws -> [UInt8] {
        for name in Self.mappings {
            let files = try #require(MappingCatalogue.files(of: name))
            folder.write("\(name)/device.json", try Self.plainDevice(try JSONTree(parsing: files.device)))
            Files.write(files.fhir, to: folder.file("\(name)/fhir.json"))
        }
        let lines = DevicePacket.replay.flatMap(\.lines)
        let done = try Kymo.run(
            ["run", "--stdin", "--idle", "1h"] + Self.mappings.flatMap { ["--mapping", folder.file($0) + "/"] },
            input: .bytes(Readings.ndjson(lines)))
        let balance = try #require(done.balance, "\(done.error)")
        #expect(balance.accepted == lines.count && balance.rejected == 0 && balance.isClosed, "\(done.error)")
        return done.output
    }

    /// A mapping of readings in JSON that gives the types and values of `device`: each type by its name, each value by
    /// its own, without what packets need.
    private static func plainDevice(_ device: JSONTree) throws -> String {
        let templates = try #require(device["template"]?.elements).map { template in
            let type = template["template"]?["typeName"]?.text ?? ""
            let values = (template["template"]?["values"]?.elements ?? []).compactMap { $0["valueName"]?.text }.map {
                "{\"valueName\":\"\($0)\",\"valueExpression\":\"$.\($0)\"}"
            }
            return """
                {"templateType":"JsonPathContent","template":{"typeName":"\(type)",
                "typeMatchExpression":"$..[?(@type == '\(type)')]","deviceIdExpression":"$.device",
                "timestampExpression":"$.time","values":[\(values.joined(separator: ","))]}}
                """
        }
        return "{\"templateType\":\"CollectionContent\",\"template\":[\(templates.joined(separator: ","))]}"
    }

    private func bundles(_ bytes: [UInt8]) throws -> BundleReader {
        var reader = BundleReader()
        try reader.read(ndjson: bytes)
        return reader
    }
}
