import KymographCore
import Testing

/// When packets say that something was measured.
@Suite struct PacketTimeTests {
    private static let time = #""device":"d","time":"2026-03-01T08:00:05.250+01:00""#

    private func times(_ run: PacketRun, _ members: String) -> [String?] { run.frame(members).values("time") }

    /// The last interval ends when the packet comes; the others end where the next begins.
    @Test func intervalsAreTimedBackwards() throws {
        let outcome = try PacketRun("gatt").frame(
            #"\#(Self.time),"characteristic":"2A37","value":"163c 0004 0002 0004""#)
        #expect(outcome.rejections.isEmpty)
        #expect(outcome.values("heartRate") == ["60", nil, nil, nil])
        #expect(outcome.values("rrInterval") == [nil, "1000", "500", "1000"])
        #expect(
            outcome.values("time") == [
                "2026-03-01T08:00:05.250+01:00", "2026-03-01T08:00:03.750+01:00", "2026-03-01T08:00:04.250+01:00",
                "2026-03-01T08:00:05.250+01:00",
            ])
        #expect(
            outcome.values("start") == [
                nil, "2026-03-01T08:00:02.750+01:00", "2026-03-01T08:00:03.750+01:00", "2026-03-01T08:00:04.250+01:00",
            ])
    }

    /// 1041/1024 s is kept with all its digits.
    @Test func intervalsAreExact() throws {
        #expect(try PacketRun("gatt/2A37").packet("163c1104").values("rrInterval") == [nil, "1016.6015625"])
    }

    @Test func clocksOfDevicesTakeTheBridgesOffset() throws {
        let run = try PacketRun("gatt")
        let clock = #""characteristic":"2A35","value":"def6f416f3ff07e4070114082b00b2f2018000""#
        #expect(times(run, "\(Self.time),\(clock)") == ["2020-01-20T08:43:00+01:00"])
        // Z says nothing about the clocks beside the bridge, and neither does a frame without time.
        #expect(times(run, #""device":"d","time":"2026-03-01T07:00:05Z",\#(clock)"#) == [nil])
        #expect(times(run, clock) == [nil])
        #expect(run.frame(clock).values("deviceTime") == ["2020-01-20T08:43:00"])
        // A year of 0, and a day that no month has, are no times.
        for date in ["0000041114293b", "ea07021e080000"] {
            let members = #"\#(Self.time),"characteristic":"2A1C","value":"02 6c0100ff \#(date)""#
            #expect(run.frame(members).values("time") == [nil])
        }
    }

    @Test func glucoseTimesIncludeTheUsersOffset() throws {
        let value = #""characteristic":"2A18","value":"1b0400e407070e0b06055a0277b0f80000""#
        // 11:06:05 and 602 minutes.
        #expect(times(try PacketRun("gatt"), "\(Self.time),\(value)") == ["2020-07-14T21:08:05+01:00"])
    }

    private func frame(_ device: String, _ characteristic: String, _ value: String) -> [UInt8] {
        let time = #""time":"2026-03-01T08:00:05+01:00""#
        let packet = #""characteristic":"\#(characteristic)","value":"\#(value)""#
        return Array(#"{"device":"\#(device)",\#(time),\#(packet)}"#.utf8)
    }

    /// A context has the time of the record of its sequence number and device, and of no other.
    @Test func contextsHaveTheTimeOfTheirRecord() throws {
        let run = try PacketRun("gatt")
        let record = "000700ea070301070000"
        let context = "02070002"
        let outcome = run.datagrams([
            frame("a", "2A18", record), frame("b", "2A34", context), frame("a", "2A34", "02080002"),
            frame("a", "2A34", context),
        ])
        #expect(
            outcome.values("time") == ["2026-03-01T07:00:00+01:00", nil, nil, "2026-03-01T07:00:00+01:00"])
    }

    /// Numbers come again after a meter was reset; the context then belongs to the later record, whatever became of it.
    @Test(
        arguments: [
            // A control solution; a clock that is at fault.
            ("020700ea070301080000 70b01a", [.controlSolution]), ("080700ea070301080000 0008", []),
        ] as [(String, [Rejection])])
    func contextsOfRecordsWithoutTime(_ later: String, _ reasons: [Rejection]) throws {
        let outcome = try PacketRun("gatt").datagrams([
            frame("a", "2A18", "000700ea070301070000"), frame("a", "2A18", later), frame("a", "2A34", "02070002"),
        ])
        #expect(outcome.reasons == reasons)
        #expect(outcome.values("time").first == "2026-03-01T07:00:00+01:00")
        #expect(outcome.values("time").dropFirst().allSatisfy { $0 == nil } && outcome.readings.count >= 2)
    }

    /// The digits of the checksum of `hex`, the lower byte first.
    private static func checksum(_ hex: String) -> String {
        FrameEncoder.checksum(PacketRun.bytes(hex), Framing(.fixed(1), check: .crc16mcrf4xx))
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func sensorsCountMinutesFromTheirSession() throws {
        let run = try PacketRun("gatt")
        let records = #""device":"d","characteristic":"2AA7","value":"06000c10050006000d103c00""#
        #expect(times(run, records) == [nil, nil])
        // 2026-03-01 07:00:00, one hour east and daylight saving.
        let session = #""session":"ea0703010700000404""#
        #expect(times(run, "\(records),\(session)") == ["2026-03-01T07:05:00+02:00", "2026-03-01T08:00:00+02:00"])
        // The sensor's own checksum counts.
        let checked = #""session":"ea0703010700000404\#(Self.checksum("ea0703010700000404"))""#
        #expect(times(run, "\(records),\(checked)").first == "2026-03-01T07:05:00+02:00")
        let spoiled = #""session":"ea07030107000004040000""#
        #expect(run.frame("\(records),\(spoiled)").reasons == [.wrongChecksum])
        // A zone that the sensor does not know is that of the bridge.
        let unknown = #""session":"ea07030107000080ff","time":"2026-03-01T08:00:05-05:00""#
        #expect(times(run, "\(records),\(unknown)") == ["2026-03-01T07:05:00-05:00", "2026-03-01T08:00:00-05:00"])
    }

    @Test func clocksThatWereNeverSetTellNoTime() throws {
        let outcome = try PacketRun("gatt").frame(
            #"\#(Self.time),"characteristic":"2A5E","value":"1761006000e10701010122132000200000""#)
        #expect(outcome.values("time") == [nil] && outcome.values("oxygenSaturation") == ["97"])
        #expect(outcome.values("clockNotSet").first??.lowercased() == "true")
    }

    /// A bare value comes when it comes.
    @Test func withoutFrameTheTimeIsThatOfArrival() throws {
        let outcome = try PacketRun("gatt/2A19").packet("64")
        #expect(outcome.values("time") == ["2023-11-14T22:13:20Z"] && outcome.readings[0].device == "default")
    }
}
