/// How a series of one window is written.
struct SeriesPlan {
    /// The number of samples that one series may have: about 2 MB of holes.
    static let maxSamples: Int64 = 1 << 20

    /// Nanoseconds between samples.
    var period: Int64
    /// Samples on the grid, or readings when irregular.
    var samples: Int64
    /// Whether the true times stand beside the values, because the grid would be longer.
    var isIrregular = false

    /// Whether a fixed `period` over `span` nanoseconds stays within ``maxSamples``.
    static func fits(period: Int64, span: Int64) -> Bool { span / period < maxSamples }

    /// The grid of a template with a fixed period.
    init(period: Int64, span: Int64) {
        self.period = period
        samples = span / period + 1
    }

    /// The grid that loses nothing: its period divides every distance from `start`. When that grid is mostly holes, the
    /// irregular form.
    init(_ content: borrowing WindowContent, slot: Int, start: Instant, span: Int64, endsOnReading: Bool) {
        var divisor: Int64 = endsOnReading ? span : 0
        var readings: Int64 = 0
        var offsetBytes: Int64 = 0
        for index in 0..<content.readings.count where content.number(index, slot: slot) != nil {
            let offset = content.readings[index].instant.nanoseconds - start.nanoseconds
            divisor = SeriesPlan.commonDivisor(divisor, offset)
            readings += 1
            offsetBytes += Int64(ByteWriter.millisecondsWidth(offset)) + 1
        }
        // A single reading at the start sets no rhythm: one second, or the rest of the window when that is longer.
        self.init(period: divisor > 0 ? divisor : max(span, 1_000_000_000), span: span)
        let holeBytes = (samples - readings) * 2
        guard holeBytes > offsetBytes + SeriesPlan.irregularBytes else { return }
        isIrregular = true
        period = SeriesPlan.meanSpacing(span: span, samples: readings)
        samples = readings
    }

    /// Constant bytes of the irregular form beyond those of the grid.
    private static let irregularBytes: Int64 = 215

    /// A period that fits `samples` to `span`: whole milliseconds when some do, with
    /// (samples - 1) × period ≤ span ≤ samples × period.
    private static func meanSpacing(span: Int64, samples: Int64) -> Int64 {
        guard samples > 1 else { return max(span, 1) }
        let exact = span / (samples - 1)
        let whole = exact - exact % 1_000_000
        let (reach, overflow) = whole.multipliedReportingOverflow(by: samples)
        return whole > 0 && (overflow || reach >= span) ? whole : max(exact, 1)
    }

    @inline(__always)
    private static func commonDivisor(_ divisor: Int64, _ offset: Int64) -> Int64 {
        if divisor > 0 && offset % divisor == 0 { return divisor }
        var (left, right) = (divisor, offset)
        while right != 0 { (left, right) = (right, left % right) }
        return left
    }
}
