/// PLX Spot-Check and PLX Continuous Measurement.
extension PacketDecoder {
    mutating func decodeSpotCheck(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let normal = try OxygenAndPulse(&reader)
        let clock = flags & 1 == 0 ? nil : try DeviceClock(&reader)
        let state = try OximeterState(&reader, flags >> 1)
        // A device whose clock was never set shows a time all the same.
        let isSet = flags & 16 == 0
        // What a device has kept was not measured when it arrives.
        let hasTime = isSet && (clock != nil || !state.isFromStorage)
        document.begin(head, at: hasTime ? head.time(clock) : nil)
        if let clock, isSet { document.member(.deviceTime, clock) }
        document.flag(.clockNotSet, Int(flags), 4)
        write(normal)
        write(state)
        document.end()
    }

    mutating func decodeContinuousOxygen(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let normal = try OxygenAndPulse(&reader)
        let fast = flags & 1 == 0 ? nil : try OxygenAndPulse(&reader)
        let slow = flags & 2 == 0 ? nil : try OxygenAndPulse(&reader)
        let state = try OximeterState(&reader, flags >> 2)
        document.begin(head, at: head.arrival)
        write(normal)
        if let fast {
            document.member(.fastOxygenSaturation, fast.oxygen)
            document.member(.fastPulseRate, fast.pulse)
        }
        if let slow {
            document.member(.slowOxygenSaturation, slow.oxygen)
            document.member(.slowPulseRate, slow.pulse)
        }
        write(state)
        document.end()
    }

    private mutating func write(_ normal: OxygenAndPulse) {
        document.member(.oxygenSaturation, normal.oxygen)
        document.member(.pulseRate, normal.pulse)
    }

    private mutating func write(_ state: OximeterState) {
        document.member(.quality, text: PacketDecoder.quality(state))
        if let status = state.status { writeOxygenStatus(status) }
        if let sensor = state.sensor { document.member(.sensorStatus, sensor) }
        if let amplitude = state.amplitude { document.member(.pulseAmplitudeIndex, amplitude) }
    }

    /// One word for whether the numbers may be used, so that templates need no list of flags.
    private static func quality(_ state: OximeterState) -> StaticString {
        let (status, sensor) = (state.status ?? 0, state.sensor ?? 0)
        // The device (bit 1), an inadequate or non-pulsatile signal (3, 7), the sensor off its user, displaced, broken
        // or unplugged (11, 13 to 15).
        if status >> 15 & 1 == 1 || sensor & 0b1110_1000_1000_1010 != 0 { return "invalid" }
        if status >> 13 & 1 == 1 { return "unavailable" }
        if status >> 12 & 1 == 1 { return "calibrating" }
        // An irregular, poor or erratic signal (bits 2, 4, 6), a questionable pulse (8), interference (10).
        return status >> 14 & 1 == 1 || sensor & 0b101_0101_0100 != 0 ? "questionable" : "good"
    }

    private mutating func writeOxygenStatus(_ status: Int) {
        document.member(.status, status)
        document.flag(.measurementOngoing, status, 5)
        document.flag(.earlyEstimate, status, 6)
        document.flag(.validated, status, 7)
        document.flag(.fullyQualified, status, 8)
        document.flag(.fromStorage, status, 9)
    }
}

/// The two numbers that oximeters measure together.
private struct OxygenAndPulse {
    let oxygen: MedicalFloat
    let pulse: MedicalFloat

    init(_ reader: inout PacketReader) throws(PacketFailure) {
        oxygen = try reader.magnitude(atMost: 100)
        pulse = try reader.magnitude()
    }
}

/// What oximeters say of their numbers.
private struct OximeterState {
    let status: Int?
    let sensor: UInt64?
    let amplitude: MedicalFloat?

    /// Whether the device has kept the numbers, and sends them later.
    var isFromStorage: Bool { (status ?? 0) >> 9 & 1 == 1 }

    /// Takes what the lowest three bits of `flags` announce off `reader`. Demonstrations and tests of the device are
    /// refused: they are nobody's saturation.
    init(_ reader: inout PacketReader, _ flags: UInt8) throws(PacketFailure) {
        status = flags & 1 == 0 ? nil : try reader.short()
        sensor = flags & 2 == 0 ? nil : try reader.unsigned(3)
        amplitude = flags & 4 == 0 ? nil : try reader.magnitude()
        guard let status, status & (1 << 10 | 1 << 11) != 0 else { return }
        throw reader.failure(.testMeasurement)
    }
}
