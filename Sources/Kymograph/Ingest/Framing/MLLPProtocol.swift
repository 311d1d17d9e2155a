import KymographCore

/// Messages of HL7 v2 between the bytes 0x0B and 0x1C 0x0D (MLLP, transport specification of HL7 v3, release 1), each
/// of which is answered once it is durable: see docs/hl7.md.
///
/// Bytes between messages, messages without an end, and ends without their 0x0D are rejected and not answered; the
/// next 0x0B begins a message again.
final class MLLPProtocol: StreamProtocol {
    private static let (beginning, end, last): (UInt8, UInt8, UInt8) = (0x0B, 0x1C, 0x0D)
    /// Most bytes of a message.
    static let longest = 1 << 20
    /// Most bytes between two messages: what sends more speaks another protocol.
    private static let mostBetween = 4_096
    /// How long a message may take from its first byte to its last.
    private static let messageTime = Duration.seconds(30)

    /// What bytes begin with.
    private enum Next {
        /// A message, and where the next one may begin.
        case message(Range<Int>, next: Int)
        /// Bytes that are no message, and whether one can come behind them.
        case broken(Rejection, Int, goesOn: Bool)
        case unfinished
    }

    private let longest: Int
    private let shared: HeldBytes
    private let acknowledgements: HL7Acknowledgements
    /// Bytes that have not been handed on: of an unfinished message, or those for whose replies there was no room.
    private var waiting = ByteWriter(capacity: 64)
    /// How many of them have been searched for the end of the message.
    private var searched = 0
    /// Bytes that ``shared`` knows of.
    private var held = 0
    private var waited = Duration.zero

    /// Reads a connection of a source whose connections have `shared` in common; messages have at most `cap` bytes, and
    /// at most ``longest``.
    init(_ shared: HeldBytes, cap: Int) {
        self.shared = shared
        longest = min(cap, Self.longest)
        acknowledgements = HL7Acknowledgements()
    }

    deinit { shared.hold(-held) }

    var acknowledging: Acknowledging { .byProtocol }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        defer { noteHeld() }
        var (done, goesOn) = (0, true)
        if waiting.count == 0 {
            (done, goesOn) = advance(piece.bytes, &intake, &consumer)
            waiting.append(piece.bytes[done..<piece.bytes.count])
        } else {
            waiting.append(piece.bytes)
            waiting.pad(by: ByteView.padding)
            (done, goesOn) = advance(waiting.view, &intake, &consumer)
            drop(done)
        }
        if goesOn, waiting.count > 0, shared.isExhausted { goesOn = giveUp(.frameIncomplete, &intake, &consumer) }
        return goesOn
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        defer { noteHeld() }
        waiting.pad(by: ByteView.padding)
        // Nothing more comes, so that there is room for all replies.
        let (done, _) = advance(waiting.view, &intake, &consumer, isLast: true)
        drop(done)
        guard waiting.count > 0 else { return }
        switch ending {
        case .ended: _ = giveUp(.frameIncomplete, &intake, &consumer)
        case .cut(let reason): _ = giveUp(reason, &intake, &consumer)
        }
    }

    /// A message that is not complete has its time, and so have bytes between two.
    func hasExpired(after passed: Duration) -> Bool {
        guard waiting.count > 0 else { return false }
        waited += passed
        return waited > Self.messageTime
    }

    // MARK: Messages

    /// Hands on the messages that `bytes` begins with; how many bytes were handed on or rejected, and whether anything
    /// can be made of what follows.
    private func advance(
        _ bytes: ByteView, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable,
        isLast: Bool = false
    ) -> (done: Int, goesOn: Bool) {
        var start = 0
        while start < bytes.count, isLast || !intake.isFull {
            switch next(bytes, from: start) {
            case .message(let range, let end):
                handOn(bytes[range], &intake, &consumer)
                start = end
            case .broken(let reason, let end, let goesOn):
                intake.reject(reason, bytes[start..<end], to: &consumer)
                start = end
                guard goesOn else { return (bytes.count, false) }
            case .unfinished:
                searched = bytes.count - start
                return (start, true)
            }
            (searched, waited) = (0, .zero)
        }
        return (start, true)
    }

    private func next(_ bytes: ByteView, from start: Int) -> Next {
        guard bytes[start] == Self.beginning else {
            if let begins = bytes.firstIndex(of: Self.beginning, from: start) {
                return .broken(.frameMalformed, begins, goesOn: true)
            }
            let isTooMuch = bytes.count - start > Self.mostBetween
            return isTooMuch ? .broken(.frameMalformed, bytes.count, goesOn: false) : .unfinished
        }
        // The last byte that was searched may be the first one of the end.
        let from = max(start + 1, start + searched - 1)
        let end = bytes.firstIndex(of: Self.end, from: from)
        let inside = bytes[0..<(end ?? bytes.count)]
        if let begins = inside.firstIndex(of: Self.beginning, from: from) {
            return .broken(.frameIncomplete, begins, goesOn: true)
        }
        guard let end else { return bytes.count - start > longest + 1 ? tooLong(bytes, start) : .unfinished }
        guard end - start - 1 <= longest else { return tooLong(bytes, start) }
        guard end + 1 < bytes.count else { return .unfinished }
        guard bytes[end + 1] == Self.last, end > start + 1 else {
            return .broken(.frameMalformed, end + 1, goesOn: true)
        }
        return .message((start + 1)..<end, next: end + 2)
    }

    /// Where a message that is too long would end, nobody waits to see.
    private func tooLong(_ bytes: ByteView, _ start: Int) -> Next { .broken(.frameTooLong, bytes.count, goesOn: false) }

    private func handOn(
        _ message: ByteView, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        // What others have sent is none of this sender's business.
        _ = consumer.takeRejections()
        intake.document(message, to: &consumer)
        let rejected = consumer.takeRejections()
        guard let reply = acknowledgements.reply(to: message, rejected: rejected, at: intake.arrival.received) else {
            return
        }
        intake.reply([Self.beginning] + reply + [Self.end, Self.last])
    }

    // MARK: What waits

    /// Rejects what waits: nothing can be made of what follows.
    private func giveUp(
        _ reason: Rejection, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        intake.reject(reason, waiting.view, to: &consumer)
        drop(waiting.count)
        return false
    }

    /// Forgets the first `count` bytes of what waits.
    private func drop(_ count: Int) {
        guard count > 0 else { return }
        guard count < waiting.count else {
            // Long messages are rare: their memory is not kept.
            waiting = ByteWriter(capacity: 64)
            return
        }
        let rest = waiting.view(count..<waiting.count).array
        waiting.removeAll()
        waiting.append(rest)
    }

    private func noteHeld() {
        shared.hold(waiting.count - held)
        held = waiting.count
    }
}
