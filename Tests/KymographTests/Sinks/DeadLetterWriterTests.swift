import Glibc
import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@Suite struct DeadLetterWriterTests {
    private let scratch = Scratch()
    private var path: String { scratch.file("dead.ndjson") }

    private func append(_ bytes: [UInt8], detail: String = "", to writer: DeadLetterWriter) {
        let instant = Instant(nanoseconds: 1_795_243_535_123_456_789)
        bytes.withByteView { view in
            writer.append(
                reason: .invalidJSON, source: "udp 127.0.0.1:5757", receivedAt: instant, bytes: view, detail: detail)
        }
    }

    @Test func writesOneObjectPerLine() throws {
        let writer = try DeadLetterWriter(path: path)
        append(Array("ab\"c".utf8), detail: "say \"no\" \\ \n\u{1}é", to: writer)
        try writer.close()
        let expected = #"""
            {"reason":"invalidJSON","source":"udp 127.0.0.1:5757","receivedAt":"2026-11-21T06:45:35.123456789Z",\#
            "bytes":"YWIiYw==","detail":"say \"no\" \\ \n\u0001é"}

            """#
        #expect(Files.text(path) == expected)
        #expect(Files.mode(path) & 0o137 == 0)
    }

    @Test(arguments: Trials.seeds(40))
    func bytesCanBeReadBack(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let writer = try DeadLetterWriter(path: path)
        append(bytes, to: writer)
        writer.flush()
        let text = Files.text(path)
        let start = try #require(text.range(ofText: "\"bytes\":\""))
        #expect(decodeBase64(text[start...].prefix { $0 != "\"" }) == bytes, "seed \(seed)")
    }

    private func decodeBase64(_ text: Substring) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in text.utf8 {
            guard let digit = digits.firstIndex(of: byte) else { continue }
            bits = (bits << 6 | digit) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
        return bytes
    }

    @Test func appendsFromManyThreads() throws {
        Files.write(path, Array("cut off".utf8))
        let writer = try DeadLetterWriter(path: path)
        let threads = (0..<4).map { _ in
            TestThread {
                for number in 0..<2000 {
                    Array("\(number)".utf8).withByteView { bytes in
                        writer.append(
                            reason: .noDevice, source: "stdin", receivedAt: Instant(seconds: 0), bytes: bytes,
                            detail: "")
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        try writer.close()
        let lines = Files.text(path).split(separator: "\n")
        #expect(lines.first == "cut off")
        #expect(lines.count == 8001)
        #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("{\"reason\":\"noDevice\"") && $0.hasSuffix("\"}") })
        #expect(writer.counts.taken == 8000)
    }

    @Test func countsWhatAFullDiskCosts() throws {
        let writer = try DeadLetterWriter(path: "/dev/full")
        let bytes = Array(repeating: UInt8(0), count: 60_000)
        for _ in 0..<100 { append(bytes, to: writer) }
        #expect(writer.counts.lost > 0)
        #expect(writer.counts.taken + writer.counts.lost == 100)
        #expect(writer.takeError()?.kind == .diskFull)
        #expect(writer.takeError() == nil, "an error is reported once")
        writer.flush()
        #expect(writer.takeError() == nil, "the same trouble goes on")
    }

    @Test func namesAFileThatCannotBeOpened() {
        let error = #expect(throws: SinkError.self) { try DeadLetterWriter(path: scratch.file("missing/dead.ndjson")) }
        #expect(error?.kind == .system(ENOENT))
    }
}

extension String {
    /// The place after the first occurrence of `text`.
    fileprivate func range(ofText text: String) -> String.Index? {
        indices.first { self[$0...].hasPrefix(text) }.map { index(after: $0) }.flatMap { start in
            index(start, offsetBy: text.count - 1, limitedBy: endIndex)
        }
    }
}
