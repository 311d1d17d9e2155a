/// Asks a running instance for metrics and health.
package struct AdminClient {
    /// What it answers.
    package struct Answer {
        package var status: Int
        package var header: String
        package var body: String
    }

    /// The port that it listens to.
    package let port: UInt16

    /// Waits until `run`, which was started with `--admin 127.0.0.1:0`, says where it listens.
    ///
    /// - Throws: ``WaitError`` when it does not.
    package init(_ run: ChildProcess) throws {
        let start = "kymo: metrics and health on http://127.0.0.1:"
        try run.waitForError(start)
        var port: UInt16?
        try Waiting.until("a port in \(run.errorText)") {
            // A line that is not complete yet does not count.
            let lines = run.errorText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let messages = lines.map(LogLine.message)
            port = messages.first { $0.hasPrefix(start) }.flatMap { UInt16($0.dropFirst(start.count)) }
            return port != nil
        }
        self.port = port ?? 0
    }

    /// Of an instance that listens to `port`.
    package init(port: UInt16) { self.port = port }

    /// Asks for `path`.
    ///
    /// - Throws: ``WaitError`` when there is no answer.
    package func get(_ path: String, method: String = "GET", fields: String = "") throws -> Answer {
        let request = "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(fields)\r\n"
        return Self.answer(try RawConnection.exchange(request, port: port))
    }

    /// The first answer in `text`.
    package static func answer(_ text: String) -> Answer {
        let end = text.firstRange(of: "\r\n\r\n")
        let header = String(text[..<(end?.lowerBound ?? text.endIndex)])
        let status = header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, header: header, body: end.map { String(text[$0.upperBound...]) } ?? "")
    }

    /// The value of the series `name`, with its labels as they are written; nil when there is none.
    ///
    /// - Throws: ``WaitError`` when there is no answer.
    package func value(_ name: String) throws -> Double? {
        try get("/metrics").body.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
            .flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
