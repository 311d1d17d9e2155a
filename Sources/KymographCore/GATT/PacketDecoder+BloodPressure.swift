/// Blood Pressure Measurement and Intermediate Cuff Pressure.
extension PacketDecoder {
    /// Both have one layout; of an intermediate value only the first pressure says something.
    mutating func decodePressure(
        _ reader: inout PacketReader, _ head: PacketHead, isFinal: Bool
    ) throws(PacketFailure) {
        let flags = try reader.byte()
        let systolic = try reader.magnitude()
        let diastolic = try reader.magnitude()
        let mean = try reader.magnitude()
        let clock = flags & 2 == 0 ? nil : try DeviceClock(&reader)
        let pulse = flags & 4 == 0 ? nil : try reader.magnitude()
        let user = flags & 8 == 0 ? nil : try reader.byte()
        let status = flags & 16 == 0 ? nil : try reader.short()
        begin(head, clock)
        document.member(.unit, text: flags & 1 == 0 ? "mmHg" : "kPa")
        document.member(isFinal ? .systolic : .cuffPressure, systolic)
        if isFinal {
            document.member(.diastolic, diastolic)
            document.member(.meanArterial, mean)
        }
        if let pulse { document.member(.pulseRate, pulse) }
        // 255 stands for a user whom the device does not know.
        if let user, user != 255 { document.member(.userId, user) }
        if let status { writePressureStatus(status) }
        document.end()
    }

    private mutating func writePressureStatus(_ status: Int) {
        document.member(.status, status)
        document.flag(.bodyMovement, status, 0)
        document.flag(.cuffTooLoose, status, 1)
        document.flag(.irregularPulse, status, 2)
        switch status >> 3 & 3 {
        case 0: document.member(.pulseRange, text: "within")
        case 1: document.member(.pulseRange, text: "above")
        case 2: document.member(.pulseRange, text: "below")
        default: break
        }
        document.flag(.wrongPosition, status, 5)
    }
}
