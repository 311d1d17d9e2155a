@testable import Kymograph
import KymographCore
import Testing

/// Streams of what Bluetooth tools write while they run.
@Suite struct CaptureStreamTests {
    private let scratch = Scratch()

    private static let attribute = "[CHG] Attribute /org/bluez/hci0/dev_A0_9E_1A_5B_3C_01/service000b/char000c Value:"
    /// What the tools write, with the noise around it.
    private static let text = """
        \u{1B}[34m[A0:9E:1A:5B:3C:01]\u{1B}[0m[LE]> \rNotification handle = 0x0012 value: 06 3c \r
        [A0:9E:1A:5B:3C:01][LE]> \rIndication   handle = 0x0012 value: 06 3d
        > ACL Data RX: Handle 64 flags 0x02 dlen 11              #12 [hci0] 3.456789
              ATT: Handle Value Notification (0x1b) len 6
                Handle: 0x0012
                  Data: 063e
        \(attribute)
          16 3c 11 04                                      .<..
        [\u{1B}[0;93mCHG\u{1B}[0m] Device A0:9E:1A:5B:3C:01 RSSI: -60
        \(attribute)
          10 aa 00 00 01 00 02 00 03 00 f3 03 fc ff fd ff  ................
          fe ff ff ff                                      ....
        Notification received from 00002a37-0000-1000-8000-00805f9b34fb, value: (0x) 06-3F
        [A0:9E:1A:5B:3C:01][LE]>
        """
    private static let values = [
        "063c", "063d", "063e", "163c1104", "10aa0000010002000300f303fcfffdfffeffffff", "063f",
    ]

    private func configuration(_ change: (inout CaptureFraming) -> Void = { _ in }) -> SourceConfiguration {
        var configuration = SourceConfiguration(.unixStream(path: scratch.file("kymo.sock")), number: 3)
        var framing = CaptureFraming()
        change(&framing)
        configuration.framing = .capture(framing)
        return configuration
    }

