import Kymograph

/// Netstrings: the length in decimal digits, a colon, the payload and a comma, as in `5:hello,`.
final class NetstringProtocol: StreamProtocol {
    static let descriptor = FramingDescriptor(name: "netstring") { (options) throws(SettingProblem) -> CustomFraming in
        if let option = options.first { throw SettingProblem(message: "'netstring' has no option '\(option)'") }
        return CustomFraming(text: "netstring", hidesCuts: false) { NetstringProtocol(longest: $0) }
    }

    /// What bytes begin with.
    private enum Beginning {
        case payload(Range<Int>)
        case unfinished
        case broken(Rejection)
    }

    private let longest: Int
    private var unfinished = ByteWriter(capacity: 64)

    init(longest: Int) { self.longest = longest }

    /// Goes before the next piece, so that each netstring lies in one place in memory.
    var kept: ByteView { unfinished.view }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to receiver: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        unfinished.removeAll()
        var rest = piece.bytes
        while rest.count > 0 {
            switch beginning(of: rest) {
            case .payload(let range):
                if !range.isEmpty { intake.payload(rest[range], to: &receiver) }
                rest = rest[(range.upperBound + 1)..<rest.count]
            case .unfinished:
                unfinished.append(rest)
                return true
            case .broken(let reason):
                intake.reject(reason, rest, to: &receiver)
                return false
            }
        }
        return true
    }

    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to receiver: inout some PayloadReceiver & ~Copyable
    ) {
        unfinished.removeAll()
        guard rest.count > 0 else { return }
        switch ending {
        case .ended: intake.reject(.frameIncomplete, rest, to: &receiver)
        case .cut(let reason): intake.reject(reason, rest, to: &receiver)
        }
    }

    private func beginning(of bytes: ByteView) -> Beginning {
        var (length, digits) = (0, 0)
        while digits < bytes.count, case let digit = Int(bytes[digits]) - 0x30, 0...9 ~= digit {
            guard digits < 9, digits == 0 || length > 0 else { return .broken(.frameMalformed) }
            length = length * 10 + digit
            digits += 1
        }
        guard digits < bytes.count else { return .unfinished }
        guard digits > 0, bytes[digits] == UInt8(ascii: ":") else { return .broken(.frameMalformed) }
        guard length <= longest else { return .broken(.frameTooLong) }
        let end = digits + 1 + length
        guard end < bytes.count else { return .unfinished }
        return bytes[end] == UInt8(ascii: ",") ? .payload((digits + 1)..<end) : .broken(.frameMalformed)
    }
}
