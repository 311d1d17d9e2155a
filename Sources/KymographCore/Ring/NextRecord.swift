/// What a record that is still in the ring says of the memory that it will need.
struct NextRecord: BitwiseCopyable {
    /// Its series; -1 when it is no reading, or when nothing is known of its series.
    var series: Int32
    /// Its time, if it is ``Measurement/isPlain``; others, which need a look at their windows, have the distant past.
    var instant: Instant

    /// None.
    static let none = NextRecord(series: -1, instant: .distantPast)

    private init(series: Int32, instant: Instant) { (self.series, self.instant) = (series, instant) }

    @inline(__always)
    init(_ record: Measurement) {
        let isReading = record.kind == RecordKind.measurement.rawValue
        series = isReading ? Int32(truncatingIfNeeded: record.series) : -1
        instant = record.isPlain ? record.instant : .distantPast
    }
}
