import Foundation
import KymographTestKit
import Testing

@testable import KymographCore
import TrialSupport

/// Frames of bridges: what is taken, and what is refused with which reason.
@Suite struct BridgeFrameTests {
    private let run: PacketRun

    init() throws {
        run = try PacketRun("gatt", top: #","handles":{"0x0012":"2A37","0x21":"2A19"}"#)
    }

    /// A binary frame: flags, device, name and what follows.
    private func binary(_ flags: UInt8, _ device: String, _ rest: String) -> [UInt8] {
        [0x4B, 1, flags, UInt8(device.utf8.count)] + Array(device.utf8) + PacketRun.bytes(rest)
    }

    @Test(arguments: [
        #""characteristic":"2A37","value":"063c""#, #""characteristic":"0x2a37","value":"06 3C""#,
        #""characteristic":"00002a37-0000-1000-8000-00805f9b34fb","value":"06-3c""#,
        #""characteristic":"00002A3700001000800000805F9B34FB","value":"06:3c""#,
        #""handle":18,"value":"063c""#, #""handle":"0x0012","base64":"Bjw=""#, #""handle":"0x12","base64":"Bjw""#,
        #""other":[{"a":1}],"characteristic":"2A37","value":"063c","device":null,"time":null"#,
    ])
    func oneMeaning(_ members: String) throws {
        let outcome = run.frame(members)
        #expect(outcome.values("heartRate") == ["60"] && outcome.values("characteristic") == ["2A37"])
    }

    @Test func whoseItIs() throws {
        let outcome = run.frame(#""device":"A \"1\"","sequence":41,"characteristic":"2A19","value":"64""#)
        #expect(outcome.readings[0].device == #"A "1""# && outcome.values("bridgeSequence") == ["41"])
        #expect(run.frame(#""device":17,"characteristic":"2A19","value":"64""#).readings[0].device == "17")
        #expect(run.frame(#""characteristic":"2A19","value":"64""#).readings[0].device == "default")
    }

    @Test(arguments: [
        (#""value":"063c""#, Rejection.invalidBridgeFrame), (#""characteristic":"2A37""#, .invalidBridgeFrame),
        (#""characteristic":"2A3","value":"063c""#, .invalidBridgeFrame),
        (#""characteristic":"2A37","value":"063""#, .invalidBridgeFrame),
        (#""characteristic":"2A37","value":"heart""#, .invalidBridgeFrame),
        (#""characteristic":"2A37","value":5"#, .invalidBridgeFrame),
        (#""characteristic":"2A37","base64":"Bjw==""#, .invalidBridgeFrame),
        (#""characteristic":"2A37","value":"063c","base64":"Bjw=""#, .invalidBridgeFrame),
        (#""characteristic":"2A37","base64":"B""#, .invalidBridgeFrame),
        (#""characteristic":"2A37","base64":"Bj-8""#, .invalidBridgeFrame),
        (#""handle":70000,"value":"063c""#, .invalidBridgeFrame),
        (#""handle":"18","value":"063c""#, .invalidBridgeFrame),
        (#""handle":19,"value":"063c""#, .unknownCharacteristic),
        (#""characteristic":"2A38","value":"01""#, .unknownCharacteristic),
        (#""characteristic":"6e400003-b5a3-f393-e0a9-e50e24dcca9e","value":"01""#, .unknownCharacteristic),
        (#""characteristic":"2A37","value":"063c","time":"now""#, .invalidTimestamp),
        (#""characteristic":"2A37","value":"063c","sequence":-1"#, .invalidBridgeFrame),
        (#""characteristic":"2AA7","value":"06000c100600","session":"ea07""#, .truncatedPacket),
        (#""characteristic":"2AA7","value":"06000c100600","feature":"001000ffff01""#, .malformedPacket),
        // The bytes above 0x7F were made UTF-8: a real meter behind a bridge that sends text.
        (#""characteristic":"2A18","value":"1b0400c3a407070e0b06055a0277c2b0c3b80000""#, .malformedPacket),
    ])
    func refused(_ members: String, _ reason: Rejection) throws {
        let outcome = run.frame(members)
        #expect(outcome.readings.isEmpty && outcome.reasons == [reason], "\(members)")
        #expect(outcome.rejections.first?.text == "{\(members)}")
    }

    @Test func binaryFrames() throws {
        let time = "d0f71c05f14b0600" + "3c00"
        let all = run.datagram(binary(3, "strap", "372a" + time + "07000000" + "0200063c"))
        #expect(all.values("time") == ["2026-03-01T08:00:05.250+01:00"] && all.values("heartRate") == ["60"])
        #expect(all.values("bridgeSequence") == ["7"] && all.readings[0].device == "strap")
        #expect(run.datagram(binary(4, "", "1200" + "0200063c")).values("heartRate") == ["60"])
        let long = binary(8, "d", "fb349b5f8000008000100000372a0000" + "0200063c")
        #expect(run.datagram(long).values("heartRate") == ["60"])
        let session = binary(48, "d", "a72a" + "09ea0703010700000404" + "06001000ffff" + "0000")
        #expect(run.datagram(session).reasons == [.invalidBridgeFrame])
        let sensor = binary(48, "d", "a72a" + "09ea0703010700000404" + "05001000ffff" + "080008000c100600596f")
        #expect(run.datagram(sensor).values("time") == ["2026-03-01T07:06:00+02:00"])
    }

    @Test func severalFramesOfADatagram() throws {
        let json = Array(#"{"characteristic":"2A19","value":"0f"}"#.utf8)
        let outcome = run.datagram(
            binary(0, "a", "192a" + "010064") + binary(0, "b", "192a" + "010032") + [0x0A] + json + [0x0A] + json)
        #expect(outcome.values("batteryLevel") == ["100", "50", "15", "15"])
        let spoiled = run.datagram(json + Array("\n{\"value\":}\n".utf8) + json)
        #expect(spoiled.values("batteryLevel") == ["15", "15"] && spoiled.reasons == [.invalidJSON])
        #expect(run.datagram([0x0A, 0x20]).rejections.isEmpty)
        let foreign = run.datagram(Array("x {\n\u{FF}y\n".utf8) + json)
        #expect(foreign.values("batteryLevel") == ["15"] && foreign.rejections.map(\.text) == ["x {", "\u{FF}y"])
        #expect(foreign.reasons == [.invalidBridgeFrame, .invalidBridgeFrame])
    }

    /// What other members hold is passed over, however much that is.
    @Test func otherMembersArePassedOver() throws {
        let frame = #""characteristic":"2A19","value":"0f""#
        let deep = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        #expect(run.frame(#""other":\#(deep),\#(frame)"#).values("batteryLevel") == ["15"])
        let many = (0..<200).map { #""m\#($0)":\#($0)"# }.joined(separator: ",")
        #expect(run.frame("\(many),\(frame)").values("batteryLevel") == ["15"])
        let list = "[" + (0..<4_000).map(String.init).joined(separator: ",") + "]"
        #expect(run.frame(#""other":\#(list),\#(frame)"#).values("batteryLevel") == ["15"])
        #expect(run.frame(#""other":\#(list),"more":\#(list),\#(frame)"#).reasons == [.tooManyValues])
    }

    /// Packets have as many members as their layouts: the limit on values is for documents.
    @Test func aLowLimitOfValues() throws {
        var run = try PacketRun("gatt")
        run.run.limits = ScanLimits(values: 1)
        let head = #""device":"d","characteristic":"2A37""#
        #expect(run.frame(#"\#(head),"value":"063c""#).values("heartRate") == ["60"])
        #expect(run.frame(#"\#(head),"value":"163c00040002""#).readings.count == 3)
    }

    @Test(arguments: [
        "4b0200000037 2a0200063c", "4b01ff000037 2a0200063c", "4b010000372a0300063c", "4b0100", "4b01000161",
        "4b010001ff372a0200063c",
    ])
    func refusedBinary(_ hex: String) throws {
        let outcome = run.packet(hex)
        #expect(outcome.readings.isEmpty && outcome.rejections.count == 1)
        #expect([.invalidBridgeFrame, .invalidUTF8].contains(try #require(outcome.reasons.first)))
    }

    @Test func linesCarryFramesOrHexadecimal() throws {
        #expect(run.run.line(#"{"handle":18,"value":"063c"}"#).values("heartRate") == ["60"])
        #expect(run.run.line(#"{"handle":18,"value":"063c"} x"#).reasons == [.invalidBridgeFrame])
        #expect(run.run.line("  ").rejections.isEmpty)
        let bare = try PacketRun("gatt/2A37")
        #expect(bare.run.line(" 16 3c 11 04 ").values("heartRate") == ["60", nil])
        #expect(bare.run.line("163c1").reasons == [.invalidBridgeFrame])
    }

    /// Whatever comes, it is taken or refused with a reason, once.
    @Test(arguments: Trials.seeds(tenthOf: 20)) func anythingIsAnswered(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var runs = [run, try PacketRun("binary", top: #","fields":[{"name":"a","offset":3,"bytes":8}]"#)]
        runs += try GATTCharacteristic.allCases.map { try PacketRun("gatt/\($0.name)") }
        for _ in 0..<60 {
            for (index, run) in runs.enumerated() {
                var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if index == 0, !bytes.isEmpty { bytes[0] = [0x4B, 0x7B].randomElement(using: &random) ?? 0 }
                let outcome = run.datagram(bytes)
                let isBlank = index == 0 && bytes.isEmpty
                #expect(outcome.readings.isEmpty != outcome.rejections.isEmpty || isBlank, "seed \(seed): \(bytes)")
            }
        }
    }

    /// What decoders write is what the check of templates knows: no member more, and none less.
    @Test(arguments: GATTCharacteristic.allCases)
    func membersAreThoseThatAreListed(_ characteristic: GATTCharacteristic) throws {
        var stage = PacketStage(PacketForm(carrier: .value(characteristic)), needs: PacketNeeds(names: []))
        var random = SeededGenerator(seed: Trials.seed(UInt64(characteristic.rawValue)))
        var written: Set<String> = []
        for _ in 0..<10_000 {
            let storage = PaddedBytes(copying: packet(of: characteristic, &random))
            guard stage.read(storage.view, from: 0, received: Instant(seconds: 0)).failure == nil else { continue }
            for index in 0..<stage.count {
                let object = try JSONSerialization.jsonObject(with: Data(stage[index].array)) as? [String: Any]
                written.formUnion(try #require(object).keys)
            }
        }
        written.subtract(GATTCharacteristic.commonMembers)
        #expect(written == Set(characteristic.members))
    }

    /// Low bytes make dates; behind a random place there are all bits, and single ones.
    private func packet(of characteristic: GATTCharacteristic, _ random: inout SeededGenerator) -> [UInt8] {
        let isRecord = characteristic == .continuousGlucose
        let count = characteristic == .battery ? 1 : Int.random(in: 6...(isRecord ? 13 : 25), using: &random)
        let place = Int.random(in: 1...count, using: &random)
        let bytes = (0..<count).map { index in
            if index == (isRecord ? 1 : 0) { return UInt8.random(in: 0...255, using: &random) }
            if index < place { return UInt8.random(in: 0...11, using: &random) }
            let bit = UInt8(1) << UInt8.random(in: 0...7, using: &random)
            return Bool.random(using: &random) ? bit : UInt8.random(in: 0...255, using: &random)
        }
        return isRecord ? [UInt8(count)] + bytes.dropFirst() : bytes
    }
}
