/// What a broker's codes mean, in words.
enum MQTTReason {
    /// Of an answer to a client that wants to connect.
    static func connection(_ code: UInt8, _ version: MQTTVersion) -> String {
        // Those below 128 are of version 3.1.1, also where a broker does not know the version that it was asked for.
        switch code {
        case 1: "it does not speak this version of MQTT: write mqttVersion: 3.1.1"
        case 2: "it does not take the client id: write another clientId"
        case 3: "it is not available (code 3)"
        case 4: "bad user name or password (code 4)"
        case 5: "not authorized (code 5)"
        case 0x84 where version == .v5: "it does not speak this version of MQTT: write mqttVersion: 3.1.1"
        default: text(code)
        }
    }

    /// Of any other packet.
    static func text(_ code: UInt8) -> String { "\(words(code)) (code 0x\(String(code, radix: 16)))" }

    private static func words(_ code: UInt8) -> String {
        switch code {
        case 0x80: "unspecified error"
        case 0x81: "malformed packet"
        case 0x82: "protocol error"
        case 0x83: "error of the broker's own"
        case 0x84: "unsupported version of MQTT"
        case 0x85: "client id not valid"
        case 0x86: "bad user name or password"
        case 0x87: "not authorized"
        case 0x88: "broker not available"
        case 0x89: "broker busy"
        case 0x8A: "client banned"
        case 0x8B: "broker shutting down"
        case 0x8C: "bad authentication method"
        case 0x8D: "keep-alive time exceeded"
        case 0x8E: "another client has connected with the same client id: give one of them another clientId"
        case 0x8F: "topic filter not valid"
        case 0x90: "topic not valid"
        case 0x93: "more messages than receiveMaximum"
        case 0x95: "packet too large"
        case 0x96: "too many messages"
        case 0x97: "quota exceeded"
        case 0x98: "ended by an administrator"
        case 0x9A: "retained messages not supported"
        case 0x9B: "QoS not supported"
        case 0x9C: "use another server"
        case 0x9D: "server moved"
        case 0x9E: "shared subscriptions not supported"
        case 0x9F: "too many connections"
        case 0xA0: "connected for too long"
        case 0xA1: "subscription identifiers not supported"
        case 0xA2: "wildcards not supported"
        default: "reason unknown"
        }
    }
}
