package import KymographCore

/// One reading of a simulated device.
package struct SimulatedReading: Sendable, Hashable {
    /// Number of the device, from 0.
    package var device: Int
    /// What was measured.
    package var signal: SimulatedSignal
    /// Sequence number within the device, from 1.
    package var sequence: Int
    /// When it was measured; of steps, the end of the interval.
    package var time: Instant
    /// Start of the interval of steps, or nil.
    package var start: Instant?
    /// The value in tenths when ``isTenths``; of blood pressure, the systolic one.
    package var value: Int
    /// Diastolic pressure, or nil.
    package var diastolic: Int?
    /// Whether ``value`` counts tenths.
    package var isTenths = false

    /// The device's identifier.
    package var deviceId: String {
        let number = String(device + 1)
        return "sim-" + String(repeating: "0", count: max(0, 4 - number.count)) + number
    }

    /// Appends the reading in the form of the `reading` mapping, without a line end.
    package func append(to writer: inout ByteWriter) {
        writer.append("{\"deviceId\":\"")
        writer.append(Array(deviceId.utf8))
        writer.append("\",\"type\":\"")
        writer.append(Array(signal.rawValue.utf8))
        writer.append("\",\"timestamp\":\"")
        TimestampText.append(time, to: &writer)
        if let start {
            writer.append("\",\"start\":\"")
            TimestampText.append(start, to: &writer)
        }
        writer.append(diastolic == nil ? "\",\"value\":" : "\",\"systolic\":")
        appendValue(to: &writer)
        if let diastolic {
            writer.append(",\"diastolic\":")
            appendNumber(diastolic, to: &writer)
        }
        writer.append(",\"unit\":\"")
        writer.append(unit)
        writer.append("\",\"seq\":")
        appendNumber(sequence, to: &writer)
        writer.append("}")
    }

    private var unit: StaticString {
        switch signal {
        case .heartRate: "/min"
        case .steps: "{steps}"
        case .glucose: isTenths ? "mmol/L" : "mg/dL"
        case .bloodPressure: "mm[Hg]"
        }
    }

    private func appendValue(to writer: inout ByteWriter) {
        guard isTenths else { return appendNumber(value, to: &writer) }
        appendNumber(value / 10, to: &writer)
        writer.append(".")
        appendNumber(value % 10, to: &writer)
    }

    private func appendNumber(_ number: Int, to writer: inout ByteWriter) {
        writer.append(Array(String(number).utf8))
    }
}

/// The arrival of a reading at the pipeline.
package struct SimulatedDelivery: Sendable, Hashable {
    /// When it arrives.
    package var time: Instant
    /// What arrives.
    package var reading: SimulatedReading
    /// Whether the reading is delivered once more apart from this.
    package var isDuplicate: Bool
}
