/// How a series of one window is written.
package struct SeriesPlan: Sendable, BitwiseCopyable {
    /// The number of samples that one series may have: about 2 MB of holes.
    package static let maxSamples: Int64 = 1 << 20

    /// Nanoseconds between samples.
    var period: Int64
    /// Samples on the grid, or readings when irregular.
    var samples: Int64
    /// Whether the true times stand beside the values, because the grid would be longer.
    var isIrregular = false
    /// Whether every reading is exactly on its sample, so that none share one.
    var isExact = false

    /// Whether every reading has a sample of its own.
    var isSingle: Bool { isExact || isIrregular }

    /// Whether a series over `span` nanoseconds can be planned: a fixed `period` must stay within ``maxSamples``; with
    /// 0 (from the data) the span must be less than 292 years.
    static func fits(period: Int64, span: Int64) -> Bool {
        period > 0 ? span / period < maxSamples : span < .max
    }

    /// The grid of a template with a fixed period.
    init(period: Int64, span: Int64) {
        self.period = period
        samples = span / period + 1
    }

    /// The grid that loses nothing: its period divides every distance from `start`. When that grid is mostly holes, or
    /// has one sample for several readings of one instant, the irregular form.
    init(
        _ content: borrowing WindowContent, slot: Int, start: Instant, span: Int64, endsOnReading: Bool,
        timing: SeriesTiming
    ) {
        var divisor: Int64 = endsOnReading ? span : 0
        var readings: Int64 = 0
        var isShared = false
        var last = start.nanoseconds
        for index in 0..<content.readings.count where content.hasSample(index, slot: slot) {
            let instant = content.readings[index].instant.nanoseconds
            // Divides all distances exactly when it divides all steps; most steps are the period itself.
            if instant - last != divisor || divisor == 0 {
                divisor = SeriesPlan.commonDivisor(divisor, instant - last)
                isShared = isShared || instant == last && readings > 0
            }
            last = instant
            readings += 1
        }
        // A single reading at the start sets no rhythm: one second, or the rest of the window when that is longer.
        self.init(period: divisor > 0 ? divisor : max(span, 1_000_000_000), span: span)
        isExact = true
        // A hole takes two bytes.
        let holes = samples - readings
        if !isShared {
            guard holes > timing.irregularBytes / 2 else { return }
            let offsetBytes = SeriesPlan.offsetBytes(content, slot: slot, start: start)
            guard holes > (timing.irregularBytes + offsetBytes) / 2 else { return }
        }
        isIrregular = true
        period = SeriesPlan.meanSpacing(span: span, samples: readings)
        samples = readings
    }

    /// Bytes of the times of all readings, in whole milliseconds.
    private static func offsetBytes(_ content: borrowing WindowContent, slot: Int, start: Instant) -> Int64 {
        var bytes = 0
        for index in 0..<content.readings.count where content.hasSample(index, slot: slot) {
            let offset = content.readings[index].instant.nanoseconds - start.nanoseconds
            bytes += ByteWriter.millisecondsWidth(offset) + 1
        }
        return Int64(bytes)
    }

    /// A period that fits `samples` to `span`: whole milliseconds when some do, with
    /// (samples - 1) × period ≤ span ≤ samples × period.
    private static func meanSpacing(span: Int64, samples: Int64) -> Int64 {
        guard samples > 1 else { return max(span, 1) }
        let exact = span / (samples - 1)
        let whole = exact - exact % 1_000_000
        let (reach, overflow) = whole.multipliedReportingOverflow(by: samples)
        return whole > 0 && (overflow || reach >= span) ? whole : max(exact, 1)
    }

    /// The greatest common divisor of `divisor` and `offset`; neither is negative.
    @inline(__always)
    static func commonDivisor(_ divisor: Int64, _ offset: Int64) -> Int64 {
        if divisor > 0 && offset % divisor == 0 { return divisor }
        var (left, right) = (divisor, offset)
        while right != 0 { (left, right) = (right, left % right) }
        return left
    }
}

/// One series of one window: which numbers it has, and how they are written.
struct SeriesForm: BitwiseCopyable {
    /// Slot of the numbers in the readings.
    var slot: Int
    /// Instant of the first sample.
    var start: Instant
    var plan: SeriesPlan
    var policy: SlotCollision
    var limits = SeriesLimits()
    var scale = SeriesScale.plain

    /// Whether every token is a number's own digits.
    var isPlain: Bool { limits.isEmpty && scale.isPlain }
}
