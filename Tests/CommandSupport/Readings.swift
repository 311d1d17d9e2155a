/// Lines of the mapping `reading` that tests send.
package enum Readings {
    /// Heart rates of one device, one a second from 2026-03-01T08:00:00Z on.
    package static func heartRates(_ count: Int, device: String = "watch-1") -> [String] {
        (0..<count).map { heartRate(second: $0, value: 60 + $0 % 40, device: device) }
    }

    /// One heart rate at `second` of that day's hours from 08:00.
    package static func heartRate(second: Int, value: Int = 72, device: String = "watch-1") -> String {
        let time = [8 + second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return """
            {"deviceId":"\(device)","type":"heartRate","timestamp":"2026-03-01T\(time.joined(separator: ":"))Z",\
            "value":\(value),"unit":"/min"}
            """
    }

    /// Lines as the bytes of a stream.
    package static func ndjson(_ lines: [String]) -> [UInt8] {
        Array(lines.map { $0 + "\n" }.joined().utf8)
    }
}
