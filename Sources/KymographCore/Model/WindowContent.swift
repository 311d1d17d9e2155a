/// What state an Observation is in (FHIR `Observation.status`).
public enum ObservationStatus: UInt8, Sendable {
    /// More readings of the window are expected.
    case preliminary = 0
    /// The window is complete as far as its lateness tells.
    case final = 1
    /// The window was emitted before and has changed.
    case amended = 2

    /// The FHIR code.
    public var code: StaticString {
        switch self {
        case .preliminary: "preliminary"
        case .final: "final"
        case .amended: "amended"
        }
    }
}

/// The whole content of one window, borrowed from the window machine for the length of an encoding call.
///
/// Readings are in time order, one per instant.
public struct WindowContent {
    /// Whose readings.
    public let series: SeriesIdentity
    /// First instant of the window (UTC-aligned); of a reading in instance grouping, its instant.
    public let start: Instant
    /// First instant after the window; equal to `start` in instance grouping, and for correlation the last reading's.
    public let end: Instant
    /// Status to emit.
    public let status: ObservationStatus
    /// The readings.
    public let readings: ElementList<Measurement>
    /// The slots that hold payloads; ``Measurement/series`` of a stored reading is the index of its first slot.
    public let payloads: ByteView

    /// Makes a content; `payloads` is the memory that the readings' payload places refer to, in units of 64 bytes.
    public init(
        series: SeriesIdentity, start: Instant, end: Instant, status: ObservationStatus,
        readings: ElementList<Measurement>, payloads: ByteView
    ) {
        self.series = series
        self.start = start
        self.end = end
        self.status = status
        self.readings = readings
        self.payloads = payloads
    }

    /// The number in `slot` of reading `index`, or nil. A text that is a number counts: it was kept as text because the
    /// mapping of that time did not read it as a number.
    @inline(__always)
    public func number(_ index: Int, slot: Int) -> Decimal64? {
        let reading = readings[index]
        if slot < Measurement.inlineValues, let number = reading.inline(slot) { return number }
        return reading.payloadBytes == 0 ? nil : recordedNumber(slot, of: reading)
    }

    private func recordedNumber(_ slot: Int, of reading: Measurement) -> Decimal64? {
        let payload = self.payload(of: reading)
        guard let record = ValueRecord.find(slot, in: payload) else { return nil }
        switch record.kind {
        case .number: return record.number(in: payload)
        case .text: return payload[record.bytes].decimal
        case .samples: return nil
        }
    }

    /// Whether reading `index` has something in `slot` that is no number: a text, or the samples of a waveform.
    func hasNoNumber(_ index: Int, slot: Int) -> Bool {
        let reading = readings[index]
        guard reading.payloadBytes > 0, number(index, slot: slot) == nil else { return false }
        return ValueRecord.find(slot, in: payload(of: reading)) != nil
    }

    /// Whether reading `index` has a token in the series of `slot`: a number, or `E` for what is there instead.
    @inline(__always)
    func hasSample(_ index: Int, slot: Int) -> Bool {
        number(index, slot: slot) != nil || hasNoNumber(index, slot: slot)
    }

    /// The samples of a waveform in `slot` of reading `index`, or nil.
    func samples(_ index: Int, slot: Int) -> SampleReader? {
        let payload = self.payload(of: readings[index])
        guard let record = ValueRecord.find(slot, in: payload), record.kind == .samples else { return nil }
        return SampleReader(payload[record.bytes])
    }

    /// The text in `slot` of reading `index`, or nil.
    public func text(_ index: Int, slot: Int) -> ByteView? {
        let payload = self.payload(of: readings[index])
        guard let record = ValueRecord.find(slot, in: payload), record.kind == .text else { return nil }
        return payload[record.bytes]
    }

    /// The payload bytes of `reading`.
    public func payload(of reading: Measurement) -> ByteView {
        guard reading.payloadBytes > 0 else { return ByteView("") }
        let start = Int(reading.series) * 64
        return payloads[start..<(start + Int(reading.payloadBytes))]
    }
}
