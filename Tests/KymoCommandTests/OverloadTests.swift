import CommandSupport
import Testing

/// More than a socket holds: what the kernel drops is counted to the last datagram.
@Suite struct OverloadTests {
    @Test func everyDatagramIsReceivedOrCountedAsDropped() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml", "sources:\n  - udp: 127.0.0.1:0\n    receiveBuffer: 4KiB\n")
        let run = try Kymo.start(["run", "--config", file])
        let address = try run.addresses()[0]
        let lines = Readings.heartRates(7_200) + Readings.heartRates(7_200, device: "watch-2")
        try Sending.send(lines: lines, to: address)
        let done = try run.terminate()
        #expect(done.end == .exit(0))
        let balance = try #require(done.balance)
        #expect(balance.received + balance.kernelDropped == 14_400 && balance.isClosed, "\(done.error)")
        #expect(balance.kernelDropped > 0, "the buffer is too small for this")
        #expect(balance.accepted == balance.received)
        #expect(done.error.contains("kernel-dropped \(balance.kernelDropped) (\(address) \(balance.kernelDropped))"))
    }

    private func start(_ folder: TemporaryFolder, _ keeping: String) throws -> ChildProcess {
        folder.write(
            "kymo.yaml",
            """
            window: 1s
            lateness: 0s
            ringSlots: 512
            lanes: 1
            \(keeping)
            drain: 300s
            sources: [{unix: a.sock, whenFull: dropNewest}, {unix: b.sock}]

            """)
        let run = try Kymo.start(
            ["run", "--config", "kymo.yaml"], directory: folder.path, input: .pipe, output: .pipe)
        _ = try run.addresses(2)
        return run
    }

    /// A source that may not wait is read on while the output has no reader, and what has no room is counted.
    @Test func whatHasNoRoomIsCounted() throws {
        let folder = TemporaryFolder()
        let run = try start(folder, "ephemeral: true")
        try Sending.send(lines: Readings.heartRates(7_200), to: "unix \(folder.file("a.sock"))")
        let reader = try ChildProcess(
            "/bin/cat", [], input: .open(try #require(run.outputPipe)), output: .path("/dev/null"))
        run.closeOutput()
        let done = try run.terminate()
        #expect(try reader.wait() == .exit(0))
        let balance = try #require(done.balance)
        #expect(done.end == .exit(0) && balance.isClosed && balance.received == 7_200, "\(done.error.suffix(500))")
        let dropped = balance.received - balance.accepted
        #expect(dropped > 0 && done.error.contains("bufferFull \(dropped)"), "\(done.error.suffix(500))")
    }

    /// Nothing of such a source can be acknowledged, which its client is told; those of others beside it are.
    @Test func whatMayBeDroppedIsNotAcknowledged() throws {
        let folder = TemporaryFolder()
        let run = try start(folder, "data: data")
        let refused = try AckClient(folder.file("a.sock"))
        let acknowledged = try AckClient(folder.file("b.sock"))
        acknowledged.send(Readings.ndjson(Readings.heartRates(3)))
        try Waiting.until("answers") {
            refused.receive()
            acknowledged.receive()
            return refused.error != nil && acknowledged.acknowledged == 3
        }
        #expect(refused.error?.contains("whenFull: dropNewest") ?? false)
        let reader = try ChildProcess(
            "/bin/cat", [], input: .open(try #require(run.outputPipe)), output: .path("/dev/null"))
        run.closeOutput()
        #expect(try run.terminate().end == .exit(0))
        #expect(try reader.wait() == .exit(0))
    }

    /// A Unix datagram socket makes its senders wait instead.
    @Test func unixDatagramsAreNotDropped() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--unixgram", folder.file("a.sock")])
        try Sending.send(lines: Readings.heartRates(7_200), to: try run.addresses()[0])
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 7_200 && balance.kernelDropped == 0 && balance.isClosed)
    }
}
