import CommandSupport
import Foundation
import KymographTestKit

/// One line of a dead-letter file.
struct DeadLetter {
    var reason: String
    var source: String
    var receivedAt: String
    var bytes: [UInt8]
    var detail: String

    var text: String { String(decoding: bytes, as: UTF8.self) }

    static func read(_ path: String) throws -> [DeadLetter] {
        try Files.read(path).split(separator: 0x0A).map { line in
            let tree = try JSONTree(parsing: Array(line))
            guard let reason = tree["reason"]?.text, let source = tree["source"]?.text,
                let detail = tree["detail"]?.text,
                let time = tree["receivedAt"]?.text, let bytes = Data(base64Encoded: tree["bytes"]?.text ?? "?")
            else { throw WaitError(description: "not a dead letter: \(String(decoding: line, as: UTF8.self))") }
            return DeadLetter(reason: reason, source: source, receivedAt: time, bytes: Array(bytes), detail: detail)
        }
    }
}
