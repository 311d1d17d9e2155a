/// The characteristics whose values are understood, by the numbers that the Bluetooth SIG assigned (Assigned Numbers,
/// section 3.8).
package enum GATTCharacteristic: UInt16, CaseIterable, Sendable {
    /// Glucose Measurement: one stored record of a meter.
    case glucose = 0x2A18
    /// Battery Level.
    case battery = 0x2A19
    /// Temperature Measurement.
    case temperature = 0x2A1C
    /// Intermediate Temperature: while the thermometer still measures.
    case intermediateTemperature = 0x2A1E
    /// Glucose Measurement Context: what else is known of the record of the same sequence number.
    case glucoseContext = 0x2A34
    /// Blood Pressure Measurement.
    case bloodPressure = 0x2A35
    /// Intermediate Cuff Pressure: while the cuff still measures.
    case cuffPressure = 0x2A36
    /// Heart Rate Measurement.
    case heartRate = 0x2A37
    /// RSC Measurement: running speed and cadence.
    case running = 0x2A53
    /// PLX Spot-Check Measurement.
    case oxygenSpotCheck = 0x2A5E
    /// PLX Continuous Measurement.
    case oxygenContinuous = 0x2A5F
    /// Weight Measurement.
    case weight = 0x2A9D
    /// CGM Measurement: one or more records of a continuous glucose monitor.
    case continuousGlucose = 0x2AA7

    /// The number in four upper-case hexadecimal digits: `2A37`.
    package var name: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// The characteristic that a mapping calls `name`: four hexadecimal digits in any case.
    package init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.name == name.uppercased() }) else { return nil }
        self = known
    }
}
