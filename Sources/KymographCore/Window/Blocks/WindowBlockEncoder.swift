/// Writes a window's readings as an archive block; see ``WindowBlockFormat``.
struct WindowBlockEncoder {
    private let count: Int
    private let unit: Int
    private var start = 0
    private var context = WindowBlockContext()

    /// Appends `readings`, which are in time order, as a block of the version that suits them. `isUnshown` as in
    /// ``WindowBlockFormat``.
    static func append(_ readings: WindowReadings, isUnshown: Bool = false, to writer: inout ByteWriter) {
        if WindowColumns.append(readings, isUnshown: isUnshown, to: &writer) { return }
        var encoder = WindowBlockEncoder(readings: readings)
        encoder.begin(&writer, isUnshown: isUnshown)
        for place in 0..<readings.count {
            encoder.append(readings.measurement(place), readings.payloadAndReceipts(place), to: &writer)
        }
        encoder.finish(&writer)
    }

    /// Prepares to encode `readings`, which are in time order.
    init(readings: WindowReadings) {
        count = readings.count
        unit = WindowBlockEncoder.unit(of: readings)
    }

    /// Prepares to encode rows that are no window's, in nanoseconds.
    init() { (count, unit) = (0, 0) }

    /// The largest unit in which all instants are whole.
    static func unit(of readings: WindowReadings) -> Int {
        var unit = WindowBlockFormat.units.count - 1
        var index = 0
        while index < readings.count && unit > 0 {
            if WindowBlockFormat.isWhole(readings[index].instant.nanoseconds, unit: unit) {
                index += 1
            } else {
                unit -= 1
            }
        }
        return unit
    }

    /// Appends what comes before the readings.
    mutating func begin(_ writer: inout ByteWriter, isUnshown: Bool = false) {
        start = writer.count
        writer.append(WindowBlockFormat.version)
        if isUnshown {
            Varint.append(padded: UInt64(count), to: &writer)
        } else {
            Varint.append(UInt64(count), to: &writer)
        }
        writer.append(UInt8(unit))
    }

    /// Appends a reading with its payload, which receive times may follow.
    @inline(__always)
    mutating func append(_ reading: Measurement, _ payload: ByteView, to writer: inout ByteWriter) {
        let tick = WindowBlockFormat.whole(reading.instant.nanoseconds, unit: unit)
        append(reading, payload, tick: tick, to: &writer)
    }

    /// Appends a reading with its payload, whose instant is `tick` units.
    @inline(__always)
    mutating func append(_ reading: Measurement, _ payload: ByteView, tick: Int64, to writer: inout ByteWriter) {
        let step = tick &- context.tick
        let delay = reading.received.nanoseconds &- context.previous.received.nanoseconds
        let drift = delay &- (reading.instant.nanoseconds &- context.previous.instant.nanoseconds)
        var control = WindowBlockFormat.receivedSame
        if delay != 0 {
            let isSteady = Varint.zigzag(drift) < Varint.zigzag(delay)
            control = isSteady ? WindowBlockFormat.receivedWithInstant : WindowBlockFormat.receivedStep
        }
        if step == context.step { control |= WindowBlockFormat.sameStep }
        if isPlain(reading, payload) { return appendPlain(reading, tick, step, control, delay, drift, to: &writer) }
        appendAny(reading, payload, tick, step, control, delay, drift, to: &writer)
    }

    private mutating func appendAny(
        _ reading: Measurement, _ payload: ByteView, _ tick: Int64, _ step: Int64, _ times: UInt8, _ delay: Int64,
        _ drift: Int64, to writer: inout ByteWriter
    ) {
        let previous = context.previous
        var control = times
        if !WindowBlockEncoder.haveSameShape(reading, previous) { control |= WindowBlockFormat.shape }
        if reading.mark != previous.mark { control |= WindowBlockFormat.mark }
        if reading.timeForm != previous.timeForm { control |= WindowBlockFormat.offset }
        if payload.count > 0 { control |= WindowBlockFormat.payload }
        writer.append(control)
        if step != context.step { WindowBlockEncoder.appendSigned(step, to: &writer) }
        if delay != 0 { WindowBlockEncoder.appendSigned(control & 2 != 0 ? drift : delay, to: &writer) }
        appendContent(of: reading, payload, control: control, to: &writer)
        context.step = step
        context.tick = tick
    }

