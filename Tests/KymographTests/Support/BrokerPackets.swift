/// Packets as a broker sends them, in MQTT 5 unless said otherwise.
enum BrokerPackets {
    static let pingresp: [UInt8] = [0xD0, 0]

    static func connack(hasSession: Bool = false, code: UInt8 = 0, properties: [UInt8] = []) -> [UInt8] {
        packet(0x20, [hasSession ? 1 : 0, code, UInt8(properties.count)] + properties)
    }

    static func suback(_ codes: [UInt8] = [1]) -> [UInt8] { packet(0x90, [0, 1, 0] + codes) }

    static func publish(
        _ payload: String, to topic: String = "ward/bed7", quality: UInt8 = 1, number: UInt16 = 1,
        isRepeated: Bool = false, properties: [UInt8]? = []
    ) -> [UInt8] {
        let first = 0x30 | quality << 1 | (isRepeated ? 8 : 0)
        let field = quality > 0 ? two(number) : []
        let extra = properties.map { [UInt8($0.count)] + $0 } ?? []
        return packet(first, two(UInt16(topic.utf8.count)) + Array(topic.utf8) + field + extra + Array(payload.utf8))
    }

    static func pubrel(_ number: UInt16) -> [UInt8] { packet(0x62, two(number)) }

    static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] { [first] + length(body.count) + body }

    /// A number of variable length.
    static func length(_ number: Int) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 0x7F | 0x80)] + length(number >> 7)
    }

    static func two(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
}
