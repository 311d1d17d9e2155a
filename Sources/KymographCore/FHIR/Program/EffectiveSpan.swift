/// The time an Observation covers, from the first covered nanosecond to the last instant, both included.
struct EffectiveSpan: BitwiseCopyable {
    var start: Instant
    var end: Instant

    /// An empty span.
    static let none = EffectiveSpan(start: Instant(nanoseconds: 0), end: Instant(nanoseconds: 0))

    /// The span of `content`, which has at least one reading.
    init(_ content: borrowing WindowContent, _ program: TypeProgram) {
        let readings = content.readings
        if program.coversWindow {
            // FHIR periods include both ends, and windows are half-open: abutting ones must not share an instant.
            // The reference's last instant is one of its ticks before the end (mapping dialect, section 5.2).
            let last = content.end.advanced(by: program.isCompatible ? -100 : -1_000_000)
            start = min(content.start, readings[0].instant)
            end = max(last, readings[readings.count - 1].instant)
            return
        }
        start = readings[0].instant
        end = readings[readings.count - 1].instant
        guard program.durationSlot >= 0 else { return }
        for index in 0..<readings.count {
            guard let length = content.number(index, slot: program.durationSlot) else { continue }
            start = min(start, readings[index].instant.advanced(by: -length.wholeNanoseconds))
        }
    }

    /// The span of a window without readings.
    init(window content: borrowing WindowContent, _ program: TypeProgram) {
        let last = content.end.advanced(by: program.isCompatible ? -100 : -1_000_000)
        (start, end) = (content.start, max(content.start, last))
    }

    private init(start: Instant, end: Instant) {
        self.start = start
        self.end = end
    }

    /// Nanoseconds from start to end.
    var length: Int64 {
        let (length, overflow) = end.nanoseconds.subtractingReportingOverflow(start.nanoseconds)
        return overflow ? .max : length
    }
}
