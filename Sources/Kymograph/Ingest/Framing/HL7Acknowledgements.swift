import KymographCore
import Synchronization

/// Makes the replies to messages of HL7 v2 (ACK), without anything of their content but what the header says.
struct HL7Acknowledgements {
    /// Most reasons that are told of one message.
    private static let mostTold = 16
    /// Most bytes of a field that is sent back (HD and ST of HL7 v2.7 have fewer).
    private static let longestField = 227

    /// Ids of replies: microseconds of the clock when the first one was made, and counted from there.
    private static let controlIDs = Atomic(UInt64(clamping: WallClock.now().nanoseconds / 1_000))

    /// What becomes of the message as a whole.
    enum Outcome {
        case accepted
        /// Of some of its results, or of all, nothing is filed.
        case error
        /// The message is none that is read.
        case refused

        /// The outcome of a message of which anything was rejected for `reasons`.
        init(_ reasons: [Rejection]) {
            let refusals: [Rejection] = [
                .malformedMessage, .unsupportedMessage, .unsupportedCharset, .testMeasurement, .frameTooLong,
            ]
            self = reasons.isEmpty ? .accepted : reasons.contains(where: refusals.contains) ? .refused : .error
        }

        /// The code in MSA-1 (HL7 table 0008).
        func code(isAccept: Bool) -> StaticString {
            switch self {
            case .accepted: isAccept ? "CA" : "AA"
            case .error: isAccept ? "CE" : "AE"
            case .refused: isAccept ? "CR" : "AR"
            }
        }

        /// Whether a sender who asks for `condition` (HL7 table 0155) is answered.
        func isTold(by condition: ByteView) -> Bool {
            let isAccepted = if case .accepted = self { true } else { false }
            return condition.equals(ByteView("AL")) || condition.equals(ByteView(isAccepted ? "SU" : "ER"))
        }
    }

    /// The reply to `message`, which must be padded, and of which anything was rejected for the reasons `rejected`; nil
    /// when its sender wants none.
    func reply(to message: ByteView, rejected: [Rejection], at time: Instant) -> [UInt8]? {
        let (header, outcome) = (HL7Header(of: message), Outcome(rejected))
        let (accept, application) = (header.field(15), header.field(16))
        var isAccept = false
        if accept.count > 0 || application.count > 0 {
            if !outcome.isTold(by: application) {
                guard outcome.isTold(by: accept) else { return nil }
                isAccept = true
            }
        }
        var reply = ByteWriter(capacity: 512)
        appendHeader(header, time, to: &reply)
        appendAcknowledgement(header, outcome.code(isAccept: isAccept), to: &reply)
        for reason in rejected.prefix(Self.mostTold) { appendError(reason, header, to: &reply) }
        return reply.view.array
    }

    private func appendHeader(_ header: HL7Header, _ time: Instant, to reply: inout ByteWriter) {
        let delimiters = header.delimiters
        reply.append("MSH")
        reply.append(delimiters.field)
        reply.append(delimiters.component)
        reply.append(delimiters.repetition)
        reply.append(delimiters.escape)
        reply.append(delimiters.subcomponent)
        if delimiters.truncation != 0 { reply.append(delimiters.truncation) }
        // The receiver of the message sends the reply.
        for number in [5, 6, 3, 4] { append(header.field(number), header, to: &reply) }
        append(Self.text(of: time), header, to: &reply)
        reply.append(delimiters.field)
        append(Self.join(["ACK", "R01", "ACK"], delimiters.component), header, to: &reply)
        append(Array(String(Self.controlIDs.add(1, ordering: .relaxed).newValue).utf8), header, to: &reply)
        append(header.field(11), header, to: &reply)
        append(header.field(12), header, to: &reply)
        if header.field(18).count > 0 {
            for _ in 13..<18 { reply.append(delimiters.field) }
            append(header.field(18), header, to: &reply)
        }
        reply.append(0x0D)
    }

