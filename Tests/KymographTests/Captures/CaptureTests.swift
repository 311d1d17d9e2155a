import Kymograph
import KymographCore
import Testing

/// Recordings of Bluetooth tools give the packets that were in them.
@Suite struct CaptureTests {
    private func packets(_ text: String) -> [CapturedPacket] { TextCapture.packets(of: Array(text.utf8)) }

    private static let strap: [UInt8] = [0x16, 0x3C, 0x11, 0x04]

    @Test func gatttool() {
        let text = """
            [A0:9E:1A:5B:3C:01][LE]> char-write-req 0x0013 0100
            Characteristic value was written successfully
            \u{1B}[34m[A0:9E:1A:5B:3C:01]\u{1B}[0m[LE]> \rNotification handle = 0x0012 value: 16 3c 11 04 \r
            Indication   handle = 0x0021 value: 04 53 0d 00 fe 09
            Notification handle = 0x0012 value: 16 3c x1
            """
        let address: IdentifierText = "A0:9E:1A:5B:3C:01"
        #expect(
            packets(text) == [
                CapturedPacket(device: address, name: .handle(0x12), value: Self.strap),
                CapturedPacket(device: address, name: .handle(0x21), value: [0x04, 0x53, 0x0D, 0x00, 0xFE, 0x09]),
            ])
        #expect(packets("Notification handle = 0x0012 value: 16 3c 11 04")[0].device == nil)
    }

    @Test func bluetoothctl() {
        let attribute = "[CHG] Attribute /org/bluez/hci0/dev_A0_9E_1A_5B_3C_01/service000b/char000c Value:"
        let text = """
            \u{01}\u{1B}[0;94m\u{02}[Polar H7]\u{01}\u{1B}[0m\u{02}# \(attribute)
              16 3c 11 04                                      .<..
            [\u{1B}[0;93mCHG\u{1B}[0m] Device A0:9E:1A:5B:3C:01 RSSI: -60
            \(attribute)
              10 aa 00 00 01 00 02 00 03 00 f3 03 fc ff fd ff  ................
              fe ff ff ff                                      ....
            """
        let found = packets(text)
        #expect(found.map(\.name) == [.handle(13), .handle(13)] && found[0].device == "A0:9E:1A:5B:3C:01")
        #expect(found.map(\.value.count) == [4, 20] && found[0].value == Self.strap && found[1].value[16] == 0xFE)
    }

    /// A dump that fills its lines ends with whatever comes next, and with the recording.
    @Test func dumpsThatFillTheirLines() {
        let line = "  06 3c 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d  .<.............."
        let attribute = "[CHG] Attribute /org/bluez/hci0/dev_A0_9E_1A_5B_3C_01/service000b/char000c Value:"
        let short = "  06 3c                                            .<"
        let lines = [attribute, line, line, attribute, line, "other", attribute, short, short, attribute, line]
        var capture = TextCapture()
        var sizes = lines.map { text in capture.packets(in: text).map(\.value.count) }
        sizes.append(capture.finish().map(\.value.count))
        // A line that is not full ends a dump at once, and nothing is left of it then.
        #expect(sizes == [[], [], [], [32], [], [16], [], [2], [], [], [], [16]])
    }

    /// No characteristic has more than 512 bytes: what goes on is none, and neither kept nor cut.
    @Test func endlessDumpsArePassedOver() {
        let attribute = "[CHG] Attribute /org/bluez/hci0/dev_A0_9E_1A_5B_3C_01/service000b/char000c Value:"
        let line = "  06 3c 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d  .<.............."
        let longest = [attribute] + Array(repeating: line, count: 32)
        #expect(packets(longest.joined(separator: "\n")).map(\.value.count) == [512])
        let endless = longest + Array(repeating: line, count: 10_000) + [attribute, "  06 3c       .<"]
        #expect(packets(endless.joined(separator: "\n")).map(\.value) == [[0x06, 0x3C]])
    }

    @Test func btmonAndConnect() {
        let text = """
            > ACL Data RX: Handle 64 flags 0x02 dlen 11              #12 [hci0] 3.456789
                  ATT: Handle Value Notification (0x1b) len 6
                    Handle: 0x0012
                      Data: 163c1104
            > ACL Data RX: Handle 64 flags 0x02 dlen 11              #13 [hci0] 4.456789
                  ATT: Handle Value Indication (0x1d) len 6
                    Handle: 0x0012 Type: Heart Rate Measurement (0x2a37)
                      Data[4]: 163c1104
            I\t08:00:05.123\tNotification received from 00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 16-3C-11-04
            """
        let found = packets(text)
        #expect(found.map(\.value) == [Self.strap, Self.strap, Self.strap])
        #expect(
            found.map(\.name) == [.handle(0x12), .handle(0x12), .uuid("00002a37-0000-1000-8000-00805f9b34fb")])
    }

    // MARK: btsnoop

    private func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    /// A file of link type `link`: flags and data of each record, one a second from 2026-03-01T08:00:00Z.
    private func file(_ link: UInt64, _ records: [(flags: UInt64, data: [UInt8])]) -> [UInt8] {
        var bytes = SnoopCapture.magic + big(1, 4) + big(link, 4)
        for (index, record) in records.enumerated() {
            let size = UInt64(record.data.count)
            let time = UInt64(1_772_352_000 + index) * 1_000_000 + 0x00DC_DDB3_0F2F_8000
            bytes += big(size, 4) + big(size, 4) + big(record.flags, 4) + big(0, 4) + big(time, 8) + record.data
        }
        return bytes
    }

    /// An L2CAP packet of the attribute protocol on connection 64.
    private func data(_ attribute: [UInt8]) -> [UInt8] {
        let packet = [UInt8(attribute.count), 0, 4, 0] + attribute
        return [0x40, 0x20, UInt8(packet.count), 0] + packet
    }

    private static let connected: [UInt8] =
        [0x3E, 0x13, 0x01, 0x00, 0x40, 0x00, 0x00, 0x00, 0x01, 0x3C, 0x5B, 0x1A, 0x9E, 0xA0, 0, 0, 0, 0, 0, 0, 0]

    @Test func snoopFiles() throws {
        let notification = data([0x1B, 0x12, 0x00] + Self.strap)
        let several = data([0x23, 0x12, 0x00, 0x02, 0x00, 0x06, 0x3C, 0x19, 0x00, 0x01, 0x00, 0x64])
        let expected = [
            CapturedPacket(
                device: "A0:9E:1A:5B:3C:01", name: .handle(0x12), time: Instant(seconds: 1_772_352_001),
                value: Self.strap)
        ]
        let serial = file(1_002, [(3, [4] + Self.connected), (1, [2] + notification), (0, [2] + notification)])
        #expect(try SnoopCapture.packets(of: serial) == expected)
        #expect(try SnoopCapture.packets(of: file(1_001, [(3, Self.connected), (1, notification)])) == expected)
        let monitor = file(2_001, [(0x0001_0003, Self.connected), (5, notification), (4, notification), (5, several)])
        let found = try SnoopCapture.packets(of: monitor)
        #expect(found.prefix(1) == expected[...])
        #expect(found.dropFirst().map(\.value) == [[0x06, 0x3C], [0x64]])
        #expect(found.map(\.name) == [.handle(0x12), .handle(0x12), .handle(0x19)])
    }

    /// A packet in two parts, with one of another connection between.
    @Test func partsArePutTogether() throws {
        let packet = data([0x1B, 0x12, 0x00] + Self.strap)
        let first: [UInt8] = [0x40, 0x20, 5, 0] + packet[4..<9]
        let second: [UInt8] = [0x40, 0x10, 6, 0] + packet[9...]
        var other = data([0x1D, 0x21, 0x00, 0x01])
        other[0] = 0x41
        let found = try SnoopCapture.packets(of: file(2_001, [(5, first), (5, other), (5, second)]))
        #expect(found.map(\.value) == [[0x01], Self.strap])
    }

    /// A recording may begin within a packet: its rest is none, whatever it looks like.
    @Test func aRestIsNoPacket() throws {
        let packet = data([0x1B, 0x12, 0x00] + Self.strap)
        let rest: [UInt8] = [0x40, 0x10, UInt8(packet.count - 4), 0] + packet[4...]
        #expect(try SnoopCapture.packets(of: file(2_001, [(5, rest)])).isEmpty)
        #expect(try SnoopCapture.packets(of: file(2_001, [(5, packet), (5, rest)])).map(\.value) == [Self.strap])
    }

    @Test func filesThatAreNone() {
        #expect(throws: SnoopCapture.Failure.notBTSnoop) { try SnoopCapture.packets(of: Array("btsnoop".utf8)) }
        #expect(throws: SnoopCapture.Failure.unknownLink(1)) { try SnoopCapture.packets(of: file(1, [])) }
        let whole = file(1_002, [(1, [2] + data([0x1B, 0x12, 0x00]))])
        #expect(throws: SnoopCapture.Failure.truncated(16)) { try SnoopCapture.packets(of: Array(whole.dropLast())) }
    }

    @Test func framesOfPackets() {
        let time = Instant(seconds: 1_772_352_001)
        let known = CapturedPacket(device: "A", name: .handle(18), time: time, value: [0x06, 0xFC])
        #expect(
            String(decoding: known.frame(device: "B", offsetMinutes: 60), as: UTF8.self)
                == #"{"device":"A","handle":18,"time":"2026-03-01T09:00:01+01:00","value":"06fc"}"#)
        let unknown = CapturedPacket(name: .uuid("2A37"), value: [])
        #expect(
            String(decoding: unknown.frame(device: "B", offsetMinutes: 0), as: UTF8.self)
                == #"{"device":"B","characteristic":"2A37","value":""}"#)
        #expect(unknown.frame(device: nil, offsetMinutes: 0) == Array(#"{"characteristic":"2A37","value":""}"#.utf8))
    }
}
