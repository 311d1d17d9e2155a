import KymographCore

/// A source that the program itself submits to: `app: ward-3`.
struct SubmissionSource: SourceAddress {
    /// What the program calls it.
    let label: IdentifierText
    /// Where payloads wait; nil before an engine is made.
    private(set) var queue: SubmissionQueue?

    init(_ label: String) { self.label = IdentifierText(label) }

    static let descriptor = SourceDescriptor(
        key: "app", form: "name", about: "The program that embeds the engine", capabilities: []
    ) { (text) throws(SettingProblem) in
        guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw SettingProblem(message: "'\(text)' is no name", advice: "write a word, such as ward-3")
        }
        return SubmissionSource(text)
    }

    /// `app ward-3`.
    var name: String { "app \(label)" }

    /// The same with a queue.
    func attached(to queue: SubmissionQueue) -> SubmissionSource {
        var source = self
        source.queue = queue
        return source
    }

    func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource {
        guard let queue else {
            throw SourceError(message: "cannot open \(name): only a program that embeds the engine submits to it")
        }
        return OpenedSource(self, queue.lane, .stream)
    }

    /// Whether both have one name.
    static func == (one: SubmissionSource, other: SubmissionSource) -> Bool { one.label == other.label }

    /// Hashes the name.
    func hash(into hasher: inout Hasher) { hasher.combine(label) }
}

/// Hands on what waits in a queue whenever the lane is woken, and replies a byte for each payload.
///
/// Counts are reported payload by payload, so that each receipt says what became of its own.
final class SubmissionProtocol: StreamProtocol {
    private let queue: SubmissionQueue
    private var payload = ByteWriter(capacity: 4_096)

    init(_ queue: SubmissionQueue) { self.queue = queue }

    /// What one configures where `queue` is read.
    static func framing(_ queue: SubmissionQueue) -> StreamFraming {
        .custom(CustomFraming(text: "app", hidesCuts: false) { _ in SubmissionProtocol(queue) })
    }

    var acknowledging: Acknowledging { .byProtocol }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to receiver: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        handOn(queue.takeWaiting(isLast: false), &intake, &receiver)
        return true
    }

    /// What was submitted before the end is taken, however the end came.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to receiver: inout some PayloadReceiver & ~Copyable
    ) {
        handOn(queue.takeWaiting(isLast: true), &intake, &receiver)
    }

    private func handOn(
        _ submitted: [SubmissionQueue.Waiting], _ intake: inout StreamIntake,
        _ receiver: inout some PayloadReceiver & ~Copyable
    ) {
        for submission in submitted {
            payload.removeAll()
            payload.append(submission.bytes)
            payload.reserve(ByteView.padding)
            intake.payload(payload.view, to: &receiver)
            receiver.batchEnd()
            queue.handedOnNext()
            intake.reply([1])
        }
    }
}
