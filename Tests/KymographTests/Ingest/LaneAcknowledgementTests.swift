import Glibc
@testable import Kymograph
import KymographCore
import Synchronization
import Testing

/// What a lane does for clients that ask for acknowledgements, whatever keeps the readings.
@Suite struct LaneAcknowledgementTests {
    private let scratch = Scratch()
    private var path: String { scratch.file("kymo.sock") }
    private let request = "{\"kymo\":\"ack\"}"

    private func lane(_ change: (inout SourceConfiguration) -> Void = { _ in }) throws -> Lane {
        var configuration = SourceConfiguration(.unixStream(path: path))
        change(&configuration)
        return try Lane([configuration])
    }

    /// Sends `text`, says that nothing more comes, and ends the lane; gives what the client heard.
    private func heard(_ text: String) throws -> String {
        let lane = try lane()
        let client = Client.unix(path, stream: true)
        client.write(text)
        _ = shutdown(client.descriptor, Int32(SHUT_WR))
        lane.stop()
        var consumer = MarkingConsumer(isDurable: true)
        _ = try lane.run(&consumer)
        return String(decoding: Files.readAll(client.descriptor), as: UTF8.self)
    }

    @Test func aLastLineWithoutNewlineCounts() throws {
        #expect(try heard("\(request)\none\ntwo").hasSuffix("{\"ack\":2}\n"))
    }

    @Test(arguments: ["\r\n", "\n"])
    func theRequestEndsLikeAnyLine(end: String) throws {
        #expect(try heard("\(request)\(end)one\(end)two\(end)") == "{\"ack\":2}\n")
    }

    /// A line that is too long does not become a request by its end.
    @Test func theEndOfALongLineAsksForNothing() throws {
        let lane = try lane { $0.lineCap = 20 }
        let isRejected = AtomicFlag()
        let thread = TestThread {
            var consumer = MarkingConsumer(isDurable: true)
            consumer.onReject = { isRejected.set() }
            _ = try? lane.run(&consumer)
            return consumer.lines
        }
        let client = Client.unix(path, stream: true)
        client.write(String(repeating: "x", count: 30))
        #expect(Patience.until { isRejected.isSet })
        client.write("\(request)\none\n")
        lane.stop()
        #expect(thread.join() == ["one"])
        #expect(Files.readAll(client.descriptor) == [])
    }

    /// All clients that wait in the kernel's queue are read, though those before them keep their connections until they
    /// have heard all.
    @Test func stoppingReadsClientsBeyondTheCapThatWantAcknowledgements() throws {
        let lane = try lane { $0.maxConnections = 2 }
        let clients = (0..<9).map { _ in Client.unix(path, stream: true) }
        for (number, client) in clients.enumerated() { client.write("\(request)\n\(number)\n") }
        lane.stop()
        var consumer = MarkingConsumer(isDurable: true)
        _ = try lane.run(&consumer)
        #expect(consumer.lines.sorted() == (0..<9).map(String.init))
        for client in clients { #expect(Files.readAll(client.descriptor) == Array("{\"ack\":1}\n".utf8)) }
    }

    /// While clients wait for lines to become durable, the lane still does what is due when it is quiet.
    @Test func waitingForTheDiskDoesNotKeepTheLaneBusy() throws {
        let lane = try lane()
        let (begun, hasLine) = (Tally(), AtomicFlag())
        let thread = TestThread {
            var consumer = MarkingConsumer(isDurable: false)
            consumer.onBegin = { begun.add() }
            consumer.onLine = { hasLine.set() }
            _ = try? lane.run(&consumer)
        }
        let client = Client.unix(path, stream: true)
        client.write("\(request)\none\n")
        #expect(Patience.until { hasLine.isSet })
        let before = begun.count
        #expect(Patience.until { begun.count > before + 1 })
        lane.stop()
        thread.join()
    }

    /// However many chunks wait for the disk, or for a client that does not read, what is remembered of them is little.
    @Test func whatWaitsIsBounded() {
        var acknowledger = Acknowledger(refusing: nil)
        var consumer = MarkingConsumer(isDurable: true)
        for number in 1...100_000 {
            acknowledger.add(lines: 1)
            acknowledger.note(DurableMark(positions: [UInt64(number)], changes: number))
        }
        #expect(acknowledger.answer(&consumer) == Array("{\"ack\":100000}\n".utf8))
        #expect(consumer.questions <= 64)
    }

    /// An acknowledgement never covers lines after the last durable place.
    @Test func marksThatAreJoinedKeepTheLaterPlace() {
        var acknowledger = Acknowledger(refusing: nil)
        let count = 10 * 64
        for number in 1...count {
            acknowledger.add(lines: 1)
            acknowledger.note(DurableMark(positions: [], changes: number))
        }
        for durable in [1, 64 + 1, count - 1] {
            var consumer = MarkingConsumer(isDurable: true)
            consumer.durableChanges = durable
            let answer = acknowledger.answer(&consumer)
            let lines = Int(String(decoding: answer, as: UTF8.self).filter(\.isNumber)) ?? 0
            #expect(lines <= durable)
            acknowledger.sent(answer.count)
        }
        var consumer = MarkingConsumer(isDurable: true)
        #expect(acknowledger.answer(&consumer) == Array("{\"ack\":\(count)}\n".utf8))
    }
}

/// Counts from several threads.
private final class Tally: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.add(1, ordering: .relaxed) }
}
