import Glibc
@testable import Kymograph
import KymographCore
import Testing

/// Streams that are not NDJSON.
@Suite struct FramedStreamTests {
    private let scratch = Scratch()
    private var path: String { scratch.file("kymo.sock") }

    private func lane(
        _ framing: Framing, _ change: (inout SourceConfiguration) -> Void = { _ in }
    ) throws -> Lane {
        var configuration = SourceConfiguration(.unixStream(path: path), number: 3)
        configuration.framing = .frames(framing)
        change(&configuration)
        return try Lane([configuration])
    }

    /// `texts`, each with its length in two bytes before it.
    private func counted(_ texts: [String]) -> [UInt8] {
        texts.flatMap { [UInt8($0.utf8.count >> 8), UInt8($0.utf8.count & 0xFF)] + Array($0.utf8) }
    }

    private let length = Framing(.length(LengthField(.fixed(width: 2, isBigEndian: true))))

    @Test func handsOnEachFrameOfEachClient() throws {
        let lane = try lane(length)
        let texts = (0..<200).map { "{\"reading\":\($0),\"lines\":\"a\nb\"}" }
        let clients = (0..<3).map { _ in Client.unix(path, stream: true) }
        for client in clients { Files.write(client.descriptor, counted(texts)) }
        let consumer = try lane.collect()
        #expect(consumer.datagrams.count == 600 && consumer.lines.isEmpty && consumer.rejects.isEmpty)
        #expect(consumer.datagrams.prefix(200).map(\.text) == texts)
        #expect(consumer.datagrams.allSatisfy { $0.source == 3 })
        #expect(lane.counts(0).lines == 600)
    }

    /// A frame that comes in many reads is one frame, also when it is longer than one read.
    @Test func joinsWhatComesInPieces() throws {
        let lane = try lane(Framing(.delimiter([0]))) { $0.lineCap = 1 << 20 }
        let long = String(repeating: "long ", count: 150_000)
        let arrived = AtomicFlag()
        let thread = TestThread {
            var consumer = RecordingConsumer()
            consumer.onDatagram = { if $0 == 2 { arrived.set() } }
            _ = try? lane.run(&consumer)
            return consumer.datagrams.map(\.text)
        }
        let client = Client.unix(path, stream: true)
        client.write("sh")
        client.write("ort\0" + long)
        client.write("\0")
        #expect(Patience.until { arrived.isSet })
        lane.stop()
        #expect(thread.join() == ["short", long])
    }

    /// Nothing can be found after a length that cannot be true; that costs the client its connection, and nobody else.
    @Test func aWrongLengthClosesTheConnection() throws {
        let lane = try lane(length) { $0.lineCap = 1_000 }
        let seen = AtomicFlag()
        let thread = TestThread {
            var consumer = RecordingConsumer()
            consumer.onDatagram = { if $0 == 2 { seen.set() } }
            _ = try? lane.run(&consumer)
            return consumer
        }
        let (bad, good) = (Client.unix(path, stream: true), Client.unix(path, stream: true))
        Files.write(bad.descriptor, counted(["one"]) + [0xFF, 0xFF] + Array("two".utf8))
        #expect(Files.readAll(bad.descriptor) == [], "the connection ends")
        Files.write(good.descriptor, counted(["three"]))
        #expect(Patience.until { seen.isSet })
        lane.stop()
        let consumer = thread.join()
        #expect(consumer.datagrams.map(\.text) == ["one", "three"])
        #expect(consumer.rejects.map(\.reason) == [.frameTooLong])
        #expect(consumer.rejects.first?.bytes.prefix(2) == [0xFF, 0xFF])
        #expect(lane.counts(0).rejected == 1 && lane.counts(0).lines == 3)
    }

    @Test func standardInputEndsWhereNothingCanBeFound() throws {
        let (reader, writer) = Files.pipe()
        var configuration = SourceConfiguration(.standardInput(descriptor: reader))
        configuration.framing = .frames(length)
        configuration.lineCap = 1_000
        let lane = try Lane([configuration])
        Files.write(writer, counted(["one"]) + [0xFF, 0xFF] + Array("two".utf8))
        let consumer = try lane.collectToEnd()
        #expect(consumer.datagrams.map(\.text) == ["one"] && consumer.rejects.map(\.reason) == [.frameTooLong])
        close(reader)
        close(writer)
    }

    @Test func whatIsCutByTheEndIsRejected() throws {
        let (reader, writer) = Files.pipe()
        var configuration = SourceConfiguration(.standardInput(descriptor: reader))
        configuration.framing = .frames(Framing(.slip))
        let lane = try Lane([configuration])
        Files.write(writer, Array("whole".utf8) + [0xC0] + Array("hal".utf8))
        close(writer)
        let consumer = try lane.collectToEnd()
        #expect(consumer.datagrams.map(\.text) == ["whole"])
        #expect(consumer.rejects == [.init(reason: .frameIncomplete, bytes: Array("hal".utf8))])
        close(reader)
    }

    @Test func whatIsUnfinishedAtTheStopIsGivenUp() throws {
        let lane = try lane(Framing(.cobs))
        let client = Client.unix(path, stream: true)
        Files.write(client.descriptor, [3, 0x61, 0x62, 0, 5, 0x63])
        let consumer = try lane.collect()
        #expect(consumer.datagrams.map(\.text) == ["ab"])
        #expect(consumer.rejects == [.init(reason: .shutdown, bytes: [5, 0x63])])
    }

    /// The first frame may ask for acknowledgements; each frame counts, whatever became of it.
    @Test func framesAreAcknowledged() throws {
        let lane = try lane(length)
        let client = Client.unix(path, stream: true)
        Files.write(client.descriptor, counted(["{\"kymo\":\"ack\"}", "one", "", "two", "{\"kymo\":\"ack\"}"]))
        lane.stop()
        var consumer = MarkingConsumer(isDurable: true)
        _ = try lane.run(&consumer)
        #expect(consumer.lines == ["one", "two", "{\"kymo\":\"ack\"}"])
        #expect(Files.readAll(client.descriptor) == Array("{\"ack\":3}\n".utf8))
    }
}
