/// The Date Time of a packet (7 bytes): the local time of the device, without a zone.
struct DeviceClock {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int

    /// Takes a Date Time off `reader`; year, month and day may be 0 for "unknown".
    init(_ reader: inout PacketReader) throws(PacketFailure) {
        let start = reader.index
        year = try reader.short()
        month = Int(try reader.byte())
        day = Int(try reader.byte())
        hour = Int(try reader.byte())
        minute = Int(try reader.byte())
        second = Int(try reader.byte())
        guard month <= 12, day <= 31, hour < 24, minute < 60, second < 60, year == 0 || (1582...9999).contains(year)
        else { throw PacketFailure(reason: .malformedPacket, offset: start) }
    }

    /// The point in time `minutesLater`, on a clock that is `offsetMinutes` ahead of UTC; nil when the offset is
    /// unknown, or when the clock shows no day of the calendar within 1678…2261.
    func instant(offsetMinutes: Int16, minutesLater: Int = 0) -> Instant? {
        guard offsetMinutes != UTCOffset.none, TimestampParser.years.contains(year), month >= 1, day >= 1,
            day <= Calendar.days(inMonth: month, year: year)
        else { return nil }
        let days = Calendar.days(year: year, month: month, day: day)
        let minutes = days * 1_440 + hour * 60 + minute - Int(offsetMinutes) + minutesLater
        return Instant(nanoseconds: Int64(minutes * 60 + second) * 1_000_000_000)
    }
}

/// When a continuous glucose monitor began to count minutes: CGM Session Start Time, `2AAA`.
struct SessionStart {
    private let clock: DeviceClock
    /// Minutes from UTC, or ``UTCOffset/none`` where the device does not know them.
    private let offsetMinutes: Int16

    /// Reads Date Time, time zone in quarters of an hour, and what daylight saving adds; a checksum may follow, as in
    /// records.
    init(_ bytes: ByteView, _ checksum: borrowing FrameChecksum) throws(PacketFailure) {
        var reader = PacketReader(bytes)
        clock = try DeviceClock(&reader)
        let zone = Int8(bitPattern: try reader.byte())
        let saving = Int16(try reader.byte())
        // 0, 2, 4 and 8 quarters are what the SIG names; 255 and the rest say nothing.
        let isKnown = (-48...56).contains(zone) && [0, 2, 4, 8].contains(saving)
        offsetMinutes = isKnown ? (Int16(zone) + saving) * 15 : UTCOffset.none
        if reader.left == 0 { return }
        guard reader.left == 2 else { throw reader.failure(.malformedPacket) }
        guard checksum.isRight(bytes, isBigEndian: false) else { throw reader.failure(.wrongChecksum) }
    }

    /// The offset by which its times are told: the device's, or else the bridge's.
    func offset(orBridges bridge: Int16) -> Int16 { offsetMinutes == UTCOffset.none ? bridge : offsetMinutes }

    /// The time `minutes` after the start, where the bridge's clock is `bridge` minutes ahead of UTC.
    func instant(after minutes: Int, bridge: Int16) -> Instant? {
        clock.instant(offsetMinutes: offset(orBridges: bridge), minutesLater: minutes)
    }
}
