/// PLX Spot-Check and PLX Continuous Measurement.
extension PacketDecoder {
    mutating func decodeSpotCheck(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let normal = try OxygenAndPulse(&reader)
        let clock = flags & 1 == 0 ? nil : try DeviceClock(&reader)
        let state = try OximeterState(&reader, flags >> 1)
        // A device whose clock was never set shows a time all the same.
        let isSet = flags & 16 == 0
        document.begin(head, at: isSet ? head.time(clock) : nil)
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
        document.member(.quality, text: PacketDecoder.quality(state.status ?? 0))
        if let status = state.status { writeOxygenStatus(status) }
        if let sensor = state.sensor { document.member(.sensorStatus, sensor) }
        if let amplitude = state.amplitude { document.member(.pulseAmplitudeIndex, amplitude) }
    }

    /// One word for whether the numbers may be used, so that templates need no list of flags.
    private static func quality(_ status: Int) -> StaticString {
        if status >> 15 & 1 == 1 { return "invalid" }
        if status >> 13 & 1 == 1 { return "unavailable" }
        if status >> 12 & 1 == 1 { return "calibrating" }
        return status >> 14 & 1 == 1 ? "questionable" : "good"
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
