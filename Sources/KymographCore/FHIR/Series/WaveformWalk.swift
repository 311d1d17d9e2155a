/// Goes through the tokens of a waveform, holes included.
///
/// Where readings overlap, the earlier one's samples stay, and those of the later one that have the same place are
/// left out and counted.
struct WaveformWalk {
    private let plan: WaveformPlan
    private let entry: WaveformEntry
    private var readers: InlineArray<16, SampleReader> = .init(repeating: SampleReader())
    private var block = WaveformBlock(state: .nothing)
    /// The reading whose samples come next; those before it are done.
    private var index = -1
    /// The frame of the block, and the signal in it, that come next.
    private var frame: Int64 = 0
    private var signal = 0
    /// The place of the block's first frame.
    private var blockPlace: Int64 = 0
    /// Places done, and tokens of holes that are still to come.
    private var written: Int64 = 0
    private var holes: Int64 = 0
    /// Samples that were left out.
    private(set) var condensed = 0

    /// Begins at the start of the series.
    init(_ plan: WaveformPlan, _ entry: WaveformEntry) {
        self.plan = plan
        self.entry = entry
    }

    /// The next token, or nil after the last.
    @inline(__always)
    mutating func next(_ content: borrowing WindowContent) -> Sample? {
        if holes > 0 {
            holes -= 1
            return .mark(.missing)
        }
        while signal == 0 {
            guard frame < block.frames else {
                guard open(content) else { return nil }
                continue
            }
            let place = place
            if place == written { break }
            if place > written {
                holes = (place - written) * Int64(entry.dimensions) - 1
                written = place
                return .mark(.missing)
            }
            skipFrame()
        }
        return take()
    }

    /// The token of the next signal; `E` where its array is shorter than another's.
    @inline(__always)
    private mutating func take() -> Sample {
        let sample = readers[entry.signals == 1 ? 0 : signal].next() ?? .mark(.missing)
        signal += 1
        if signal == entry.dimensions {
            signal = 0
            frame += 1
            written += 1
        }
        return sample
    }

    /// The place of the next frame.
    @inline(__always)
    private var place: Int64 {
        // A division costs more than all else here.
        if block.period == plan.period { return blockPlace + frame }
        return plan.place(block.start, plus: Int128(block.period) * Int128(frame))
    }

    private mutating func skipFrame() {
        for signal in 0..<entry.dimensions {
            if readers[entry.signals == 1 ? 0 : signal].next() != nil { condensed += 1 }
        }
        frame += 1
    }

    /// Goes to the next reading with samples; false when there is none.
    private mutating func open(_ content: borrowing WindowContent) -> Bool {
        while true {
            index += 1
            guard index < content.readings.count else {
                index -= 1
                return false
            }
            block = entry.block(content, index)
            guard block.state == .samples else { continue }
            frame = 0
            blockPlace = plan.place(block.start)
            for signal in 0..<entry.signals { readers[signal] = entry.reader(signal, content, index) ?? SampleReader() }
            return true
        }
    }
}

extension ByteWriter {
    /// Writes what follows the origin of a waveform: its spacing, `factor` of `scale`, `dimensions` and `data`; gives
    /// the samples that were left out.
    mutating func appendWaveform(
        _ content: borrowing WindowContent, _ plan: WaveformPlan, _ entry: WaveformEntry, _ limits: SeriesLimits,
        _ scale: SeriesScale, timing: SeriesTiming
    ) -> Int {
        append(timing == .interval ? "\"interval\":" : "\"period\":")
        append(picoseconds: plan.period)
        if timing == .interval { append(",\"intervalUnit\":\"ms\"") }
        if !scale.hasUnitFactor {
            append(",\"factor\":")
            append(scale.factor)
        }
        append(",\"dimensions\":")
        append(digits: UInt64(entry.dimensions))
        append(",\"data\":\"")
        var walk = WaveformWalk(plan, entry)
        var isFirst = true
        while let sample = walk.next(content) {
            if !isFirst { append(UInt8(ascii: " ")) }
            isFirst = false
            append(sample, limits, scale)
        }
        append("\"")
        return walk.condensed
    }

    @inline(__always)
    private mutating func append(_ sample: Sample, _ limits: SeriesLimits, _ scale: SeriesScale) {
        switch sample {
        case .mark(let mark): append(mark.token)
        case .number(let number):
            if let mark = limits.mark(of: number) { return append(mark) }
            scale.isPlain ? append(number) : append(digits: scale.token(of: number))
        }
    }

    /// Writes picoseconds as milliseconds, with the decimals that they need.
    private mutating func append(picoseconds: Int64) {
        var number = Decimal64(mantissa: picoseconds, exponent: -9)
        while number.exponent < 0 && number.mantissa % 10 == 0 {
            number = Decimal64(mantissa: number.mantissa / 10, exponent: number.exponent + 1)
        }
        append(number)
    }
}
