/// How the waveforms of one window become one series: each sample at the nearest place of a grid that begins with the
/// series and has the least period of all readings. So readings of one rate that abut are joined, a gap between them is
/// filled with `E`, and readings of another rate lose no sample.
struct WaveformPlan: BitwiseCopyable {
    /// Nanoseconds since the epoch of the first place.
    private(set) var start: Int64
    /// Picoseconds between places.
    private(set) var period: Int64 = .max
    /// Nanoseconds since the epoch of the last sample.
    private(set) var end: Int64
    /// Readings with samples.
    private(set) var readings = 0
    /// Readings that have no samples of known time, but something in their place.
    private(set) var unusable = 0
    /// Whether some reading has an array: the others can be written as any series.
    private(set) var hasArrays = false

    /// The plan for `content`, whose series begins at `start`, or with the first sample when that is before.
    init(_ content: borrowing WindowContent, _ entry: WaveformEntry, start: Int64) {
        self.start = start
        end = start
        for index in 0..<content.readings.count {
            let block = entry.block(content, index)
            hasArrays = hasArrays || entry.hasArray(content, index)
            switch block.state {
            case .nothing: continue
            case .unusable: unusable += 1
            case .samples:
                readings += 1
                period = min(period, block.period)
                (self.start, end) = (min(self.start, block.start), max(end, block.end))
            }
        }
    }

    /// The place of a moment `nanoseconds` since the epoch and `picoseconds` more: the nearest one.
    func place(_ nanoseconds: Int64, plus picoseconds: Int128 = 0) -> Int64 {
        let distance = (Int128(nanoseconds) - Int128(start)) * 1000 + picoseconds
        return Int64(clamping: (distance + Int128(period) / 2) / Int128(period))
    }

    /// Whether the series has no more tokens than one may.
    func fits(dimensions: Int) -> Bool { place(end) < SeriesPlan.maxSamples / Int64(dimensions) }
}
