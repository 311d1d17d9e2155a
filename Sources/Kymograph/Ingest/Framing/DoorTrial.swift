package import KymographCore

/// One connection of a door without a socket, for measuring what its protocol takes: nothing becomes durable, so that
/// replies are due at once, and they are only counted.
package final class DoorTrial {
    private enum Door {
        case http(HTTPIngestProtocol)
        case mllp(MLLPProtocol)
    }

    private let door: Door
    private let progress = StreamProgress(
        number: 0, lineCap: MLLPProtocol.longest, acknowledging: .byProtocol, isFresh: true, hasOpenEnds: false)
    /// How many bytes of replies there were.
    package private(set) var replies = 0

    private init(_ door: Door) { self.door = door }

    /// A client of the HTTP source.
    package static func http() -> DoorTrial { DoorTrial(.http(HTTPIngestProtocol(HeldBytes()))) }

    /// A sender of HL7 v2 over MLLP.
    package static func mllp() -> DoorTrial { DoorTrial(.mllp(MLLPProtocol(HeldBytes(), cap: MLLPProtocol.longest))) }

    /// Takes `bytes`, which are padded, as one look at the connection gives them.
    package func take(_ bytes: ByteView, to consumer: inout some PayloadReceiver & ~Copyable) {
        var intake = StreamIntake(progress)
        let goesOn =
            switch door {
            case .http(let reader): reader.take(StreamPiece(bytes), &intake, to: &consumer)
            case .mllp(let reader): reader.take(StreamPiece(bytes), &intake, to: &consumer)
            }
        precondition(goesOn, "the connection has ended")
        progress.acknowledger?.note(nil)
        replies += progress.acknowledger?.takeUnsent() ?? 0
    }
}
