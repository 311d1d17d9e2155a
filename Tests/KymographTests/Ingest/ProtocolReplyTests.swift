import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// Protocols with replies of their own.
@Suite struct ProtocolReplyTests {
    /// Single bytes, each of which has a reply: the byte in upper case, or a question mark where it is a dot.
    private final class ByteProtocol: StreamProtocol {
        var acknowledging: Acknowledging { .byProtocol }

        func take(
            _ piece: StreamPiece, _ intake: inout StreamIntake, to consumer: inout some PayloadReceiver & ~Copyable
        ) -> Bool {
            for place in 0..<piece.bytes.count {
                let byte = piece.bytes[place]
                let bytes = piece.bytes[place..<(place + 1)]
                if byte == UInt8(ascii: ".") {
                    intake.reject(.frameMalformed, bytes, to: &consumer)
                    intake.reply([UInt8(ascii: "?")])
                } else {
                    intake.payload(bytes, to: &consumer)
                    intake.reply([byte & 0xDF])
                }
            }
            return true
        }

        func end(
            _ ending: StreamEnding, _ rest: ByteView, _ intake: inout StreamIntake,
            to consumer: inout some PayloadReceiver & ~Copyable
        ) {}
    }

    private func lane() throws -> Lane {
        var configuration = SourceConfiguration(.tcp(host: "127.0.0.1", port: 0))
        configuration.framing = .custom(CustomFraming(text: "bytes", hidesCuts: true) { _ in ByteProtocol() })
        return try Lane([configuration])
    }

    /// Each payload has its own reply, in order, once it is durable; what is rejected has one, too.
    @Test func everyPayloadHasItsReply() throws {
        let lane = try lane()
        let client = Client.tcp(lane.address(0))
        client.write("ab.c")
        _ = shutdown(client.descriptor, Int32(SHUT_WR))
        lane.stop()
        var consumer = MarkingConsumer(isDurable: true)
        _ = try lane.run(&consumer)
        #expect(consumer.lines == ["a", "b", "c"])
        #expect(Files.readAll(client.descriptor) == Array("AB?C".utf8))
    }

    @Test func nothingIsSaidBeforeItIsDurable() throws {
        let lane = try lane()
        let client = Client.tcp(lane.address(0))
        client.write("ab")
        lane.stop()
        var consumer = MarkingConsumer(isDurable: false)
        _ = try lane.run(&consumer)
        #expect(consumer.lines == ["a", "b"] && Files.readAll(client.descriptor) == [])
    }

    /// Without a disk, replies leave at once.
    @Test func whereNothingIsEverDurable() throws {
        let lane = try lane()
        let client = Client.tcp(lane.address(0))
        client.write("ab")
        lane.stop()
        var consumer = RecordingConsumer()
        _ = try lane.run(&consumer)
        #expect(Files.readAll(client.descriptor) == Array("AB".utf8))
    }

    /// However many places wait for the disk, no reply leaves before its payload is durable.
    @Test func joinedMarksKeepTheLaterPlace() {
        var acknowledger = Acknowledger()
        for number in 1...200 {
            acknowledger.add(reply: [UInt8(number)])
            acknowledger.note(DurableMark(positions: [], changes: number))
        }
        var consumer = MarkingConsumer(isDurable: true)
        consumer.durableChanges = 150
        let first = acknowledger.answer(&consumer)
        #expect(first == (1...63).map { UInt8($0) })
        acknowledger.sent(first.count)
        consumer.durableChanges = 200
        #expect(acknowledger.answer(&consumer) == (64...200).map { UInt8($0) })
    }
}
