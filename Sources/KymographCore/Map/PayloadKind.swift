/// What a mapping's payloads are: `payload` at the top of `device.json`.
enum PayloadKind: String, CaseIterable, Sendable {
    /// JSON documents, one a line or datagram.
    case json

    /// Reads `payload` of the file that `reader` reads; without one it is JSON.
    @discardableResult
    static func read(_ reader: FieldReader, log: inout DiagnosticLog) -> PayloadKind {
        guard let node = reader.optional("payload", "a string", log: &log), let name = node.string else { return .json }
        if let kind = PayloadKind(rawValue: name) { return kind }
        let known = allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        log.error(node.position, "unknown payload '\(name)'", advice: "known is \(known)", finding: .unknownChoice)
        return .json
    }
}