    private func value(_ frame: String) -> Substring {
        frame.firstRange(of: "\"value\":\"").map { frame[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
    }

    /// What becomes of pieces of a client's output, each read on its own.
    private func consumer(_ pieces: [String], _ configuration: SourceConfiguration) throws -> RecordingConsumer {
        let lane = try Lane([configuration])
        let client = Client.unix(scratch.file("kymo.sock"), stream: true)
        for piece in pieces { client.write(piece) }
        return try withExtendedLifetime(client) { try lane.collect() }
    }

    @Test func packetsBecomeFrames() throws {
        let found = try consumer([Self.text], configuration())
        #expect(found.datagrams.map { value($0.text) } == Self.values.map { $0[...] } && found.rejects.isEmpty)
        #expect(found.lines.isEmpty && found.datagrams.allSatisfy { $0.source == 3 })
        let first = found.datagrams[0].text
        #expect(first.hasPrefix(#"{"device":"A0:9E:1A:5B:3C:01","handle":18,"time":"20"#), "\(first)")
        #expect(first.hasSuffix(#"Z","value":"063c"}"#), "\(first)")
        #expect(found.datagrams[5].text.contains(#""characteristic":"00002a37-0000-1000-8000-00805f9b34fb""#))
        // No two have one time, though all came in one read.
        #expect(Set(found.datagrams.map { $0.text.drop { $0 != "T" }.prefix(20) }).count == Self.values.count)
    }

    /// A look at a stream of source 3.
    private func intake() -> StreamIntake {
        let configuration = SourceConfiguration(.standardInput(descriptor: 0), number: 3)
        return StreamIntake(
            Stream(Descriptor(-1), source: 0, configuration: configuration).progress,
            received: Instant(seconds: 1_772_352_000))
    }

    /// However the bytes come, the packets are the same, and each is there as soon as its last line is.
    @Test func everySplit() {
        func values(_ pieces: [ArraySlice<UInt8>], isEnded: Bool = true) -> [Substring] {
            let capture = CaptureProtocol(CaptureFraming(), cap: 1_000)
            var (consumer, intake) = (RecordingConsumer(), intake())
            for piece in pieces {
                let memory = PaddedBytes(copying: piece)
                #expect(capture.take(StreamPiece(memory.view), &intake, to: &consumer))
            }
            if isEnded { capture.end(.ended, ByteView(""), &intake, to: &consumer) }
            #expect(intake.counts.lines == UInt64(consumer.datagrams.count) && consumer.rejects.isEmpty)
            return consumer.datagrams.map { value($0.text) }
        }
        let bytes = Array(Self.text.utf8)
        let expected = Self.values.map { $0[...] }
        #expect(values(bytes.indices.map { bytes[$0...$0] }) == expected)
        // From the first line of the long dump on; every place would take long without optimisation.
        let start = Self.text.firstRange(of: "  10 aa").map { Self.text[$0.lowerBound...] } ?? ""
        let rest = Array("\(Self.attribute)\n\(start)".utf8)
        for place in stride(from: 0, to: rest.count, by: 5) {
            #expect(values([rest[..<place], rest[place...]]) == Array(expected.suffix(2)), "\(place)")
        }
        // A dump that does not fill its line ends with it, too.
        for (mark, count) in [("063e\n", 3), (".<..\n", 4), ("  ....\n", 5)] {
            let start = Self.text.firstRange(of: mark).map { Self.text[..<$0.upperBound] } ?? ""
            #expect(values([Array(start.utf8)[...]], isEnded: false) == Array(expected.prefix(count)), "\(mark)")
        }
    }

    /// What the tool does not tell, the framing does.
    @Test func deviceAndOffset() throws {
        let framing = configuration {
            $0.device = "strap \"1\""
            $0.offsetMinutes = -210
        }
        let found = try consumer(["Notification handle = 0x0012 value: 06 3c\n"], framing)
        let frame = try #require(found.datagrams.first).text
        #expect(frame.hasPrefix(#"{"device":"strap \"1\"","handle":18,"#) && frame.contains("-03:30\","), "\(frame)")
    }

    /// A packet whose line is cut at the end is not guessed; a prompt that is left there is nothing.
    @Test func theEndOfALane() throws {
        let cut = try consumer(["Notification handle = 0x0012 value: 16 3c"], configuration())
        #expect(cut.datagrams.isEmpty && cut.rejects.map(\.reason) == [.shutdown])
        let prompt = try consumer(["Notification handle = 0x0012 value: 06 3c\n[bluetooth]# "], configuration())
        #expect(prompt.datagrams.count == 1 && prompt.rejects.isEmpty)
    }

    /// Wherever the stream ends, no packet is another than the tool wrote.
    @Test func theEndOfAStream() {
        let announced = "Notification handle = 0x0012 value: 16 3c 11 04\n[bluetooth]# "
        let dump =
            Self.attribute + "\n  10 aa 00 00 01 00 02 00 03 00 f3 03 fc ff fd ff  ................\n  fe ff ff ff"
        for (text, whole) in [(announced, "163c1104"), (dump + "  ....\n", Self.values[4])] {
            let bytes = Array(text.utf8)
            var reasons: Set<Rejection> = []
            for end in 0...bytes.count {
                let capture = CaptureProtocol(CaptureFraming(), cap: 1_000)
                var (consumer, intake) = (RecordingConsumer(), intake())
                let memory = PaddedBytes(copying: bytes[..<end])
                #expect(capture.take(StreamPiece(memory.view), &intake, to: &consumer))
                capture.end(.ended, ByteView(""), &intake, to: &consumer)
                let isFullLine = end > 0 && bytes[end - 1] == UInt8(ascii: "\n")
                for found in consumer.datagrams where value(found.text) != whole[...] {
                    // The tool writes a dump at once: its first line ends where the stream does only if it was killed.
                    #expect(isFullLine && whole.hasPrefix(value(found.text)), "\(end)")
                }
                #expect(end < bytes.count || consumer.datagrams.count == 1)
                reasons.formUnion(consumer.rejects.map(\.reason))
            }
            #expect(reasons == [.frameIncomplete])
        }
    }

    @Test func linesThatAreTooLong() throws {
        var short = configuration()
        short.lineCap = 100
        let long = String(repeating: "x", count: 300)
        let found = try consumer([long + "\nNotification handle = 0x0012 value: 06 3c\n"], short)
        #expect(found.datagrams.count == 1 && found.rejects.map(\.reason) == [.frameTooLong])
        #expect(found.rejects.first?.bytes.count == 100)
    }
}
