/// A client that posts readings to an HTTP source of 127.0.0.1, over one connection for as long as that stays.
package final class PostClient {
    /// Where it posts to.
    package static let path = "/v1/ingest"

    private let port: UInt16
    private var connection: RawConnection?

    /// Posts to `address`, as `kymo run` names it.
    package init(_ address: String) { port = PostClient.port(address) }

    /// The port in `address`.
    package static func port(_ address: String) -> UInt16 {
        address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }

    /// A request that posts `body` to `path`, with `fields` besides, each with its line end.
    package static func request(
        _ body: [UInt8], path: String = path, type: String = "application/x-ndjson", fields: String = ""
    ) -> [UInt8] {
        let head =
            "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\(fields)\r\n"
        return Array(head.utf8) + body
    }

    /// The report of a request: what follows `rejected` is of readings, and nil where nobody tells.
    package static func report(
        _ received: Int, rejected: [(index: Int, reason: String)] = [], accepted: Int? = nil, duplicate: Int = 0,
        conflict: Int = 0, retractions: Int = 0, later: Int = 0
    ) -> String {
        let reasons = rejected.map { "{\"index\":\($0.index),\"reason\":\"\($0.reason)\"}" }.joined(separator: ",")
        let head = "{\"received\":\(received),\"rejectedCount\":\(rejected.count),\"rejected\":[\(reasons)]"
        guard let accepted else { return "\(head)}\n" }
        return "\(head),\"accepted\":\(accepted),\"duplicate\":\(duplicate),\"conflict\":\(conflict),"
            + "\"retractions\":\(retractions),\"rejectedLater\":\(later)}\n"
    }

    /// A report without the blanks at its end, whose number depends on how long its numbers are.
    package static func withoutBlanks(_ body: String?) -> String {
        (body ?? "nothing").replacing(#/ +\n/#, with: "\n")
    }

    /// Sends `request`, and waits for its answer, calling `meanwhile` now and then; nil when the connection ends before
    /// it, and the next request then has a new one.
    ///
    /// - Throws: ``WaitError`` when nothing comes, or nobody listens.
    package func exchange(_ request: [UInt8], meanwhile: () -> Void = {}) throws -> AdminClient.Answer? {
        let open = try connection ?? RawConnection(port: port)
        connection = open
        let before = open.received.count
        open.send(request)
        var answer: AdminClient.Answer?
        try open.wait("an answer") { connection in
            meanwhile()
            answer = PostClient.answers(in: connection.received[before...]).first
            return answer != nil || connection.hasEnded
        }
        if open.hasEnded { connection = nil }
        return answer
    }

    /// The answers that are complete in `bytes`; what is not ASCII in a body is not looked at.
    package static func answers(in bytes: ArraySlice<UInt8>) -> [AdminClient.Answer] {
        var rest = Substring(String(decoding: bytes, as: UTF8.self))
        var answers: [AdminClient.Answer] = []
        while let end = rest.firstRange(of: "\r\n\r\n") {
            let header = rest[..<end.lowerBound]
            let length = header.firstMatch(of: /Content-Length: ([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
            let body = rest[end.upperBound...]
            guard body.utf8.count >= length else { break }
            let status = header.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            let content = body.utf8.prefix(length)
            answers.append(.init(status: status, header: String(header), body: String(content) ?? ""))
            rest = body[content.endIndex...]
        }
        return answers
    }
}
