import Foundation

/// Frames as docs/gatt.md says them.
extension DevicePacket {
    /// The frame in JSON.
    func json(base64: Bool) -> String {
        var members = [
            "\"device\":\"\(device)\"", "\"characteristic\":\"\(characteristic)\"", "\"time\":\"\(time)\"",
        ]
        if !session.isEmpty { members.append("\"session\":\"\(session)\"") }
        if !feature.isEmpty { members.append("\"feature\":\"\(feature)\"") }
        members.append(base64 ? "\"base64\":\"\(Data(value).base64EncodedString())\"" : "\"value\":\"\(hex)\"")
        return "{\(members.joined(separator: ","))}"
    }

    /// The frame in binary.
    var binary: [UInt8] {
        let (session, feature) = (DevicePacket.bytes(session), DevicePacket.bytes(feature))
        let flags: UInt8 = 1 | (session.isEmpty ? 0 : 16) | (feature.isEmpty ? 0 : 32)
        let number = UInt16(characteristic, radix: 16) ?? 0
        let microseconds = UInt64(DevicePacket.epoch + milliseconds) * 1_000
        var frame: [UInt8] = [0x4B, 1, flags, UInt8(device.utf8.count)] + Array(device.utf8)
        frame += DevicePacket.little(UInt64(number), 2) + DevicePacket.little(microseconds, 8)
        frame += DevicePacket.little(UInt64(DevicePacket.offsetMinutes), 2)
        if !session.isEmpty { frame += [UInt8(session.count)] + session }
        if !feature.isEmpty { frame += [UInt8(feature.count)] + feature }
        return frame + DevicePacket.little(UInt64(value.count), 2) + value
    }

    private static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
}
