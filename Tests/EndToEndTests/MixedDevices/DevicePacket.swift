/// One notification of a device, as a bridge sees it, and the readings that it stands for. They are written by hand:
/// nothing here is computed by the decoder under test.
struct DevicePacket {
    /// The device's identifier.
    var device: String
    /// Number of the characteristic, such as `2A37`.
    var characteristic: String
    /// When the bridge received it, in milliseconds after 2026-03-01T08:00:00+01:00.
    var milliseconds: Int
    /// The packet in hexadecimal.
    var hex: String
    /// Value of a continuous glucose monitor's Session Start Time, in hexadecimal.
    var session = ""
    /// Value of its CGM Feature, in hexadecimal.
    var feature = ""
    /// Members of each reading besides its device; a reading without `time` was measured when the bridge received it.
    var readings: [String]

    /// 2026-03-01T08:00:00+01:00 in milliseconds since 1970.
    static let epoch = 1_772_348_400_000
    /// Minutes that all bridges are ahead of UTC.
    static let offsetMinutes = 60

    /// The bridge's time, as packets have it: with three digits of the second's fraction, or without one.
    var time: String {
        func digits(_ value: Int, _ count: Int) -> String {
            String(repeating: "0", count: count - String(value).count) + String(value)
        }
        let (minute, second) = (milliseconds / 60_000, milliseconds / 1_000 % 60)
        let fraction = milliseconds % 1_000 == 0 ? "" : ".\(digits(milliseconds % 1_000, 3))"
        return "2026-03-01T08:\(digits(minute, 2)):\(digits(second, 2))\(fraction)+01:00"
    }

    var value: [UInt8] { DevicePacket.bytes(hex) }

    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    /// The readings as lines of JSON.
    var lines: [String] {
        readings.map { reading in
            let time = reading.contains("\"time\"") ? "" : "\"time\":\"\(time)\","
            return "{\"device\":\"\(device)\",\(time)\(reading)}"
        }
    }
}
