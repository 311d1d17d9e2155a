import CommandSupport
import KymographTestKit
import Testing

/// What Bluetooth tools write while they run, read by the real binary.
@Suite struct RunCaptureTests {
    private static let attribute = "[CHG] Attribute /org/bluez/hci0/dev_24_AC_AC_00_11_22/service000b/char000f Value:"

    /// The catalogue's strap with the handles of two models.
    private func mapping(_ folder: TemporaryFolder) throws -> String {
        let exported = try Kymo.run(["mappings", "--export", "heart-rate-strap", folder.file("strap")])
        #expect(exported.end == .exit(0), "\(exported.error)")
        let file = folder.file("strap/device.json")
        let text = Files.text(file).replacing(
            #"{ "0x0012": "2A37" }"#,
            with: #"{ "A0:9E:1A:*": { "0x0012": "2A37" }, "24:AC:AC:*": { "0x0010": "2A37", "0x0012": "2A19" } }"#)
        #expect(text.contains("24:AC:AC"))
        Files.write(Array(text.utf8), to: file)
        return folder.file("strap")
    }

    /// The tools run on; what they say comes out meanwhile. One handle has another meaning in each model.
    @Test func toolsThatRun() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            ["run", "--stdin", "--framing", "capture", "--mapping", try mapping(folder), "--idle", "100ms"],
            environment: ["KYMO_OUTPUT_FORMAT": "ndjson"], input: .pipe)
        _ = try run.addresses()
        run.write(Array("[A0:9E:1A:5B:3C:01][LE]> \rNotification handle = 0x0012 value: 06 3c \r\n".utf8))
        try Waiting.until("the first strap: \(run.errorText)") {
            String(decoding: run.output, as: UTF8.self).contains("A0:9E:1A:5B:3C:01")
        }
        run.write(Array("\(Self.attribute)\n  06 3d                                            .=\n".utf8))
        try Waiting.until("the second strap: \(run.errorText)") {
            String(decoding: run.output, as: UTF8.self).contains("24:AC:AC:00:11:22")
        }
        let battery = Self.attribute.replacing("char000f", with: "char0011")
        run.write(Array("\(battery)\n  64                                               d\n".utf8))
        // No handle of this model.
        run.write(Array("[A0:9E:1A:5B:3C:01][LE]> \rNotification handle = 0x0010 value: 06 3e \r\n".utf8))
        run.write(Array("[A0:9E:1A:5B:3C:01][LE]> ".utf8))
        run.closeInput()
        let done = try run.finish()
        let balance = try #require(done.balance, "\(done.error)")
        #expect(balance.accepted == 2 && balance.reasons == ["noTemplate": 1, "unknownCharacteristic": 1])
        #expect(balance.isClosed && done.end == .exit(0), "\(done.error)")
    }

    /// Over a socket, for a cuff with a clock of its own, and a tool that tells no device.
    @Test func aSocketWithoutDevices() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(
            [
                "run", "--unix", folder.file("s.sock"), "--framing", "capture,device=cuff-1,utc-offset=+01:00",
                "--mapping", "blood-pressure-cuff",
            ], environment: ["KYMO_OUTPUT_FORMAT": "ndjson"])
        let address = try run.addresses()[0]
        try Sending.send(
            lines: [
                "I\t08:00:04.000\tConnected to 5C:31:3E:07:AA:10",
                "I\t08:00:05.123\tIndication received from 00002a35-0000-1000-8000-00805f9b34fb, value: (0x) "
                    + "DE-F6-F4-16-F3-FF-07-E4-07-01-14-08-2B-00-B2-F2-01-80-00",
            ], to: address)
        let done = try run.terminate()
        #expect(done.balance?.accepted == 2 && done.balance?.received == 2, "\(done.error)")
        #expect(done.lines.filter { $0.contains("2020-01-20T08:43:00+01:00") && $0.contains("cuff-1") }.count == 2)
    }

    /// A recording goes the way of a bridge: the packets that it holds are charted at the times that it holds.
    @Test func aRecordingIsReplayed() throws {
        let folder = TemporaryFolder()
        func big(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        }
        let records = (0..<60).flatMap { second -> [UInt8] in
            // A notification of handle 18 with a rate of 60 and more, on connection 64.
            let data: [UInt8] = [0x02, 0x40, 0x20, 9, 0, 5, 0, 4, 0, 0x1B, 0x12, 0x00, 0x06, UInt8(60 + second)]
            let time = UInt64(1_772_352_000 + second) * 1_000_000 + 0x00DC_DDB3_0F2F_8000
            let size = big(UInt64(data.count), 4)
            return size + size + big(1, 4) + big(0, 4) + big(time, 8) + data
        }
        let file = folder.file("night.btsnoop")
        Files.write(Array("btsnoop\0".utf8) + big(1, 4) + big(1_002, 4) + records, to: file)
        let run = try Kymo.start(
            ["run", "--unix", folder.file("s.sock"), "--mapping", "heart-rate-strap"],
            environment: ["KYMO_OUTPUT_FORMAT": "ndjson"])
        _ = try run.addresses()
        let replay = try Kymo.run(
            [
                "replay", file, "--speed", "max", "--device", "strap-1", "--unix", folder.file("s.sock"),
                "--utc-offset", "+00:00",
            ])
        #expect(replay.end == .exit(0), "\(replay.error)")
        let done = try run.terminate()
        #expect(done.balance?.accepted == 60 && done.balance?.received == 60, "\(done.error)")
        let readings = (0..<60).map { Readings.heartRate(second: $0, value: 60 + $0, device: "strap-1") }
        let plain = try Kymo.run(
            ["run", "--stdin"], environment: ["KYMO_OUTPUT_FORMAT": "ndjson"],
            input: .bytes(Readings.ndjson(readings.map { $0.replacing("Z\"", with: "+00:00\"") })))
        let rates = done.lines.filter { $0.contains("\"8867-4\"") }
        #expect(rates.count == 1 && rates == plain.lines.filter { $0.contains("\"8867-4\"") })
    }

    /// What is refused is a dead letter with the frame, which states when it came, and can be sent again.
    @Test func lettersAreFrames() throws {
        let folder = TemporaryFolder()
        let arguments = [
            "run", "--stdin", "--framing", "capture,device=d", "--mapping", "heart-rate-strap", "--data",
            folder.file("data"),
        ]
        let done = try Kymo.run(
            arguments, input: .bytes(Array("Notification handle = 0x0099 value: 06 3c\n".utf8)))
        #expect(done.balance?.reasons == ["unknownCharacteristic": 1], "\(done.error)")
        let late = try Kymo.run(
            ["dead", "replay", "--all", "--framing", "capture,device=d", "--mapping", "bluetooth-battery"]
                + ["--data", folder.file("data")])
        #expect(late.error.contains("letter 1: rejected again: unknownCharacteristic"), "\(late.error)")
    }
}
