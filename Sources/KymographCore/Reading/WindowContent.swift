/// What state an Observation is in (FHIR `Observation.status`).
package enum ObservationStatus: UInt8, Sendable {
    /// More readings of the window are expected.
    case preliminary = 0
    /// The window is complete as far as its lateness tells.
    case final = 1
    /// The window was emitted before and has changed.
    case amended = 2
    /// The window was emitted before, and has no reading any more: they have moved to other times.
    case enteredInError = 3

    /// The FHIR code.
    package var code: StaticString {
        switch self {
        case .preliminary: "preliminary"
        case .final: "final"
        case .amended: "amended"
        case .enteredInError: "entered-in-error"
        }
    }

    /// What is written where the template says that its Observations are `preliminary`: one that was never final is
    /// not amended either.
    @inline(__always)
    func stated(isPreliminary: Bool) -> ObservationStatus {
        isPreliminary && self != .enteredInError ? .preliminary : self
    }
}

/// The whole content of one window, borrowed from the window machine for the length of an encoding call.
///
/// Readings are in time order; several may be of one instant.
package struct WindowContent {
    /// Whose readings.
    package let series: SeriesIdentity
    /// First instant of the window (UTC-aligned); of a reading in instance grouping, its instant.
    package let start: Instant
    /// First instant after the window; equal to `start` in instance grouping, and for correlation the last reading's.
    package let end: Instant
    /// Status to emit.
    package let status: ObservationStatus
    /// The readings.
    package let readings: WindowReadings
    /// The sources of readings that have gone since it was shown, as bits (``ReadingSource``).
    let formerSources: UInt16
    /// The tags of such readings (``ReadingTags``); ``ReadingTags/any`` when they are not known.
    let formerTags: [UInt8]
    /// Whether any reading may have something beside its inline numbers.
    let hasPayloads: Bool
    /// Whether it may have been shown before, if only as preliminary, or by an earlier run.
    let mayHaveBeenSeen: Bool

    /// Makes a content.
    package init(
        series: SeriesIdentity, start: Instant, end: Instant, status: ObservationStatus,
        readings: WindowReadings, mayHaveBeenSeen: Bool = false
    ) {
        self.init(
            series: series, start: start, end: end, status: status, readings: readings, former: 0, [],
            mayHaveBeenSeen: mayHaveBeenSeen)
    }

    /// A content whose window has lost readings since it was shown, of the sources and with the tags `former`.
    @inline(__always)
    init(
        series: SeriesIdentity, start: Instant, end: Instant, status: ObservationStatus, readings: WindowReadings,
        former sources: UInt16, _ tags: [UInt8], hasPayloads: Bool = true, mayHaveBeenSeen: Bool
    ) {
        self.mayHaveBeenSeen = mayHaveBeenSeen || status == .amended || status == .enteredInError
        (formerSources, formerTags, self.hasPayloads) = (sources, tags, hasPayloads)
        self.series = series
        self.start = start
        self.end = end
        self.status = status
        self.readings = readings
    }

    /// The number in `slot` of reading `index`, or nil. A text that is a number counts: it was kept as text because the
    /// mapping of that time did not read it as a number.
    @inline(__always)
    package func number(_ index: Int, slot: Int) -> Decimal64? {
        if slot < Measurement.inlineValues, let number = readings.inline(index, slot) { return number }
        return readings[index].payloadBytes == 0 ? nil : recordedNumber(index, slot)
    }

    private func recordedNumber(_ index: Int, _ slot: Int) -> Decimal64? {
        let payload = readings.payload(index)
        guard let record = ValueRecord.find(slot, in: payload) else { return nil }
        switch record.kind {
        case .number: return record.number(in: payload)
        case .text: return payload[record.bytes].decimal
        case .samples: return nil
        }
    }

    /// Whether reading `index` has something in `slot` that is no number: a text, or the samples of a waveform.
    func hasNoNumber(_ index: Int, slot: Int) -> Bool {
        guard readings[index].payloadBytes > 0, number(index, slot: slot) == nil else { return false }
        return ValueRecord.find(slot, in: readings.payload(index)) != nil
    }

    /// Whether reading `index` has a token in the series of `slot`: a number, or `E` for what is there instead.
    @inline(__always)
    func hasSample(_ index: Int, slot: Int) -> Bool {
        number(index, slot: slot) != nil || hasNoNumber(index, slot: slot)
    }

    /// The samples of a waveform in `slot` of reading `index`, or nil.
    func samples(_ index: Int, slot: Int) -> SampleReader? {
        let payload = readings.payload(index)
        guard let record = ValueRecord.find(slot, in: payload), record.kind == .samples else { return nil }
        return SampleReader(payload[record.bytes])
    }

    /// The text in `slot` of reading `index`, or nil.
    package func text(_ index: Int, slot: Int) -> ByteView? {
        let payload = readings.payload(index)
        guard let record = ValueRecord.find(slot, in: payload), record.kind == .text else { return nil }
        return payload[record.bytes]
    }
}
