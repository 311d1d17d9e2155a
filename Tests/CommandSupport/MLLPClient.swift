/// A client that sends messages of HL7 v2 to an MLLP source of 127.0.0.1, and reads its acknowledgements.
package final class MLLPClient {
    /// The connection, to send what is no message.
    package let connection: RawConnection
    private var read = 0
    /// Acknowledgements that have come before anybody waited for them.
    private var early: [String] = []

    /// Connects to `address`, as `kymo run` names it.
    ///
    /// - Throws: ``WaitError`` when nobody listens.
    package init(_ address: String) throws { connection = try RawConnection(port: PostClient.port(address)) }

    /// `message` as MLLP has it; its segments are lines.
    package static func frame(_ message: String) -> [UInt8] {
        [0x0B] + Array(message.replacing("\n", with: "\r").utf8) + [0x1C, 0x0D]
    }

    /// The acknowledgements that have come and were not looked at, their segments as lines.
    package func acknowledgements() -> [String] {
        connection.receive()
        var found = early
        early = []
        while let end = connection.received[read...].firstIndex(of: 0x1C), end + 1 < connection.received.count {
            let text = String(decoding: connection.received[(read + 1)..<end], as: UTF8.self)
            found.append(text.replacing("\r", with: "\n"))
            read = end + 2
        }
        return found
    }

    /// Sends `message`, and waits for its acknowledgement, calling `meanwhile` now and then; nil when the connection
    /// ends before it.
    ///
    /// - Throws: ``WaitError`` when nothing comes.
    package func exchange(_ message: String, meanwhile: () -> Void = {}) throws -> String? {
        connection.send(Self.frame(message))
        var found: String?
        try connection.wait("an acknowledgement") { connection in
            meanwhile()
            var all = acknowledgements()
            if !all.isEmpty {
                found = all.removeFirst()
                early = all
            }
            return found != nil || connection.hasEnded
        }
        return found
    }
}

/// Messages of HL7 v2 that tests send, for the mapping `pcd-01`.
package enum MonitorMessages {
    /// A message with results of one monitor at `second` of that day's hours from 08:00 UTC; `fields` are MSH-13 and
    /// the fields behind it.
    package static func message(
        id: Int, second: Int = 0, results: [String], device: String = "monitor-1", fields: String = ""
    ) -> String {
        let time = [8 + second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
        return """
            MSH|^~\\&|GATEWAY|WARD|KYMO|HOSPITAL|20260301\(time)+0000||ORU^R01^ORU_R01|\(id)|P|2.6\(fields)
            PID|||p-1^^^H^MR
            OBR|1|||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|||20260301\(time)
            OBX|1||69965^MDC_DEV_MON_PHYSIO_MULTI_PARAM_MDS^MDC|1.0.0.0|||||||X|||||||\(device)

            """ + results.joined(separator: "\n")
    }

    /// A heart rate.
    package static func heartRate(_ value: String, status: String = "F") -> String {
        "OBX|2|NM|147842^MDC_ECG_HEART_RATE^MDC|1.1.1.1|\(value)|264864^MDC_DIM_BEAT_PER_MIN^MDC|||||\(status)"
    }

    /// An oxygen saturation.
    package static func saturation(_ value: String, status: String = "F") -> String {
        "OBX|3|NM|150456^MDC_PULS_OXIM_SAT_O2^MDC|1.2.1.1|\(value)|262688^MDC_DIM_PERCENT^MDC|||||\(status)"
    }
}
