import KymographCore

/// Readings in the values of a topic's records: each is one document. What reads the topic hears up to where all is
/// durable, partition by partition.
final class RecordProtocol: StreamProtocol {
    /// The beginning of a frame.
    private var rest = ByteWriter(capacity: 64)
    /// Behind the last record of each partition that this look has handed on.
    private var places: [Int32: Int64] = [:]

    var acknowledging: Acknowledging { .byProtocol }
    var kept: ByteView { rest.view }

    func take(
        _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
    ) -> Bool {
        let bytes = piece.bytes
        var start = 0
        while let frame = RecordFrame(bytes, from: start) {
            switch frame.kind {
            case .nothing: break
            case .payload: intake.document(bytes[frame.content], to: &consumer)
            case .unfit: intake.reject(.noEnvelope, bytes[frame.content], to: &consumer)
            }
            places[frame.position.partition] = frame.position.offset + 1
            start = frame.end
        }
        rest.removeAll()
        rest.append(bytes[start..<bytes.count])
        // A lane reads what stands behind what it kept.
        rest.pad(by: ByteView.padding)
        acknowledge(&intake)
        return true
    }

    private func acknowledge(_ intake: inout StreamIntake) {
        guard !places.isEmpty else { return }
        var reply: [UInt8] = []
        for (partition, offset) in places {
            RecordFrame.append(RecordPosition(partition: partition, offset: offset), to: &reply)
        }
        places.removeAll(keepingCapacity: true)
        intake.reply(reply)
    }

    /// Gives nothing: a record that is not complete is not acknowledged, and comes again.
    func end(
        _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
        to consumer: inout some PayloadReceiver & ~Copyable
    ) {
        self.rest.removeAll()
    }
}
