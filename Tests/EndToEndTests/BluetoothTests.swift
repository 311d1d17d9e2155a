import CommandSupport
import Kymograph
import KymographCore
import KymographTestKit
import Testing

/// Packets of Bluetooth devices go through the binary and end as valid resources.
@Suite struct BluetoothTests {
    private static let mappings = [
        "heart-rate-strap", "pulse-oximeter", "blood-pressure-cuff", "thermometer", "weight-scale", "glucose-meter",
        "glucose-sensor", "foot-pod", "bluetooth-battery", "binary-patch", "polar-h10",
    ]

    /// The catalogue's examples of a mapping, as the lines of a bridge.
    private func frames(_ mapping: String) throws -> [UInt8] {
        try #require(MappingCatalogue.files(of: mapping)).examples.filter { $0.kind == .json }.flatMap(\.input)
    }

    /// All devices at once, from one bridge.
    @Test(
        .enabled(if: SharedMaterial.canRunPython, "KYMO_SHARED and KYMO_PYTHON name no validator that runs"),
        arguments: FHIRVersion.allCases)
    func mixedDevicesAreValid(version: FHIRVersion) throws {
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--fhir-version", version.rawValue] + Self.mappings.flatMap { ["--mapping", $0] },
            input: .bytes(try Self.mappings.flatMap(frames)))
        #expect(done.end == .exit(0) && !done.output.isEmpty, "\(done.error)")
        let balance = try #require(done.balance)
        #expect(balance.isClosed && balance.accepted > 45, "\(done.error)")
        Files.write(done.output, to: folder.file("devices.ndjson"))
        let findings = try Validator.findings(
            in: [folder.file("devices.ndjson")], version: version.rawValue, passing: ["no-device"])
        #expect(findings.isEmpty, "\(findings.prefix(20))")
    }

    /// A strap in JSON frames, in binary frames by UDP, and the same heart rates as plain readings: one Observation.
    @Test func everyRouteGivesTheSame() throws {
        let plain = Readings.heartRates(60, device: "strap-1")
        let json = (0..<60).map { second in
            """
            {"device":"strap-1","characteristic":"2A37","time":"2026-03-01T08:00:\(second < 10 ? "0" : "")\(second)Z",\
            "value":"00\(String(60 + second % 40, radix: 16))"}
            """
        }
        let expected = try observations(["--mapping", "reading"], plain)
        #expect(expected.count == 1)
        #expect(try observations(["--mapping", "heart-rate-strap"], json) == expected)
        let run = try Kymo.start(
            ["run", "--udp", "127.0.0.1:0", "--mapping", "heart-rate-strap"],
            environment: ["KYMO_OUTPUT_FORMAT": "ndjson"])
        // Two frames in each datagram.
        let frames = (0..<60).map { binaryFrame(second: $0, rate: UInt8(60 + $0 % 40)) }
        let pairs = stride(from: 0, to: 60, by: 2).map { frames[$0] + frames[$0 + 1] }
        try Sending.send(pairs, to: try run.addresses()[0])
        let done = try run.terminate()
        #expect(done.end == .exit(0) && heartRates(done.lines) == expected, "\(done.error)")
    }

    /// Values of a characteristic without any frame: the source says whose they are.
    @Test func bareValuesOfADatagramSocket() throws {
        let folder = TemporaryFolder()
        let exported = try Kymo.run(["mappings", "--export", "heart-rate-strap", folder.file("strap")])
        #expect(exported.end == .exit(0), "\(exported.error)")
        let file = folder.file("strap/device.json")
        let text = Files.text(file).replacing("\"payload\": \"gatt\"", with: "\"payload\": \"gatt/2A37\"")
            .replacing("\"handles\": { \"0x0012\": \"2A37\" },", with: "")
        Files.write(Array(text.utf8), to: file)
        let config = folder.write(
            "kymo.yaml",
            """
            sources:
              - unixgram: \(folder.file("s.sock"))
                mappings: \(folder.file("strap"))
                defaultDevice: strap-1
            """)
        let run = try Kymo.start(["run", "--config", config], environment: ["KYMO_OUTPUT_FORMAT": "ndjson"])
        try Sending.send([[0x16, 0x3C, 0x11, 0x04], [0x16, 0x3C]], to: try run.addresses()[0])
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.received == 3 && balance.accepted == 2, "\(done.error)")
        #expect(done.error.contains("truncatedPacket 1"), "\(done.error)")
        #expect(heartRates(done.lines).count == 1 && done.text.contains("strap-1"))
    }

    private func observations(_ arguments: [String], _ lines: [String]) throws -> [String] {
        let done = try Kymo.run(
            ["run", "--stdin"] + arguments, environment: ["KYMO_OUTPUT_FORMAT": "ndjson"],
            input: .bytes(Readings.ndjson(lines)))
        #expect(done.end == .exit(0) && done.balance?.accepted == 60, "\(done.error)")
        return heartRates(done.lines)
    }

    private func heartRates(_ lines: [String]) -> [String] { lines.filter { $0.contains("\"8867-4\"") } }

    private func binaryFrame(second: Int, rate: UInt8) -> [UInt8] {
        // 2026-03-01T08:00:00Z.
        let microseconds = UInt64(1_772_352_000 + second) * 1_000_000
        let time = (0..<8).map { UInt8(truncatingIfNeeded: microseconds >> UInt64(8 * $0)) }
        return [0x4B, 1, 1, 7] + Array("strap-1".utf8) + [0x37, 0x2A] + time + [0, 0x80] + [2, 0, 0, rate]
    }
}
