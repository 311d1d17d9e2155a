/// Heart Rate Measurement, and Battery Level.
extension PacketDecoder {
    /// The beats per minute, and each RR interval as an object of its own.
    mutating func decodeHeartRate(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let rate = try reader.unsigned(flags & 1 == 0 ? 1 : 2)
        let energy = flags & 8 == 0 ? nil : try reader.short()
        // Intervals go on to the end of the packet.
        let hasIntervals = flags & 16 != 0
        if hasIntervals, reader.left == 0 { throw reader.failure(.truncatedPacket) }
        if hasIntervals, reader.left % 2 != 0 { throw reader.failure(.malformedPacket) }
        document.begin(head, at: head.arrival)
        document.member(.contact, text: PacketDecoder.contact(flags))
        document.member(.heartRate, rate)
        if let energy { document.member(.energyExpended, energy) }
        document.end()
        if hasIntervals, writesIntervals { try writeIntervals(reader, flags, head) }
    }

    private static func contact(_ flags: UInt8) -> StaticString {
        switch flags >> 1 & 3 {
        case 2: "lost"
        case 3: "detected"
        default: "unknown"
        }
    }

    /// Intervals come oldest first and without times: the last ends when the packet comes, each other where the next
    /// begins.
    private mutating func writeIntervals(
        _ reader: PacketReader, _ flags: UInt8, _ head: PacketHead
    ) throws(PacketFailure) {
        var left = 0
        var sum = reader
        while sum.left > 0 { left += try sum.short() }
        var reader = reader
        while reader.left > 0 {
            let interval = try reader.short()
            document.begin(head, at: PacketDecoder.time(before: head, by: left - interval))
            document.member(.start, PacketDecoder.time(before: head, by: left))
            document.member(.contact, text: PacketDecoder.contact(flags))
            document.member(.rrInterval, PacketDecoder.milliseconds(interval))
            document.end()
            left -= interval
        }
    }

    private static func time(before head: PacketHead, by units: Int) -> PacketTime {
        let nanoseconds = Int64(units) * 1_000_000_000 / 1_024
        return PacketTime(instant: head.received.advanced(by: -nanoseconds), offsetMinutes: head.offsetMinutes)
    }

    /// Units of 1/1024 s in milliseconds: x · 125 / 128, exactly, without zeros at the end.
    private static func milliseconds(_ units: Int) -> Decimal64 {
        PacketDecoder.trimmed(Int64(units) * 125 * 78_125, decimals: 7)
    }

    /// `mantissa`·10^-`decimals` without zeros at the end of its decimals.
    static func trimmed(_ mantissa: Int64, decimals: Int8) -> Decimal64 {
        var mantissa = mantissa
        var decimals = decimals
        while decimals > 0, mantissa % 10 == 0 {
            mantissa /= 10
            decimals -= 1
        }
        return Decimal64(mantissa: mantissa, exponent: -decimals)
    }

    /// One byte, 0…100.
    mutating func decodeBattery(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let level = try reader.byte()
        guard reader.left == 0 else { throw reader.failure(.malformedPacket) }
        guard level <= 100 else { throw PacketFailure(reason: .implausibleValue, offset: 0) }
        document.begin(head, at: head.arrival)
        document.member(.batteryLevel, level)
        document.end()
    }
}
