import Foundation
import Testing

@testable import KymographCore

/// Several binary frames in one datagram, and what a broken one among them costs.
@Suite struct FrameBatchTests {
    private let run: PacketRun

    init() throws { run = try PacketRun("gatt") }

    /// A frame of one heart rate.
    private func frame(
        _ beats: UInt8, device: [UInt8] = Array("strap-1".utf8), time: String = "d0f71c05f14b0600",
        offset: String = "3c00", version: UInt8 = 1
    ) -> [UInt8] {
        [0x4B, version, 1, UInt8(device.count)] + device
            + PacketRun.bytes("372a \(time) \(offset) 0200 06") + [beats]
    }

    /// The frame that docs/gatt.md shows byte for byte.
    @Test func theDocumentedExample() throws {
        let example = "4b 01 03 07 73747261702d31 372a d0f71c05f14b0600 3c00 11000000 0400 163c1104"
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appendingPathComponent("docs/gatt.md"), encoding: .utf8)
        #expect(text.contains(example))
        let outcome = run.datagram(PacketRun.bytes(example))
        #expect(outcome.values("time").first == "2026-03-01T08:00:05.250+01:00" && outcome.rejections.isEmpty)
        #expect(outcome.values("heartRate").first == "60" && outcome.values("bridgeSequence").first == "17")
        #expect(outcome.readings.allSatisfy { $0.device == "strap-1" })
    }

    /// As many as a datagram of an Ethernet packet holds, in order, and the same one twice is read twice.
    @Test func manyFrames() {
        let outcome = run.datagram((0..<50).flatMap { frame($0) } + frame(49))
        #expect(outcome.values("heartRate") == (0..<50).map(String.init) + ["49"] && outcome.rejections.isEmpty)
    }

    /// A frame with borders and no meaning costs itself.
    @Test(arguments: [
        ("device", Rejection.invalidUTF8), ("offset", .invalidTimestamp), ("time", .invalidTimestamp),
        ("packet", .truncatedPacket), ("characteristic", .unknownCharacteristic),
    ])
    func aFrameWithoutMeaning(part: String, reason: Rejection) {
        let broken: [UInt8] =
            switch part {
            case "device": frame(61, device: [0xFF, 0xFE])
            case "offset": frame(61, offset: "ff7f")
            case "time": frame(61, time: "ffffffffffffff7f")
            case "packet": PacketRun.bytes("4b010000 372a 0100 06")
            default: PacketRun.bytes("4b010000 012a 0100 06")
            }
        let outcome = run.datagram(frame(60) + broken + frame(62))
        #expect(outcome.values("heartRate") == ["60", "62"] && outcome.reasons == [reason])
    }

    /// Behind a frame whose borders cannot be trusted nothing can be found: it costs the rest of the datagram, once,
    /// even if a byte of that looks like a line end.
    @Test(arguments: ["version", "flags", "length", "magic"]) func aFrameWithoutBorders(part: String) {
        let broken: [UInt8] =
            switch part {
            case "version": frame(61, version: 2)
            case "flags": PacketRun.bytes("4b0140") + frame(61).dropFirst(3)
            case "length": PacketRun.bytes("4b010000 372a ffff 06")
            default: [0x00, 0x0A] + frame(61)
            }
        let outcome = run.datagram(frame(60) + broken + [0x0A, 0x58] + frame(62))
        #expect(outcome.values("heartRate") == ["60"] && outcome.reasons == [.invalidBridgeFrame])
    }

    /// Wherever the datagram was cut, the frames before are read, and the rest is refused once.
    @Test func cutAnywhere() {
        let whole = frame(60) + frame(61)
        for count in 1..<whole.count {
            let outcome = run.datagram(Array(whole[..<count]))
            let first = frame(60).count
            #expect(outcome.readings.count == (count < first ? 0 : 1), "\(count)")
            #expect(outcome.reasons == (count == first ? [] : [.invalidBridgeFrame]), "\(count)")
        }
    }
}
