import KymographCore
import Testing

/// Packets whose layout a mapping declares.
@Suite struct BinaryLayoutTests {
    private func value(_ field: String, _ hex: String) throws -> String? {
        let run = try PacketRun("binary", top: #","fields":[{"name":"x",\#(field)}]"#, members: ["x"])
        let outcome = run.packet(hex)
        return outcome.rejections.first.map { "\($0.reason)" } ?? outcome.values().first ?? nil
    }

    @Test(arguments: [
        (#""offset":1"#, "00ff", "255"), (#""offset":0,"type":"signed""#, "ff", "-1"),
        (#""offset":0,"bytes":2"#, "0102", "513"), (#""offset":0,"bytes":2,"endian":"big""#, "0102", "258"),
        (#""offset":1,"bytes":3,"type":"signed""#, "00feffff", "-2"),
        (#""offset":0,"bytes":3,"type":"signed","endian":"big""#, "800000", "-8388608"),
        (#""offset":0,"bit":7"#, "80", "1"), (#""offset":0,"bit":6"#, "80", "0"),
        (#""offset":0,"bit":4,"bits":4"#, "a5", "10"), (#""offset":0,"bit":4,"bits":4,"type":"signed""#, "a5", "-6"),
        (#""offset":0,"bytes":2,"bit":6,"bits":4"#, "8003", "14"),
        (#""offset":0,"bytes":2,"scale":0.01"#, "c409", "25.00"), (#""offset":0,"scale":0.5,"add":-40"#, "51", "0.5"),
        (#""offset":0,"scale":10"#, "07", "70"), (#""offset":0,"scale":2,"add":0.25"#, "03", "6.25"),
        (#""offset":0,"type":"sfloat""#, "6cf1", "36.4"), (#""offset":1,"type":"float""#, "00b00e00fe", "37.60"),
        (#""offset":0,"type":"sfloat""#, "ff07", "NaN"), (#""offset":0,"absent":[255,0]"#, "00", "NaN"),
        (#""offset":0,"bytes":2,"type":"signed","absent":[-1]"#, "ffff", "NaN"),
        (#""offset":0,"bytes":8,"type":"signed""#, "ffffffffffffffff", "-1"),
        (#""offset":0,"bytes":8"#, "ffffffffffffffff", "inexactNumber"),
        (#""offset":0,"bytes":7,"scale":1000000"#, "ffffffffffffff", "inexactNumber"),
        (#""offset":2"#, "0102", "truncatedPacket"),
    ])
    func fields(_ field: String, _ hex: String, _ expected: String) throws {
        #expect(try value(field, hex) == expected)
    }

    @Test func lengthHeaderAndOptionalFields() throws {
        let top = #","length":3,"header":"A5 5A","fields":[{"name":"x","offset":2}]"#
        let exact = try PacketRun("binary", top: top, members: ["x"])
        #expect(exact.packet("a55a07").values() == ["7"])
        #expect(exact.packet("a55a").reasons == [.truncatedPacket])
        #expect(exact.packet("a55a0708").reasons == [.malformedPacket])
        #expect(exact.packet("a5a507").reasons == [.malformedPacket])
        let fields = #","header":"01","fields":[{"name":"x","offset":1},{"name":"y","offset":2,"optional":true}]"#
        let open = try PacketRun("binary", top: fields, members: ["x", "y"])
        #expect(open.packet("0107").readings.map(\.values) == [["x": "7"]])
        #expect(open.packet("010708").readings.map(\.values) == [["x": "7", "y": "8"]])
        #expect(open.packet("").reasons == [.truncatedPacket])
    }

    /// A packet may end before an optional field, not within it.
    @Test func anOptionalFieldThatIsCut() throws {
        let fields = #","fields":[{"name":"x","offset":0},{"name":"y","offset":2,"bytes":3,"optional":true}]"#
        let run = try PacketRun("binary", top: fields, members: ["x", "y"])
        for whole in ["07", "0700"] { #expect(run.packet(whole).readings.map(\.values) == [["x": "7"]]) }
        for cut in ["070001", "07000100"] { #expect(run.packet(cut).reasons == [.truncatedPacket]) }
        #expect(run.packet("0700010000").readings.map(\.values) == [["x": "7", "y": "1"]])
    }

    @Test func ofACharacteristicOfABridge() throws {
        let uuid = "6E400003-B5A3-F393-E0A9-E50E24DCCA9E"
        let top = #","characteristic":"\#(uuid)","handles":{"0x0010":"\#(uuid)"},"fields":[{"name":"x","offset":0}]"#
        let run = try PacketRun("binary", top: top, members: ["x", "characteristic"])
        let frame = run.frame(#""characteristic":"\#(uuid)","value":"2a","device":"d""#)
        #expect(frame.values() == ["42"] && frame.values("characteristic") == [uuid.lowercased()])
        #expect(run.frame(#""handle":16,"value":"2a""#).values() == ["42"])
        #expect(
            run.frame(#""characteristic":"6e400002-b5a3-f393-e0a9-e50e24dcca9e","value":"2a""#).reasons
                == [.unknownCharacteristic])
    }
}
