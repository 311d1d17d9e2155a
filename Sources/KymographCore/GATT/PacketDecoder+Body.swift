/// Temperature, Weight, and RSC Measurement.
extension PacketDecoder {
    mutating func decodeTemperature(
        _ reader: inout PacketReader, _ head: PacketHead, isFinal: Bool
    ) throws(PacketFailure) {
        let flags = try reader.byte()
        let temperature = try reader.float()
        let clock = flags & 2 == 0 ? nil : try DeviceClock(&reader)
        let site = flags & 4 == 0 ? nil : try reader.byte()
        begin(head, clock)
        document.member(isFinal ? .temperature : .intermediateTemperature, temperature)
        document.member(.unit, text: flags & 1 == 0 ? "Cel" : "degF")
        if let site { writeSite(site) }
        document.end()
    }

    /// Temperature Type, `2A1D`, from 1.
    private static let sites: [StaticString] = [
        "armpit", "body", "ear", "finger", "gastro-intestinal", "mouth", "rectum", "toe", "tympanum",
    ]

    private mutating func writeSite(_ site: UInt8) {
        guard (1...PacketDecoder.sites.count).contains(Int(site)) else { return }
        document.member(.site, text: PacketDecoder.sites[Int(site) - 1])
    }

    mutating func decodeWeight(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let isImperial = flags & 1 != 0
        let weight = try reader.short()
        let clock = flags & 2 == 0 ? nil : try DeviceClock(&reader)
        let user = flags & 4 == 0 ? nil : try reader.byte()
        let index = flags & 8 == 0 ? nil : try reader.short()
        let height = flags & 8 == 0 ? nil : try reader.short()
        begin(head, clock)
        document.member(.unit, text: isImperial ? "lb" : "kg")
        // 65,535 says that the measurement did not succeed.
        document.member(.weight, weight == 0xFFFF ? .notANumber : .number(PacketDecoder.mass(weight, isImperial)))
        if let user, user != 255 { document.member(.userId, user) }
        if let index { document.member(.bodyMassIndex, Decimal64(mantissa: Int64(index), exponent: -1)) }
        if let height {
            document.member(.height, Decimal64(mantissa: Int64(height), exponent: isImperial ? -1 : -3))
            document.member(.heightUnit, text: isImperial ? "in" : "m")
        }
        document.end()
    }

    /// Units of 0.005 kg or 0.01 lb.
    private static func mass(_ units: Int, _ isImperial: Bool) -> Decimal64 {
        isImperial
            ? Decimal64(mantissa: Int64(units), exponent: -2) : Decimal64(mantissa: Int64(units) * 5, exponent: -3)
    }

    mutating func decodeRunning(_ reader: inout PacketReader, _ head: PacketHead) throws(PacketFailure) {
        let flags = try reader.byte()
        let speed = try reader.short()
        let cadence = try reader.byte()
        let stride = flags & 1 == 0 ? nil : try reader.short()
        let distance = flags & 2 == 0 ? nil : try reader.unsigned(4)
        document.begin(head, at: head.arrival)
        // Units of 1/256 m/s: x · 390,625 / 10^8, exactly.
        document.member(.speed, PacketDecoder.trimmed(Int64(speed) * 390_625, decimals: 8))
        document.member(.cadence, cadence)
        document.member(.gait, text: flags & 4 == 0 ? "walking" : "running")
        if let stride { document.member(.strideLength, stride) }
        if let distance { document.member(.distance, Decimal64(mantissa: Int64(distance), exponent: -1)) }
        document.end()
    }
}
