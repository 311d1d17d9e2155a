import CommandSupport
import Foundation

/// What the files hold that examples name.
enum ExampleFiles {
    private static let mappings = "\(SharedMaterial.package)/mappings"

    /// A message that the mapping takes: the first of its examples.
    static func message(of mapping: String) -> String {
        let folder = "\(mappings)/\(mapping)/examples"
        let wanted = mapping == "reading" ? "blood-pressure.in.json" : ""
        let names = Files.names(folder).filter { $0.hasSuffix(".in.json") }
        return Files.text("\(folder)/\(names.contains(wanted) ? wanted : names.first ?? "")")
    }

    static func copyMapping(_ name: String, to folder: String) throws {
        try FileManager.default.copyItem(atPath: "\(mappings)/\(name)", toPath: folder)
    }

    static func mappingFile(_ mapping: String, _ name: String) -> String {
        Files.text("\(mappings)/\(mapping)/\(name)")
    }

    /// A patient map.
    static let patients = """
        device,patient,encounter,from,to
        pump-3,p-17,e-2026-114,2026-03-01T08:00:00+01:00,2026-03-04T11:30:00+01:00
        pump-3,p-22,,2026-03-04T11:30:00+01:00,
        watch-1,p-17,,,

        """

    /// A file of receipts.
    static let receipt = """
        {"id":"1-1","at":"2026-03-01T08:01:09Z","sink":"server x","outcome":"created","resource":"Observation/0a"}

        """

    /// The table of docs/framings.md.
    static let table = """
        deviceId,patientId,type,unit,timestamp,value
        strap-7,patient-3,heartRate,/min,2026-03-01T08:00:00Z,71
        strap-7,patient-3,heartRate,/min,2026-03-01T08:00:05Z,72

        """

    static func configuration(_ port: UInt16) -> String {
        """
        window: 1m
        mappings: wristband
        sources:
          - udp: 127.0.0.1:\(port)
        output:
          to: ./observations
          format: ndjson

        """
    }

    /// As `gatttool` shows notifications at its prompt.
    static let terminal = """
        [A0:9E:1A:5B:3C:01][LE]> char-write-req 0x0013 0100
        Notification handle = 0x0012 value: 06 3c
        Notification handle = 0x0012 value: 06 3d

        """

    /// As `btmon` shows a notification.
    static let monitor = """
        > ACL Data RX: Handle 64 flags 0x02 dlen 9                    #7 [hci0] 2026-03-01 08:00:05.250000
              ATT: Handle Value Notification (0x1b) len 4
                Handle: 0x0012
                  Data: 063c

        """

    /// A btsnoop file with one notification.
    static let snoop: [UInt8] = {
        let record: [UInt8] = [0x02, 0x40, 0x20, 9, 0, 5, 0, 4, 0, 0x1B, 0x12, 0x00, 0x06, 0x3C]
        let time = (1_772_352_000 * 1_000_000 + 0x00DC_DDB3_0F2F_8000) as UInt64
        func big(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        }
        let size = big(UInt64(record.count), 4)
        return Array("btsnoop\0".utf8) + big(1, 4) + big(1_002, 4) + size + size + big(1, 4) + big(0, 4) + big(time, 8)
            + record
    }()

    /// Readings, each behind its length in four bytes.
    static let framed: [UInt8] = Readings.heartRates(3).flatMap { line in
        [0, 0, 0, UInt8(line.utf8.count)] + Array(line.utf8)
    }

    /// Observations of simulated devices, one a line.
    static func writeObservations(_ path: String) throws {
        let sent = try Kymo.run(["simulate", "--devices", "20", "--duration", "10m", "--speed", "max", "--stdout"])
        let done = try Kymo.run(
            ["run", "--stdin", "--window", "1m", "--format", "ndjson"], input: .bytes(sent.output))
        Files.write(done.output, to: path)
    }

    /// Heart rates of two minutes of watch-1, which the patient p-7 wears, and 20 messages that no template took.
    static func makeStore(_ folder: String) throws {
        let message = message(of: "wristband").replacing("\n", with: " ")
        let letters = (0..<20).map { message.replacing("1772352000000", with: "\(1_772_352_000_000 + $0 * 1_000)") }
        let readings = Readings.heartRates(120).map { String($0.dropLast()) + #","patientId":"p-7"}"# }
        let done = try Kymo.run(
            ["run", "--stdin", "--window", "1m", "--data", folder], input: .bytes(Readings.ndjson(readings + letters)))
        guard done.end == .exit(0) else { throw WaitError(description: done.error) }
    }
}
