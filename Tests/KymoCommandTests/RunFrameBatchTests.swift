import CommandSupport
import Testing

/// Datagrams of several binary frames, through the whole pipeline.
@Suite struct RunFrameBatchTests {
    /// A frame of the heart rate `beats` of strap-1, `second` seconds after 2026-03-01T08:00:00Z.
    private func frame(_ beats: UInt8, second: Int64) -> [UInt8] {
        let time = UInt64((1_772_352_000 + second) * 1_000_000)
        return [0x4B, 1, 1, 7] + Array("strap-1".utf8) + [0x37, 0x2A] + (0..<8).map { UInt8(time >> ($0 * 8) & 0xFF) }
            + [0, 0, 2, 0, 6, beats]
    }

    /// Every frame ends somewhere: accepted, duplicate, or as a dead letter with all of its bytes.
    @Test func everyFrameIsCounted() throws {
        let folder = TemporaryFolder()
        let letters = folder.file("rejected.ndjson")
        let run = try Kymo.start(
            ["run", "--udp", "127.0.0.1:0", "--mapping", "heart-rate-strap", "--dead-letter", letters])
        let many = (0..<40).flatMap { frame(UInt8(60 + $0), second: $0) }
        let unclear = [0x4B, 1, 0, 0, 0x37, 0x2A, 1, 0, 6] as [UInt8]
        let cut = Array(frame(70, second: 103).dropLast())
        let foreign = [0x4B, 2, 0x0A] + frame(71, second: 104)
        try Sending.send(
            exactly: [
                many, frame(90, second: 99) + frame(60, second: 0),
                frame(80, second: 100) + unclear + frame(81, second: 101), frame(82, second: 102) + cut,
                frame(83, second: 105) + foreign,
            ], to: try run.addresses()[0])
        let done = try run.terminate()
        let balance = try #require(done.balance)
        #expect(balance.accepted == 45 && balance.duplicate == 1, "\(done.error)")
        #expect(balance.reasons == ["truncatedPacket": 1, "invalidBridgeFrame": 2] && balance.isClosed)
        #expect(try DeadLetter.read(letters).map(\.bytes).suffix(3) == [unclear, cut, foreign])
    }
}
