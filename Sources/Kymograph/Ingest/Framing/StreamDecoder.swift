import KymographCore

/// The protocol of one stream, by type: a case for each of this module, so that the compiler makes its loop once more
/// for the consumer in use, and calls nothing dynamically for a payload. A protocol from outside pays for such calls.
enum StreamDecoder {
    case lines(LineProtocol)
    case frames(FrameProtocol)
    case capture(CaptureProtocol)
    case documents(DocumentProtocol)
    case table(TableProtocol)
    case recognising(RecognisingProtocol)
    case inflating(InflatingProtocol)
    case requests(HTTPIngestProtocol)
    case acknowledged(MLLPProtocol)
    case messages(MQTTProtocol)
    case records(RecordProtocol)
    case custom(any StreamProtocol)

    /// Opens `framing` for one stream whose payloads have at most `cap` bytes.
    init(_ framing: StreamFraming, cap: Int) {
        switch framing {
        case .lines: self = .lines(LineProtocol(cap: cap))
        case .frames(let framing): self = .frames(FrameProtocol(framing, cap: cap))
        case .capture(let framing): self = .capture(CaptureProtocol(framing, cap: cap))
        case .documents: self = .documents(DocumentProtocol(cap: cap))
        case .table(let framing): self = .table(TableProtocol(framing, cap: cap))
        case .custom(let framing): self = .custom(framing.open(cap: cap))
        }
    }

    /// The protocol.
    var base: any StreamProtocol {
        switch self {
        case .lines(let lines): lines
        case .frames(let frames): frames
        case .capture(let capture): capture
        case .documents(let documents): documents
        case .table(let table): table
        case .recognising(let recognising): recognising
        case .inflating(let inflating): inflating
        case .requests(let requests): requests
        case .acknowledged(let messages): messages
        case .messages(let messages): messages
        case .records(let records): records
        case .custom(let custom): custom
        }
    }

    /// What is to stand before the next piece.
    var kept: ByteView {
        switch self {
        case .lines(let lines): lines.kept
        case .frames(let frames): frames.kept
        case .capture(let capture): capture.kept
        case .documents(let documents): documents.kept
        case .table(let table): table.kept
        case .recognising(let recognising): recognising.kept
        case .inflating(let inflating): inflating.kept
        case .requests(let requests): requests.kept
        case .acknowledged(let messages): messages.kept
        case .messages(let messages): messages.kept
        case .records(let records): records.kept
        case .custom(let custom): custom.kept
        }
    }

    /// Hands on the payloads that `piece` completes; false when nothing can be made of what follows.
    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        switch self {
        case .lines(let lines): lines.take(piece, &intake, to: &consumer)
        case .frames(let frames): frames.take(piece, &intake, to: &consumer)
        case .capture(let capture): capture.take(piece, &intake, to: &consumer)
        case .documents(let documents): documents.take(piece, &intake, to: &consumer)
        case .table(let table): table.take(piece, &intake, to: &consumer)
        case .recognising(let recognising): recognising.take(piece, &intake, to: &consumer)
        case .inflating(let inflating): inflating.take(piece, &intake, to: &consumer)
        case .requests(let requests): requests.take(piece, &intake, to: &consumer)
        case .acknowledged(let messages): messages.take(piece, &intake, to: &consumer)
        case .messages(let messages): messages.take(piece, &intake, to: &consumer)
        case .records(let records): records.take(piece, &intake, to: &consumer)
        case .custom(let custom): custom.take(piece, &intake, to: &consumer)
        }
    }

    /// Notes that a file of an archive has ended.
    func fileEnded(_ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable) {
        switch self {
        case .recognising(let recognising): recognising.fileEnded(&intake, to: &consumer)
        case .custom(let custom): custom.fileEnded(&intake, to: &consumer)
        case .lines, .frames, .capture, .documents, .table, .inflating, .requests, .acknowledged, .messages, .records:
            break
        }
    }

    /// Hands on, or rejects, what is unfinished at the end.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        switch self {
        case .lines(let lines): lines.end(ending, rest, &intake, to: &consumer)
        case .frames(let frames): frames.end(ending, rest, &intake, to: &consumer)
        case .capture(let capture): capture.end(ending, rest, &intake, to: &consumer)
        case .documents(let documents): documents.end(ending, rest, &intake, to: &consumer)
        case .table(let table): table.end(ending, rest, &intake, to: &consumer)
        case .recognising(let recognising): recognising.end(ending, rest, &intake, to: &consumer)
        case .inflating(let inflating): inflating.end(ending, rest, &intake, to: &consumer)
        case .requests(let requests): requests.end(ending, rest, &intake, to: &consumer)
        case .acknowledged(let messages): messages.end(ending, rest, &intake, to: &consumer)
        case .messages(let messages): messages.end(ending, rest, &intake, to: &consumer)
        case .records(let records): records.end(ending, rest, &intake, to: &consumer)
        case .custom(let custom): custom.end(ending, rest, &intake, to: &consumer)
        }
    }

    /// Whether the sender has taken too long.
    func hasExpired(after passed: Duration) -> Bool {
        switch self {
        case .requests(let requests): requests.hasExpired(after: passed)
        case .acknowledged(let messages): messages.hasExpired(after: passed)
        case .custom(let custom): custom.hasExpired(after: passed)
        case .lines, .frames, .capture, .documents, .table, .recognising, .inflating, .messages, .records: false
        }
    }
}