    /// Whether the reading has one number, and everything but times and digits is as in the reading before: nearly all.
    @inline(__always)
    private func isPlain(_ reading: Measurement, _ payload: ByteView) -> Bool {
        reading.present == 1 && context.previous.present == 1 && payload.count == 0
            && reading.exponent(0) == context.previous.exponent(0) && reading.mark == context.previous.mark
            && reading.timeForm == context.previous.timeForm
    }

    @inline(__always)
    private mutating func appendPlain(
        _ reading: Measurement, _ tick: Int64, _ step: Int64, _ control: UInt8, _ delay: Int64, _ drift: Int64,
        to writer: inout ByteWriter
    ) {
        let value = Varint.zigzag(reading.mantissas[0] &- context.previous.mantissas[0])
        let steps = step == context.step ? 0 : Varint.zigzag(step)
        if delay == 0 && (value | steps) < ShortVarint.limit {
            let (first, second) = (ShortVarint(steps), ShortVarint(value))
            let stepBytes = step == context.step ? 0 : first.bytes
            writer.append(
                word: UInt64(control) | first.word << 8, bytes: stepBytes &+ 1, then: second.word, bytes: second.bytes)
        } else {
            writer.append(control)
            if step != context.step { Varint.append(steps, to: &writer) }
            if delay != 0 { WindowBlockEncoder.appendSigned(control & 2 != 0 ? drift : delay, to: &writer) }
            Varint.append(value, to: &writer)
        }
        context.previous.instant = reading.instant
        context.previous.received = reading.received
        context.previous.mantissas[0] = reading.mantissas[0]
        context.step = step
        context.tick = tick
    }

    /// Appends what comes after the readings.
    func finish(_ writer: inout ByteWriter) {
        let checksum = WindowBlockFormat.checksum(writer.view(start..<writer.count))
        for byte in 0..<WindowBlockFormat.checksumBytes {
            writer.append(UInt8(truncatingIfNeeded: checksum >> UInt32(byte * 8)))
        }
    }

    private mutating func appendContent(
        of reading: Measurement, _ payload: ByteView, control: UInt8, to writer: inout ByteWriter
    ) {
        if control & WindowBlockFormat.shape != 0 {
            writer.append(reading.present)
            for slot in 0..<Measurement.inlineValues where reading.present & 1 << UInt8(slot) != 0 {
                writer.append(UInt8(bitPattern: reading.exponent(slot)))
            }
        }
        if control & WindowBlockFormat.mark != 0 { writer.append(reading.mark) }
        if control & WindowBlockFormat.offset != 0 {
            WindowBlockEncoder.appendSigned(Int64(reading.timeForm.rawValue), to: &writer)
        }
        var mantissas = context.previous.mantissas
        for slot in 0..<Measurement.inlineValues where reading.present & 1 << UInt8(slot) != 0 {
            WindowBlockEncoder.appendSigned(reading.mantissas[slot] &- mantissas[slot], to: &writer)
            mantissas[slot] = reading.mantissas[slot]
        }
        if payload.count > 0 {
            Varint.append(UInt64(reading.payloadBytes), to: &writer)
            writer.append(payload)
        }
        context.previous = reading
        context.previous.mantissas = mantissas
    }

    private static func haveSameShape(_ one: Measurement, _ other: Measurement) -> Bool {
        guard one.present == other.present else { return false }
        for slot in 0..<Measurement.inlineValues where one.present & 1 << UInt8(slot) != 0 {
            if one.exponent(slot) != other.exponent(slot) { return false }
        }
        return true
    }

    @inline(__always)
    static func appendSigned(_ value: Int64, to writer: inout ByteWriter) {
        Varint.append(Varint.zigzag(value), to: &writer)
    }
}
