import Glibc
import Kymograph
import KymographCore
import Testing

@Suite struct UnixSocketTests {
    private let scratch = Scratch()
    private var path: String { scratch.file("kymo.sock") }

    private func streamLane(_ change: (inout SourceConfiguration) -> Void = { _ in }) throws -> Lane {
        var configuration = SourceConfiguration(.unixStream(path: path), number: 3)
        change(&configuration)
        return try Lane([configuration])
    }

    private func datagramLane() throws -> Lane {
        try Lane([SourceConfiguration(.unixDatagram(path: path), number: 4)])
    }

    @Test func handsOnDatagrams() throws {
        let lane = try datagramLane()
        let client = Client.unix(path, stream: false)
        for text in ["one", "two", "three"] { #expect(client.send(text)) }
        #expect(try lane.collect().datagrams.map(\.text) == ["one", "two", "three"])
        #expect(lane.counts(0).datagrams == 3)
    }

    @Test func rejectsADatagramThatIsTooLong() throws {
        let lane = try datagramLane()
        let client = Client.unix(path, stream: false)
        #expect(client.send(String(repeating: "a", count: 65_536)))
        #expect(client.send(String(repeating: "b", count: 65_537)))
        let consumer = try lane.collect()
        #expect(consumer.datagrams.map(\.text.utf8.count) == [65_536])
        #expect(consumer.rejects.map(\.reason) == [.truncatedDatagram])
        #expect(consumer.rejects.first?.bytes == Array(repeating: 0x62, count: 65_536))
        #expect(lane.counts(0).datagrams == 2)
        #expect(lane.counts(0).rejected == 1)
    }

    @Test func readsManyClients() throws {
        let lane = try streamLane()
        let clients = (0..<50).map { _ in Client.unix(path, stream: true) }
        for round in 0..<3 {
            for (number, client) in clients.enumerated() { client.write("{\"client\":\(number),\"round\":\(round)}\n") }
        }
        let consumer = try lane.collect()
        #expect(consumer.lines.count == 150)
        #expect(Set(consumer.texts).count == 150)
        #expect(consumer.lines.allSatisfy { $0.source == 3 })
        #expect(lane.counts(0).connections == 50)
        #expect(lane.counts(0).lines == 150)
    }

    @Test func takesWaitingClientsBeyondTheCapWhenStopping() throws {
        let lane = try streamLane { $0.maxConnections = 2 }
        for number in 0..<9 { Client.unix(path, stream: true).write("\(number)\n") }
        #expect(try lane.collect().texts.sorted() == (0..<9).map(String.init))
    }

    @Test func servesClientsOneAfterTheOtherAtTheCap() throws {
        let lane = try streamLane { $0.maxConnections = 1 }
        let gate = Gate()
        let thread = TestThread {
            var consumer = RecordingConsumer()
            consumer.onLine = { if $0 == 9 { gate.open() } }
            _ = try? lane.run(&consumer)
            return consumer.texts
        }
        for number in 0..<9 { Client.unix(path, stream: true).write("\(number)\n") }
        gate.wait()
        lane.stop()
        #expect(thread.join() == (0..<9).map(String.init))
    }

    @Test func acceptsEveryLineEnd() throws {
        let lane = try streamLane()
        Client.unix(path, stream: true).write("one\r\ntwo\n\n\r\n three \n{\"last\":1}")
        #expect(try lane.collect().texts == ["one", "two", " three ", "{\"last\":1}"])
        #expect(lane.counts(0).lines == 4)
    }

    @Test func rejectsALineThatIsTooLongOnceAndGoesOn() throws {
        let lane = try streamLane { $0.lineCap = 10 }
        let client = Client.unix(path, stream: true)
        client.write("0123456789\n0123456789\r\n0123456789X\nshort\n\(String(repeating: "y", count: 1000))\nend\n")
        let consumer = try lane.collect()
        #expect(consumer.texts == ["0123456789", "0123456789", "short", "end"])
        #expect(consumer.rejects.map(\.reason) == [.lineTooLong, .lineTooLong])
        #expect(consumer.rejects.map { String(decoding: $0.bytes, as: UTF8.self) } == ["0123456789", "yyyyyyyyyy"])
        #expect(lane.counts(0).lines == 6)
        #expect(lane.counts(0).rejected == 2)
    }

    @Test func givesUpALineThatIsOpenWhenStopping() throws {
        let lane = try streamLane()
        let client = Client.unix(path, stream: true)
        client.write("whole\nhal")
        let consumer = try lane.collect()
        #expect(consumer.texts == ["whole"])
        #expect(consumer.rejects == [.init(reason: .shutdown, bytes: Array("hal".utf8))])
        withExtendedLifetime(client) {}
    }

    @Test func replacesAStaleSocketFile() throws {
        let raw = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try bindAndForget(raw)
        #expect(Files.exists(path))
        let lane = try streamLane()
        Client.unix(path, stream: true).write("reading\n")
        #expect(try lane.collect().texts == ["reading"])
    }

    /// Leaves the file of a socket that nobody listens to.
    private func bindAndForget(_ raw: Int32) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (place, byte) in path.utf8.enumerated() { unsafe bytes[place] = byte }
        }
        let code = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe bind(raw, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        #expect(code == 0)
        close(raw)
    }

    @Test func refusesALiveSocketFile() throws {
        let live = try streamLane()
        let error = #expect(throws: SourceError.self) { try streamLane() }
        #expect(error?.kind == .addressInUse)
        #expect(throws: SourceError.self) { try datagramLane() }
        #expect(Files.exists(path))
        _ = try live.collect()
    }

    @Test func refusesToReplaceAnotherFile() throws {
        Files.write(path, Array("precious".utf8))
        let error = #expect(throws: SourceError.self) { try streamLane() }
        #expect(error?.kind == .invalidAddress)
        #expect(Files.text(path) == "precious")
    }

    @Test func setsTheFilesMode() throws {
        let lane = try streamLane()
        #expect(Files.mode(path) == 0o660)
        _ = try lane.collect()
        let open = try streamLane { $0.socketMode = 0o666 }
        #expect(Files.mode(path) == 0o666)
        _ = try open.collect()
    }

    @Test func removesItsFileAndNoOther() throws {
        _ = try streamLane().collect()
        #expect(!Files.exists(path))
        let lane = try datagramLane()
        unsafe unlink(path)
        Files.write(path, Array("another".utf8))
        _ = try lane.collect()
        #expect(Files.text(path) == "another")
    }

    @Test func refusesAPathThatIsTooLong() {
        let long = scratch.file(String(repeating: "x", count: 120))
        let error = #expect(throws: SourceError.self) { try Lane([SourceConfiguration(.unixStream(path: long))]) }
        #expect(error?.kind == .invalidAddress)
        #expect(error?.message.contains("107") == true)
    }

    @Test func closesWhatItOpenedWhenALaterSourceFails() throws {
        let sources: [SourceConfiguration] = [
            SourceConfiguration(.unixStream(path: path)),
            SourceConfiguration(.unixStream(path: scratch.file("missing/kymo.sock"))),
        ]
        #expect(throws: SourceError.self) { try Lane(sources) }
        #expect(!Files.exists(path))
    }
}
