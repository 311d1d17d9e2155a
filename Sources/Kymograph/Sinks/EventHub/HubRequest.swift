import KymographCore

/// A batch of events as a request (Azure Event Hubs REST API, "Send batch events").
enum HubRequest {
    /// Bytes of a batch without events.
    static let frame = 2
    /// Bytes that surround an event, about: names of members and its id.
    static let eventFrame = 160

    /// The request that brings `events` of one partition key, or of none, to the hub.
    static func of(_ events: [EventMessage], key: IdentifierText?, _ settings: HubSettings) -> HTTPRequest {
        var body = ByteWriter(capacity: 1 << 12)
        body.append("[")
        for (place, event) in events.enumerated() {
            if place > 0 { body.append(",") }
            event.append(hasKey: key != nil, to: &body)
        }
        body.append("]")
        var headers = [("Content-Type", "application/vnd.microsoft.servicebus.json")]
        if let key { headers.append(("BrokerProperties", "{\"PartitionKey\":\"\(ascii(key))\"}")) }
        return HTTPRequest(
            "POST", settings.url + "/messages?api-version=2014-01", headers: headers, body: body.view.array,
            timeout: settings.timeout)
    }

    /// `text` within quotes of JSON that is ASCII, as header fields are.
    private static func ascii(_ text: IdentifierText) -> String {
        var escaped = ""
        for unit in String(decoding: text.utf8, as: UTF8.self).utf16 {
            switch unit {
            case 0x22: escaped += "\\\""
            case 0x5C: escaped += "\\\\"
            case 0x20...0x7E: escaped.unicodeScalars.append(UnicodeScalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }
}
