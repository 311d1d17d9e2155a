/// Points in time as the reference system writes them.
extension ByteWriter {
    /// Writes `yyyy-MM-ddTHH:mm:ss.fffffffZ`: always seven decimals, units of 100 ns (mapping dialect, section 6.1).
    mutating func append(ticks instant: Instant) {
        let clock = CivilTime(instant, offsetMinutes: 0)
        append(Instant(nanoseconds: instant.nanoseconds - Int64(clock.nanosecond)))
        truncate(to: count - 1)
        append(UInt8(ascii: "."))
        var divisor = 100_000_000
        while divisor >= 100 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: clock.nanosecond / divisor % 10))
            divisor /= 10
        }
        append(UInt8(ascii: "Z"))
    }
}
