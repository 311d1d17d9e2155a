/// Packets that a client sends, as bytes.
enum MQTTOutput {
    static let pingreq: [UInt8] = [0xC0, 0]

    /// Asks for a session that the broker keeps, or, with `isTrial`, for none. `password` goes with the user alone.
    static func connect(
        _ settings: MQTTSettings, clientID: String, password: [UInt8]?, isTrial: Bool = false
    ) -> [UInt8] {
        let will = isTrial ? nil : settings.statusTopic
        var body = text("MQTT") + [settings.version.rawValue]
        body.append(
            (isTrial ? 2 : 0) | (will != nil ? 0x2C : 0) | (password != nil ? 0x40 : 0)
                | (settings.user != nil ? 0x80 : 0))
        body += two(settings.keepAliveSeconds)
        let isFive = settings.version == .v5
        if isFive {
            let expiry = isTrial ? 0 : settings.sessionSeconds
            let properties = [17] + four(expiry) + [33] + two(UInt16(clamping: settings.receiveMaximum))
            body += [UInt8(properties.count)] + properties
        }
        body += text(clientID)
        if let will { body += (isFive ? [0] : []) + text(will) + text(MQTTSettings.offline) }
        if let user = settings.user { body += text(user) }
        if let password { body += two(UInt16(clamping: password.count)) + password.prefix(MQTTSettings.longestText) }
        return packet(0x10, body)
    }

    /// Asks for messages of topics, each as surely as the settings say; retained ones only where the subscription is
    /// new, if the version knows that.
    static func subscribe(_ settings: MQTTSettings, number: UInt16) -> [UInt8] {
        let isFive = settings.version == .v5
        let options = settings.quality.rawValue | (isFive ? 0x10 : 0)
        var body = two(number) + (isFive ? [0] : [])
        for filter in settings.topics { body += text(filter.subscription) + [options] }
        return packet(0x82, body)
    }

    /// A message that the broker keeps for later subscribers, sent once.
    static func retained(_ payload: String, to topic: String, _ version: MQTTVersion) -> [UInt8] {
        packet(0x31, text(topic) + (version == .v5 ? [0] : []) + Array(payload.utf8))
    }

    /// Adds PUBACK or PUBREC for the message `number` to `bytes`; nothing for one of QoS 0.
    static func acknowledge(_ quality: MQTTQuality, number: UInt16, in bytes: inout [UInt8]) {
        switch quality {
        case .atMostOnce: return
        case .atLeastOnce: bytes.append(0x40)
        case .exactlyOnce: bytes.append(0x50)
        }
        bytes.append(2)
        bytes.append(UInt8(number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// PUBCOMP for the message `number`.
    static func completion(number: UInt16) -> [UInt8] { [0x70, 2] + two(number) }

    /// The end of the connection. With code 0 the broker discards the will, and with any other it publishes it (MQTT
    /// 5.0, section 3.14.4). Nothing for another one in 3.1.1, which knows no codes, and discards the will each time.
    static func disconnect(_ version: MQTTVersion, code: UInt8 = 0) -> [UInt8] {
        guard code > 0 else { return [0xE0, 0] }
        return version == .v5 ? [0xE0, 1, code] : []
    }

    private static func packet(_ first: UInt8, _ body: [UInt8]) -> [UInt8] {
        var bytes = [first]
        var rest = body.count
        repeat {
            let low = UInt8(rest & 0x7F)
            rest >>= 7
            bytes.append(rest > 0 ? low | 0x80 : low)
        } while rest > 0
        return bytes + body
    }

    private static func two(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

    private static func four(_ number: UInt32) -> [UInt8] {
        two(UInt16(number >> 16)) + two(UInt16(truncatingIfNeeded: number))
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(Int(UInt16.max)))
        return two(UInt16(bytes.count)) + bytes
    }
}
