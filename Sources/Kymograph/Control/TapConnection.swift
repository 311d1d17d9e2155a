import CKymographLinux
import FoundationEssentials

/// The client's end of a tap.
package final class TapConnection {
    /// What came of asking for a tap.
    package enum Outcome {
        /// Events follow.
        case opened(TapConnection)
        /// The instance does not do it, and says why.
        case refused(String)
        /// No instance answers.
        case missing
    }

    /// What the instance said first.
    package let opening: TapOpening
    private let descriptor: Descriptor
    /// A line that is not complete yet.
    private var rest: [UInt8] = []

    private init(_ opening: TapOpening, _ descriptor: Descriptor) {
        (self.opening, self.descriptor) = (opening, descriptor)
    }

    /// Asks the instance that uses `directory` for a tap.
    package static func open(_ request: TapRequest, _ directory: String) -> Outcome {
        guard let descriptor = ControlSocket.connect(directory),
            let line = try? JSONEncoder().encode(ControlRequest(request)),
            ControlSocket.write([UInt8](line), to: descriptor),
            let first = ControlSocket.readLine(descriptor, onlyLine: true),
            let answer = try? JSONDecoder().decode(ControlAnswer.self, from: Data(first))
        else { return .missing }
        guard let opening = answer.tap else {
            return .refused(answer.error ?? "this instance is of a version that has no taps: restart it")
        }
        return .opened(TapConnection(opening, descriptor))
    }

    /// Waits for lines, for `milliseconds` at most or until `other` is readable, and gives those that are complete,
    /// without their line feeds; nil when the instance has ended.
    package func lines(or other: Int32, milliseconds: Int32) -> [[UInt8]]? {
        guard kymo_wait_either(descriptor.raw, other, milliseconds) & 1 != 0 else { return [] }
        guard let piece = ControlSocket.receiveNow(descriptor) else { return nil }
        var lines = (rest + piece).split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        rest = lines.removeLast()
        return lines
    }
}