    private func appendAcknowledgement(_ header: HL7Header, _ code: StaticString, to reply: inout ByteWriter) {
        reply.append("MSA")
        append(ByteView(code), header, to: &reply)
        append(header.field(10), header, to: &reply)
        reply.append(0x0D)
    }

    /// A segment ERR as version 2.5 has it: code of HL7 table 0357, severity, and the reason as kymo counts it.
    private func appendError(_ reason: Rejection, _ header: HL7Header, to reply: inout ByteWriter) {
        let (field, component) = (header.delimiters.field, header.delimiters.component)
        let (code, text) = Self.condition(of: reason)
        reply.append("ERR")
        if Self.hasOlderErrors(header.component(1, of: 12)) {
            // ERR-1 (ELD): segment, place and field are not said; the code is a component of parts.
            let part = header.delimiters.subcomponent
            reply.append(field)
            for _ in 0..<3 { reply.append(component) }
            reply.append(Self.join([code, text, "HL70357", reason.name, "", "L"], part))
        } else {
            for _ in 0..<3 { reply.append(field) }
            reply.append(Self.join([code, text, "HL70357"], component))
            append(ByteView("E"), header, to: &reply)
            append(Self.join([reason.name, "", "L"], component), header, to: &reply)
        }
        reply.append(0x0D)
    }

    /// Whether `version` is one whose segment ERR has another form.
    private static func hasOlderErrors(_ version: ByteView) -> Bool {
        version.count >= 3 && version[0] == UInt8(ascii: "2") && version[1] == UInt8(ascii: ".")
            && version[2] < UInt8(ascii: "5")
    }

    /// Conditions of HL7 table 0357, and the reasons for which each is the nearest.
    private static let conditions: [(code: String, text: String, reasons: Set<Rejection>)] = [
        ("100", "Segment sequence error", [.malformedMessage]),
        (
            "101", "Required field missing",
            [.noDevice, .noTimestamp, .missingValue, .nullValue, .noPatient, .unknownTimeZone]
        ),
        (
            "102", "Data type error",
            [
                .invalidTimestamp, .invalidValue, .inexactNumber, .invalidUTF8, .invalidIdentifier, .frameTooLong,
            ]
        ),
        (
            "103", "Table value not found",
            [.noTemplate, .unknownUnit, .unmappedValue, .resultStatus, .unsupportedCharset]
        ),
        ("200", "Unsupported message type", [.unsupportedMessage]),
        ("202", "Unsupported processing id", [.testMeasurement]),
    ]

    /// The condition that is nearest to a reason. Table 0357 has 207 for all that no other code covers, which need not
    /// be a fault of the application: here what its operator does not let in (peers, rules, patient map, pauses), what
    /// lies too far in the future, and what limits leave out. 201 and 203 to 206 are about events, versions, keys and
    /// locks.
    private static func condition(of reason: Rejection) -> (code: String, text: String) {
        guard let nearest = conditions.first(where: { $0.reasons.contains(reason) }) else {
            return ("207", "Application internal error")
        }
        return (nearest.code, nearest.text)
    }

    private static func join(_ parts: [String], _ separator: UInt8) -> [UInt8] {
        Array(parts.map { Array($0.utf8) }.joined(separator: [separator]))
    }

    private func append(_ field: ByteView, _ header: HL7Header, to reply: inout ByteWriter) {
        reply.append(header.delimiters.field)
        for index in 0..<min(field.count, Self.longestField) where field[index] >= 0x20 { reply.append(field[index]) }
    }

    private func append(_ field: [UInt8], _ header: HL7Header, to reply: inout ByteWriter) {
        reply.append(header.delimiters.field)
        reply.append(field)
    }

    /// `20260301080000.000+0000`.
    private static func text(of time: Instant) -> [UInt8] {
        // 2026-03-01T08:00:00, and perhaps more.
        let digits = Array(time.text.utf8.prefix(19)).filter { $0 >= 0x30 && $0 <= 0x39 }
        return digits + Array("+0000".utf8)
    }
}
