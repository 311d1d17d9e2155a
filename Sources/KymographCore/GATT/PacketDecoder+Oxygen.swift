/// PLX Spot-Check and PLX Continuous Measurement.
extension PacketDecoder {
    mutating func decodeSpotCheck(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let oxygen = try reader.magnitude(atMost: 100)
        let pulse = try reader.magnitude()
        let clock = flags & 1 == 0 ? nil : try DeviceClock(&reader)
        let status = flags & 2 == 0 ? nil : try reader.short()
        let sensor = flags & 4 == 0 ? nil : try reader.unsigned(3)
        let amplitude = flags & 8 == 0 ? nil : try reader.magnitude()
        try refuseTests(status, reader)
        // A device whose clock was never set shows a time all the same.
        let isSet = flags & 16 == 0
        document.begin(head, at: isSet ? head.time(clock) : nil)
        if let clock, isSet { document.member(.deviceTime, clock) }
        document.flag(.clockNotSet, Int(flags), 4)
        document.member(.oxygenSaturation, oxygen)
        document.member(.pulseRate, pulse)
        writeOxygen(status, sensor, amplitude)
        document.end()
    }

    mutating func decodeContinuousOxygen(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let oxygen = try reader.magnitude(atMost: 100)
        let pulse = try reader.magnitude()
        let fastOxygen = flags & 1 == 0 ? nil : try reader.magnitude(atMost: 100)
        let fastPulse = flags & 1 == 0 ? nil : try reader.magnitude()
        let slowOxygen = flags & 2 == 0 ? nil : try reader.magnitude(atMost: 100)
        let slowPulse = flags & 2 == 0 ? nil : try reader.magnitude()
        let status = flags & 4 == 0 ? nil : try reader.short()
        let sensor = flags & 8 == 0 ? nil : try reader.unsigned(3)
        let amplitude = flags & 16 == 0 ? nil : try reader.magnitude()
        try refuseTests(status, reader)
        document.begin(head, at: head.arrival)
        document.member(.oxygenSaturation, oxygen)
        document.member(.pulseRate, pulse)
        if let fastOxygen { document.member(.fastOxygenSaturation, fastOxygen) }
        if let fastPulse { document.member(.fastPulseRate, fastPulse) }
        if let slowOxygen { document.member(.slowOxygenSaturation, slowOxygen) }
        if let slowPulse { document.member(.slowPulseRate, slowPulse) }
        writeOxygen(status, sensor, amplitude)
        document.end()
    }

    /// Demonstrations and tests of the device are nobody's saturation.
    private func refuseTests(_ status: Int?, _ reader: PacketReader) throws(PacketFailure) {
        guard let status, status & (1 << 10 | 1 << 11) != 0 else { return }
        throw reader.failure(.testMeasurement)
    }

    private mutating func writeOxygen(_ status: Int?, _ sensor: UInt64?, _ amplitude: MedicalFloat?) {
        document.member(.quality, text: PacketDecoder.quality(status ?? 0))
        if let status { writeOxygenStatus(status) }
        if let sensor { document.member(.sensorStatus, sensor) }
        if let amplitude { document.member(.pulseAmplitudeIndex, amplitude) }
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
