import Testing

@testable import KymographCore

/// Handles of frames: what they mean depends on the model of the device, and is never guessed.
@Suite struct HandleTableTests {
    private func run(_ handles: String) throws -> PacketRun { try PacketRun("gatt", top: ",\"handles\":{\(handles)}") }

    /// What handle 18 of `device` is, or why nothing.
    private func meaning(_ run: PacketRun, _ device: String?, handle: Int = 18) -> String {
        let member = device.map { "\"device\":\"\($0)\"," } ?? ""
        let outcome = run.frame("\(member)\"handle\":\(handle),\"value\":\"0064\"")
        return outcome.values("characteristic").first.flatMap { $0 } ?? outcome.reasons.first?.name ?? ""
    }

    /// The same packet of two models: a heart rate of 100, and a cadence that is cut off.
    @Test func eachModelHasItsOwn() throws {
        let run = try run(
            #""A0:*":{"0x12":"2A37"},"24:AC:*":{"0x0012":"2A53","0x0013":"2A37"},"0x0012":"2A19","0x0014":"2A37""#)
        #expect(meaning(run, "A0:9E:1A:5B:3C:01") == "2A37")
        #expect(meaning(run, "24:AC:11") == "truncatedPacket")
        #expect(meaning(run, "24:AC:11", handle: 19) == "2A37")
        // Upper and lower case differ; other devices, and no device, have what stands beside the patterns.
        for device in ["a0:9e", "strap", nil] {
            #expect(meaning(run, device) == "malformedPacket")
            #expect(meaning(run, device, handle: 20) == "2A37")
        }
        // What a model does not have is not looked for among others.
        #expect(meaning(run, "A0:1", handle: 19) == "unknownCharacteristic")
        #expect(meaning(run, "A0:1", handle: 20) == "unknownCharacteristic")
    }

    @Test func theFirstTableThatHasTheHandle() throws {
        let run = try run(#""A*":{"0x12":"2A37"},"*1":{"0x12":"2A53","0x13":"2A37"}"#)
        #expect(meaning(run, "A-1") == "2A37" && meaning(run, "A-1", handle: 19) == "2A37")
        #expect(meaning(run, "B-1") == "truncatedPacket" && meaning(run, "A-2", handle: 19) == "unknownCharacteristic")
    }

    /// Names as JSON may write them, and as binary frames do.
    @Test func escapedNames() throws {
        let run = try run(#""Gurt \"é\" *":{"0x12":"2A37"}"#)
        #expect(meaning(run, #"Gurt \"é\" 1"#) == "2A37" && meaning(run, #"Gurt \u0022\u00e9\u0022 1"#) == "2A37")
        let name = Array("Gurt \"é\" 1".utf8)
        let frame = [0x4B, 1, 4, UInt8(name.count)] + name + [0x12, 0, 2, 0, 0, 0x64]
        #expect(run.datagram(frame).values("characteristic") == ["2A37"])
    }

    @Test func tablesOfSeveralMappings() throws {
        func tables(_ common: [UInt16: UInt16], _ models: [(String, [UInt16: UInt16])]) -> HandleTables {
            HandleTables(
                common: common.mapValues { BluetoothUUID(number: $0) },
                models: models.map { name, table in
                    .init(devices: NamePattern(name), characteristics: table.mapValues { BluetoothUUID(number: $0) })
                })
        }
        let strap = tables([1: 0x2A37], [("A*", [2: 0x2A37])])
        let battery = tables([1: 0x2A37, 3: 0x2A19], [("A*", [4: 0x2A19]), ("B*", [2: 0x2A19])])
        let both = tables([1: 0x2A37, 3: 0x2A19], [("A*", [2: 0x2A37, 4: 0x2A19]), ("B*", [2: 0x2A19])])
        #expect(try strap.joined(with: battery) == both)
        #expect(throws: PayloadConflict.handle(1)) { try strap.joined(with: tables([1: 0x2A19], [])) }
        #expect(throws: PayloadConflict.handle(2)) { try strap.joined(with: tables([:], [("A*", [2: 0x2A19])])) }
    }
}
