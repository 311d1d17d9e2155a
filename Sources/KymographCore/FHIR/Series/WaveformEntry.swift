/// What the arrays of a value are, in flat form.
package struct WaveformEntry: BitwiseCopyable {
    /// Slots that hold a signal each, or all in turn; -1 for one that no device template gives.
    private var slots: InlineArray<16, Int32> = .init(repeating: -1)
    /// Slots in use.
    let signals: Int
    /// Signals in one sample.
    let dimensions: Int
    private let rateSlot: Int32
    private let periodSlot: Int32
    /// Picoseconds between samples where the reading does not say, or 0.
    private let period: Int64
    /// Where the length of a reading is, or -1.
    private let durationSlot: Int32

    /// Most picoseconds between samples: a day.
    private static let longestPeriod: Int128 = 86_400_000_000_000_000

    /// The entry of `rule`, whose template states a period of so many nanoseconds.
    package init(_ rule: WaveformRule, period nanoseconds: Int64?, _ type: MeasurementType) {
        func slot(_ name: ValueName?) -> Int32 {
            Int32(name.flatMap { name in type.valueNames.firstIndex { $0 == name.text } } ?? -1)
        }
        signals = rule.signals.count
        dimensions = rule.dimensions
        rateSlot = slot(rule.rate)
        periodSlot = slot(rule.period)
        durationSlot = Int32(type.durationSlot ?? -1)
        let picoseconds = Int128(nanoseconds ?? 0) * 1000
        period = picoseconds <= WaveformEntry.longestPeriod ? Int64(picoseconds) : 0
        for (index, name) in rule.signals.enumerated() { slots[index] = slot(name) }
    }

    /// The samples of signal `signal` in reading `index`; a number is one sample.
    func reader(_ signal: Int, _ content: borrowing WindowContent, _ index: Int) -> SampleReader? {
        let slot = Int(slots[signal])
        guard slot >= 0 else { return nil }
        if let samples = content.samples(index, slot: slot) { return samples }
        return content.number(index, slot: slot).map { SampleReader($0) }
    }

    /// Whether reading `index` has an array.
    func hasArray(_ content: borrowing WindowContent, _ index: Int) -> Bool {
        guard content.readings[index].payloadBytes > 0 else { return false }
        for signal in 0..<signals where slots[signal] >= 0 {
            if content.samples(index, slot: Int(slots[signal])) != nil { return true }
        }
        return false
    }

    /// What reading `index` adds to the series.
    func block(_ content: borrowing WindowContent, _ index: Int) -> WaveformBlock {
        var longest = 0
        for signal in 0..<signals { longest = max(longest, reader(signal, content, index)?.count ?? 0) }
        guard longest > 0 else { return WaveformBlock(state: hasOther(content, index) ? .unusable : .nothing) }
        guard let period = period(content, index) else { return WaveformBlock(state: .unusable) }
        let frames = signals == 1 ? (longest + dimensions - 1) / dimensions : longest
        return WaveformBlock(state: .samples, start: start(content, index), period: period, frames: Int64(frames))
    }

    private func hasOther(_ content: borrowing WindowContent, _ index: Int) -> Bool {
        for signal in 0..<signals where slots[signal] >= 0 {
            if content.hasNoNumber(index, slot: Int(slots[signal])) { return true }
        }
        return false
    }

    /// The time of the first sample: that of the reading, or where it has a length, its start.
    private func start(_ content: borrowing WindowContent, _ index: Int) -> Int64 {
        let instant = content.readings[index].instant
        guard durationSlot >= 0, let length = content.number(index, slot: Int(durationSlot)) else {
            return instant.nanoseconds
        }
        return instant.advanced(by: -length.wholeNanoseconds).nanoseconds
    }

    /// Picoseconds between the samples of reading `index`; nil when they are not known, or neither positive nor at most
    /// a day.
    private func period(_ content: borrowing WindowContent, _ index: Int) -> Int64? {
        if periodSlot >= 0, let number = content.number(index, slot: Int(periodSlot)) {
            return WaveformEntry.scaled(number, by: 9).flatMap(WaveformEntry.checked)
        }
        if rateSlot >= 0, let rate = content.number(index, slot: Int(rateSlot)) {
            return WaveformEntry.period(ofRate: rate).flatMap(WaveformEntry.checked)
        }
        return period > 0 ? period : nil
    }

    private static func checked(_ period: Int128) -> Int64? {
        (1...longestPeriod).contains(period) ? Int64(period) : nil
    }

    /// `number` × 10^`places`, when it is whole and may be a period.
    private static func scaled(_ number: Decimal64, by places: Int) -> Int128? {
        let power = Int(number.exponent) + places
        guard number.mantissa > 0, (-18...18).contains(power) else { return nil }
        if power >= 0 { return Int128(number.mantissa) * Int128(Decimal64.powers[power]) }
        let (quotient, remainder) = number.mantissa.quotientAndRemainder(dividingBy: Decimal64.powers[-power])
        return remainder == 0 ? Int128(quotient) : nil
    }

    /// 10^12 / `rate`, rounded half to even.
    private static func period(ofRate rate: Decimal64) -> Int128? {
        let power = 12 - Int(rate.exponent)
        guard rate.mantissa > 0, (0...36).contains(power) else { return nil }
        var dividend = Int128(1)
        for _ in 0..<power { dividend *= 10 }
        let divisor = Int128(rate.mantissa)
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        let isUp = remainder * 2 > divisor || (remainder * 2 == divisor && !quotient.isMultiple(of: 2))
        return isUp ? quotient + 1 : quotient
    }
}

/// The samples of one reading and their times.
struct WaveformBlock: BitwiseCopyable {
    enum State {
        /// The reading has no value of the waveform.
        case nothing
        /// It has one whose times are not known, or a text.
        case unusable
        case samples
    }

    var state: State
    /// Nanoseconds since the epoch of the first sample.
    var start: Int64 = 0
    /// Picoseconds between samples.
    var period: Int64 = 0
    /// Samples of all signals at one time.
    var frames: Int64 = 0

    /// Nanoseconds since the epoch of the last sample, rounded down; held at the ends of time.
    var end: Int64 {
        Int64(clamping: Int128(start) + (Int128(frames - 1) * Int128(period)) / 1000)
    }
}
