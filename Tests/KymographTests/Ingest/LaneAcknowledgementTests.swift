import Glibc
@testable import Kymograph
import KymographCore
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
}
