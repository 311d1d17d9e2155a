import KymographCore

/// What a reply tells of readings once they are durable.
enum ReplyTelling: Sendable {
    /// What became of all of them.
    case sum(ReadingCount)
    /// What became of those of each line or document.
    case items(HTTPIngestItems)

    /// Where a reply of `count` bytes has room for it.
    func room(in count: Int) -> Range<Int> {
        switch self {
        case .sum: HTTPIngestReport.room(in: count)
        case .items(let items): count - 1 - items.roomBytes..<count - 1
        }
    }

    /// The end of the reply; nil when that is not known. To be asked once.
    func text(from consumer: inout some PayloadConsumer & ~Copyable) -> String? {
        switch self {
        case .sum(let count): consumer.takeOutcomes(of: count).map { HTTPIngestReport.text(of: count.taken, $0) }
        case .items(let items): items.text(from: &consumer)
        }
    }
}
