import CZstd
@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Files that are piped into standard input: compressed or not, of lines or documents.
@Suite struct RecognisedInputTests {
    private let lines = (0..<50).map { "{\"device\":\"d-\($0)\",\"value\":\($0)}" }
    private var text: [UInt8] { Array(lines.joined(separator: "\n").utf8) }

    private func zstd(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { block, count in
            unsafe count = ZSTD_compress(block.baseAddress, block.count, bytes, bytes.count, 3)
        }
    }

    private func packed(_ isGzip: Bool, _ bytes: [UInt8]) throws -> [UInt8] {
        isGzip ? try #require(GzipBody.compress(bytes)) : zstd(bytes)
    }

    private func read(
        _ bytes: [UInt8], _ framing: StreamFraming = .lines, seed: UInt64 = 1, ending: StreamEnding = .ended
    ) -> StreamReading {
        var generator = SeededGenerator(seed: Trials.seed(seed))
        return StreamReading(framing, bytes, ending: ending, &generator)
    }

    @Test(arguments: [true, false], Trials.seeds(20))
    func compressedLines(isGzip: Bool, seed: UInt64) throws {
        // One file behind another, as cat makes of them.
        let reading = read(try packed(isGzip, text + [0x0A]) + packed(isGzip, text), seed: seed)
        #expect(reading.consumer.texts == lines + lines && reading.reasons.isEmpty)
    }

    /// More than one chunk comes out of few bytes.
    @Test(arguments: [true, false])
    func muchComesOutOfLittle(isGzip: Bool) throws {
        let many = Array(repeating: lines[7] + "\n", count: 40_000).joined()
        let reading = read(try packed(isGzip, Array(many.utf8)))
        #expect(reading.consumer.texts == Array(repeating: lines[7], count: 40_000) && reading.reasons.isEmpty)
    }

    /// Wherever a file is cut, something is rejected, and what was whole before it is there.
    @Test(arguments: [true, false])
    func aCutFileIsTold(isGzip: Bool) throws {
        let whole = try packed(isGzip, text)
        for count in 4..<whole.count {
            let reading = read(Array(whole.prefix(count)), seed: UInt64(count))
            #expect(reading.reasons.last == .compressedInput, "\(count)")
            #expect(lines.starts(with: reading.consumer.texts), "\(count)")
        }
    }

    /// A block that is whole comes out before the damage behind it, however many bytes come at a time.
    @Test(arguments: [1, 7, 1_000]) func whatIsWholeBeforeDamageComesOut(step: Int) {
        let text = Array((lines[0] + "\n").utf8)
        // A frame of two blocks (RFC 8878, section 3.1.1): one as it stands, and one of a type that there is not.
        let size = text.count << 3
        let bytes: [UInt8] =
            [0x28, 0xB5, 0x2F, 0xFD, 0, 0, UInt8(size & 0xFF), UInt8(size >> 8), 0] + text + [0x06, 0, 0]
        let input = ZstdInput()
        var output = ByteWriter(capacity: 1_000)
        var isDamaged = false
        for start in stride(from: 0, to: bytes.count, by: step) {
            let piece = Array(bytes[start..<min(start + step, bytes.count)])
            var place = 0
            piece.withByteView { view in
                while place < view.count, !isDamaged {
                    do throws(CompressionDamage) {
                        try input.decompress(view, from: &place, to: &output, room: 1_000)
                    } catch {
                        isDamaged = true
                    }
                }
            }
        }
        #expect(isDamaged && output.view.array == text, "\(output.view.string)")
    }

    /// Wherever a byte is wrong, either nothing is different, or something is rejected.
    @Test(arguments: [true, false])
    func aDamagedFileIsTold(isGzip: Bool) throws {
        // Without the content checksum that the command writes, zstd cannot tell: so this file has one.
        var whole = ByteWriter(capacity: 4_096)
        var stream = ZstdStream(level: 3)
        text.withByteView { stream.compress($0, .end, to: &whole) }
        let file = isGzip ? try packed(true, text) : whole.view.array
        for index in 4..<file.count {
            var damaged = file
            damaged[index] ^= 0x10
            let reading = read(damaged, seed: UInt64(index))
            #expect(reading.reasons.contains(.compressedInput) || reading.consumer.texts == lines, "\(index)")
        }
    }

    @Test func whatFollowsACompressedFileIsTold() throws {
        #expect(read(try packed(true, text + [0x0A]) + Array("rest".utf8)).reasons == [.compressedInput])
    }

    @Test(arguments: [StreamFraming.documents, .table(TableFraming())])
    func compressedOfOtherFramings(framing: StreamFraming) throws {
        let table = "device,value\nd-1,1\nd-2,2\n"
        let content = framing == .documents ? "{\n \"a\": 1\n}\n{}\n" : table
        #expect(read(try packed(true, Array(content.utf8)), framing).payloads.count == 2)
    }

    /// What its first line tells.
    @Test(arguments: [
        ("{\"a\":1}\n{\n", false), ("{\n  \"a\": 1\n}\n", true), ("{\n\"a\": 1\n}\n", true),
        ("\n\n{\r\n\t\"a\": 1}", true),
        ("[\n{\"a\": 1},\n{\"b\": 2}\n]", true), ("[{\"a\":1},\n {\"b\":2}]", true), ("[{\"a\":1},{\"b\":2}]\n", false),
        ("{\"a\":\n{\"b\":1}\n", false), ("{\"a\":\"cut\n{\"b\":1}\n", false), ("nonsense\n", false),
        ("\u{FEFF}{\n \"a\":1}", true),
        ("{\"a\":1", false), ("[", false), ("", false),
    ])
    func linesOrDocuments(text: String, isDocuments: Bool) {
        let bytes = Array(text.utf8)
        let recognised = read(bytes)
        var source = SourceConfiguration(.unixStream(path: "none"))
        source.framing = isDocuments ? .documents : .lines
        let expected = StreamReading(source, [bytes])
        #expect(recognised.consumer.lines == expected.consumer.lines)
        #expect(recognised.consumer.datagrams == expected.consumer.datagrams)
        #expect(recognised.consumer.rejects == expected.consumer.rejects)
    }

    /// One array in one line, longer than any payload.
    @Test func aLongArrayIsReadElementByElement() {
        let many = (0..<20_000).map { "{\"device\":\"d-\($0)\"}" }
        let reading = read(Array("[\(many.joined(separator: ","))]".utf8))
        #expect(reading.payloads == many && reading.reasons.isEmpty)
    }

    /// Frames may begin as files do, and other sources get no files.
    @Test func nothingElseIsRecognised() throws {
        let file = try packed(true, text)
        let framed = read(file + [0], .frames(Framing(.delimiter([0]))))
        #expect(framed.reasons.isEmpty && !framed.payloads.isEmpty)
        let socket = StreamReading(SourceConfiguration(.unixStream(path: "none")), [file])
        #expect(!socket.reasons.contains(.compressedInput))
    }
}
