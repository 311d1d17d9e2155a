import KymographCore

/// Replies of a protocol, which wait for what they confirm to be durable, and tell then what became of it.
struct ProtocolReplies {
    /// Where a reply tells what became of readings.
    private struct Telling {
        var what: ReplyTelling
        var place: Range<Int>
    }

    /// The bytes to send.
    private(set) var bytes: [UInt8] = []
    private var tellings: [Telling] = []

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a reply.
    mutating func add(_ reply: [UInt8]) { bytes += reply }

    /// Adds a reply that says what `telling` does when it leaves, in place of its bytes in `place`.
    mutating func add(_ reply: [UInt8], telling: ReplyTelling, in place: Range<Int>) {
        let start = bytes.count
        tellings.append(Telling(what: telling, place: start + place.lowerBound..<start + place.upperBound))
        bytes += reply
    }

    /// Adds others behind them.
    mutating func add(_ others: ProtocolReplies) {
        for telling in others.tellings {
            let place = bytes.count + telling.place.lowerBound..<bytes.count + telling.place.upperBound
            tellings.append(Telling(what: telling.what, place: place))
        }
        bytes += others.bytes
    }

    /// Tells what became of the readings, all of which are durable. Where that is not known, nothing is told of it.
    mutating func fill(_ consumer: inout some PayloadConsumer & ~Copyable) {
        for telling in tellings {
            guard let text = telling.what.text(from: &consumer).map({ Array($0.utf8) }) else { continue }
            guard text.count <= telling.place.count else { continue }
            // The length of the reply has been told by its head, and blanks after a value are JSON.
            let blanks = [UInt8](repeating: UInt8(ascii: " "), count: telling.place.count - text.count)
            bytes.replaceSubrange(telling.place, with: text + blanks)
        }
        tellings = []
    }
}
