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

    /// A Unix datagram socket makes its senders wait instead.
    @Test func unixDatagramsAreNotDropped() throws {
        let folder = TemporaryFolder()
        let run = try Kymo.start(["run", "--unixgram", folder.file("a.sock")])
        try Sending.send(lines: Readings.heartRates(7_200), to: try run.addresses()[0])
        let balance = try #require(try run.terminate().balance)
        #expect(balance.accepted == 7_200 && balance.kernelDropped == 0 && balance.isClosed)
    }
}
