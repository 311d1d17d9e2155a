import CommandSupport
import Testing

/// `kymo replay` of recordings of Bluetooth tools.
@Suite struct ReplayCaptureTests {
    private static let log = """
        [A0:9E:1A:5B:3C:01][LE]> char-write-req 0x0013 0100
        Notification handle = 0x0012 value: 06 3c
        Notification handle = 0x0012 value: 06 3d
        Indication   handle = 0x0012 value: 06 3e
        """

    @Test func terminalOutputIsSentAsFrames() throws {
        let folder = TemporaryFolder()
        let file = folder.write("terminal.log", Self.log)
        let done = try Kymo.run(["replay", file, "--capture", "--stdout", "--rate", "1000"])
        #expect(done.end == .exit(0), "\(done.error)")
        #expect(
            done.lines
                == ["063c", "063d", "063e"].map {
                    #"{"device":"A0:9E:1A:5B:3C:01","handle":18,"value":"\#($0)"}"#
                })
    }

    /// Six hours of offset, and a file that ends within a record.
    @Test func snoopFiles() throws {
        let folder = TemporaryFolder()
        let record: [UInt8] = [0x02, 0x40, 0x20, 9, 0, 5, 0, 4, 0, 0x1B, 0x12, 0x00, 0x06, 0x3C]
        let time = (1_772_352_000 * 1_000_000 + 0x00DC_DDB3_0F2F_8000) as UInt64
        func big(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        }
        let size = big(UInt64(record.count), 4)
        let bytes =
            Array("btsnoop\0".utf8) + big(1, 4) + big(1_002, 4) + size + size + big(1, 4) + big(0, 4)
            + big(time, 8) + record
        Files.write(bytes, to: folder.file("a.btsnoop"))
        let done = try Kymo.run(
            ["replay", folder.file("a.btsnoop"), "--stdout", "--device", "d", "--utc-offset", "-06:00"])
        #expect(
            done.lines == [#"{"device":"d","handle":18,"time":"2026-03-01T02:00:00-06:00","value":"063c"}"#],
            "\(done.error)")
        Files.write(Array(bytes.dropLast()), to: folder.file("b.btsnoop"))
        let cut = try Kymo.run(["replay", folder.file("b.btsnoop"), "--stdout"])
        #expect(cut.end == .exit(65) && cut.error.contains("ends within the record at byte 16"))
        #expect(try Kymo.run(["replay", "a", "--stdout", "--utc-offset", "6"]).end == .exit(64))
    }

    /// What is called a recording of packets and is none is not sent as text.
    @Test(arguments: [("night.btsnoop", Self.log), ("btsnoop_hci.log", "\u{A}\u{D}nothing"), ("NIGHT.BTSNOOP", "")])
    func noSnoopFile(name: String, content: String) throws {
        let folder = TemporaryFolder()
        let file = folder.write(name, content)
        let done = try Kymo.run(["replay", file, "--stdout", "--rate", "1000"])
        #expect(done.end == .exit(65) && done.output.isEmpty, "\(done.text)")
        #expect(done.error.contains("\(file): this is no btsnoop file"), "\(done.error)")
        #expect(done.error.contains("--capture"), "\(done.error)")
        // What a tool has written may be called anything.
        let text = try Kymo.run(["replay", file, "--stdout", "--capture", "--rate", "1000"])
        #expect(text.end == .exit(0) && text.lines.count == (content == Self.log ? 3 : 0), "\(text.error)")
    }
}
