/// Writes the times of the prepared content.
struct TimeWriter: ~Copyable, Sendable {
    private let precision: TimePrecision
    /// What the content's resource covers.
    var span = EffectiveSpan.none
    /// Of bounds of windows, which all series share.
    var texts = TimeTexts()

    init(_ precision: TimePrecision) { self.precision = precision }

    /// Writes `effective[x]`.
    mutating func writeEffective(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        if program.isCompatible { return writeReferencePeriod(&writer) }
        if program.effectiveForm != .automatic { return writeStatedEffective(content, program, &writer) }
        let form = timeForm(content, program)
        if program.coversWindow && span.start != span.end && form == .unknown { return writeWindow(&writer) }
        if span.start != span.end || program.needsPeriod { return writePeriod(form, &writer) }
        writer.append("\"effectiveDateTime\":\"")
        write(span.end, form, &writer)
        writer.append("\"")
    }

    /// Writes `effective[x]` of the type that the template states.
    private mutating func writeStatedEffective(
        _ content: borrowing WindowContent, _ program: TypeProgram, _ writer: inout ByteWriter
    ) {
        let form = timeForm(content, program)
        if program.effectiveForm == .period { return writePeriod(form, &writer) }
        writer.append(program.effectiveForm == .instant ? "\"effectiveInstant\":\"" : "\"effectiveDateTime\":\"")
        write(span.end, form, &writer)
        writer.append("\"")
    }

    /// How the times of the readings were written. The bounds of a window have no digits of their own.
    private mutating func timeForm(_ content: borrowing WindowContent, _ program: TypeProgram) -> TimeForm {
        program.coversWindow && span.start != span.end
            ? TimeForm(offsetMinutes: content.readings.commonOffset) : content.readings.commonTimeForm
    }

    /// Writes the span as effectivePeriod.
    private mutating func writePeriod(_ form: TimeForm, _ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        write(span.start, form, &writer)
        writer.append("\",\"end\":\"")
        write(span.end, form, &writer)
        writer.append("\"}")
    }

    /// Writes the span as effectivePeriod, with bounds of the window, which all series share.
    @inline(__always)
    mutating func writeWindow(_ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        texts.append(precision.cut(span.start), .dateTime, to: &writer)
        writer.append("\",\"end\":\"")
        texts.append(precision.cut(span.end), .dateTime, to: &writer)
        writer.append("\"}")
    }

    /// Writes the effective period as the reference has it: always a period, with seven decimals, in UTC.
    @inline(never)
    private mutating func writeReferencePeriod(_ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        texts.append(span.start, .ticks, to: &writer)
        writer.append("\",\"end\":\"")
        texts.append(span.end, .ticks, to: &writer)
        writer.append("\"}")
    }

    /// Writes the member that says when the last of the readings came: nothing was known of the Observation before.
    mutating func writeIssued(_ content: borrowing WindowContent, _ writer: inout ByteWriter) {
        guard content.status != .enteredInError, let last = content.readings.lastReceived else { return }
        writer.append("\"issued\":\"")
        write(last, .unknown, &writer)
        writer.append("\",")
    }

    /// Writes that member in the reference's form: the reference writes its own clock, which would make the same
    /// readings give two texts.
    @inline(never)
    mutating func writeReferenceIssued(_ content: borrowing WindowContent, _ writer: inout ByteWriter) {
        guard let last = content.readings.lastReceived else { return }
        writer.append("\"issued\":\"")
        writer.append(ticks: last)
        writer.append("\",")
    }

    /// Writes `instant` as seconds since 1970, cut to 10 ns and without zeros at the end: a FHIR decimal has 18 digits
    /// at most, and of these ten come before the point.
    @inline(never)
    mutating func writeSeconds(_ instant: Instant, _ writer: inout ByteWriter) {
        // Towards the past before 1970, too.
        let tens = instant.nanoseconds / 10 - (instant.nanoseconds % 10 < 0 ? 1 : 0)
        writer.append(Decimal64(mantissa: tens, exponent: -8).shortened)
    }

    /// Writes a point in time, ``ObservationOptions/timePrecision`` exact, as its source wrote it.
    mutating func write(_ instant: Instant, _ form: TimeForm, _ writer: inout ByteWriter) {
        writer.append(precision.cut(instant), precision.cut(form))
    }
}
