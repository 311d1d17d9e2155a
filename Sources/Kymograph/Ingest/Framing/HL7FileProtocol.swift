import KymographCore

/// Messages of HL7 v2 one behind the other, as in files: each from a line that begins with MSH to the next one, with
/// the bytes that MLLP has around it, or without.
final class HL7FileProtocol: StreamProtocol {
    static let descriptor = FramingDescriptor(name: "hl7v2") { (options) throws(SettingProblem) -> CustomFraming in
        if let option = options.first {
            throw SettingProblem(message: "'hl7v2' has no option '\(option)'", advice: "docs/hl7.md says what it reads")
        }
        return CustomFraming(text: "hl7v2", hidesCuts: false) { HL7FileProtocol(cap: $0) }
    }

    private static let beginning = Array("MSH".utf8)

    private let cap: Int
    /// The message, at most three bytes more than one may have.
    private var message: [UInt8] = []
    /// Bytes of the last line, and how many of its first ones are those of a beginning.
    private var (lineLength, matching) = (0, 0)
    private var isTooLong = false
    /// Whether the last byte ended a segment or the message.
    private var isAtEnd = true

    /// Messages of at most `cap` bytes.
    init(cap: Int) { self.cap = cap }

    /// Tools that write files ask for nothing.
    var acknowledging: Acknowledging { .never }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        for index in 0..<piece.bytes.count { take(piece.bytes[index], &intake, &consumer) }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        if let reason = reason(ending, intake), !isTooLong, !message.isEmpty {
            reject(reason, message[...], &intake, &consumer)
            message = []
        }
        finish(&intake, &consumer)
    }

    /// Why the last message is not to be taken.
    private func reason(_ ending: StreamEnding, _ intake: borrowing StreamIntake) -> Rejection? {
        switch ending {
        case .cut(let reason): reason
        case .ended: intake.mayEndWithin && !isAtEnd ? .frameIncomplete : nil
        }
    }

    private func take(
        _ byte: UInt8, _ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        isAtEnd = byte == 0x0D || byte == 0x0A || byte == 0x1C
        // The bytes around a message in a frame.
        guard byte != 0x0B, byte != 0x1C else { return }
        if byte == 0x0D || byte == 0x0A {
            (lineLength, matching) = (0, 0)
        } else {
            if lineLength == matching, matching < 3, byte == Self.beginning[matching] { matching += 1 }
            lineLength += 1
            if lineLength == 3, matching == 3 {
                message.removeLast(min(2, message.count))
                finish(&intake, &consumer)
                message = Self.beginning
                return
            }
        }
        // Two bytes may be of the next beginning.
        if message.count < cap + 3 { message.append(byte) } else { isTooLong = true }
    }

    /// Hands on the message, or rejects one that is too long. Blank lines are none.
    private func finish(_ intake: inout StreamIntake, _ consumer: inout some PayloadReceiver & ~Copyable) {
        if isTooLong || message.count > cap {
            reject(.frameTooLong, message[...], &intake, &consumer)
        } else if message.contains(where: { $0 > 0x20 }) {
            message.withByteView { view in view.withPadding { intake.payload($0, to: &consumer) } }
        }
        (message, isTooLong) = ([], false)
    }

    private func reject(
        _ reason: Rejection, _ bytes: ArraySlice<UInt8>, _ intake: inout StreamIntake,
        _ consumer: inout some PayloadReceiver & ~Copyable
    ) {
        Array(bytes).withByteView { view in view.withPadding { intake.reject(reason, $0, to: &consumer) } }
    }
}
