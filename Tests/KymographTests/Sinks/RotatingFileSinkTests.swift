import CZstd
import Glibc
import Kymograph
import KymographCore
import Synchronization
import Testing

@Suite struct RotatingFileSinkTests {
    private let scratch = Scratch()
    /// 2026-11-21T06:45:35Z
    private let clock = TestClock(Instant(seconds: 1_795_243_535))
    /// That of ages, which counts from any moment.
    private let steady = TestClock(Instant(seconds: 5))

    /// Lets time pass, on both clocks.
    private func pass(seconds: Int64) {
        clock.advance(seconds: seconds)
        steady.advance(seconds: seconds)
    }

    private func sink(_ change: (inout RotationOptions) -> Void = { _ in }) throws -> RotatingFileSink {
        var options = RotationOptions()
        change(&options)
        return try RotatingFileSink(
            directory: scratch.path, options: options, clock: { [clock] in clock.now },
            steady: { [steady] in steady.now })
    }

    private func write(_ text: String, to sink: RotatingFileSink) throws {
        try Array(text.utf8).withByteView { bytes in try sink.write(bytes) }
    }

    private var whole: [String] { scratch.names.filter { !$0.hasSuffix(".open") } }

    @Test func aFileHasItsNameOnlyWhenItIsWhole() throws {
        let sink = try sink()
        #expect(scratch.names.isEmpty)
        try write("{\"a\":1}", to: sink)
        try sink.flush()
        #expect(scratch.names == ["kymo-20261121T064535-000001.ndjson.open"])
        #expect(Files.text(scratch.file("kymo-20261121T064535-000001.ndjson.open")) == "{\"a\":1}\n")
        try sink.close()
        #expect(scratch.names == ["kymo-20261121T064535-000001.ndjson"])
        #expect(Files.text(scratch.file("kymo-20261121T064535-000001.ndjson")) == "{\"a\":1}\n")
        #expect(Files.mode(scratch.file("kymo-20261121T064535-000001.ndjson")) & 0o027 == 0)
        #expect(throws: SinkError.self) { try write("late", to: sink) }
    }

    @Test func rotatesBySize() throws {
        let sink = try sink { $0.maxBytes = 100 }
        for number in 0..<10 { try write("{\"bundle\":\(number),\"pad\":\"01234567890123456789\"}", to: sink) }
        try sink.close()
        let texts = whole.map { Files.text(scratch.file($0)) }
        #expect(texts.allSatisfy { $0.utf8.count <= 100 })
        #expect(texts.joined().split(separator: "\n").count == 10)
        #expect(sink.finishedFiles == texts.count)
        #expect(texts.count == 5)
    }

    @Test func rotatesByAge() throws {
        let sink = try sink {
            $0.maxAge = 60_000_000_000
            $0.maxIdle = 0
        }
        try write("first", to: sink)
        pass(seconds: 59)
        try sink.tick(steady.now)
        #expect(whole.isEmpty)
        pass(seconds: 1)
        try sink.tick(steady.now)
        #expect(whole == ["kymo-20261121T064535-000001.ndjson"])
        try write("second", to: sink)
        pass(seconds: 60)
        try write("third", to: sink)
        try sink.close()
        #expect(whole.map { Files.text(scratch.file($0)) } == ["first\n", "second\n", "third\n"])
        #expect(whole.last == "kymo-20261121T064735-000003.ndjson")
    }

    /// What a quiet ward sends is not held back until a file is old.
    @Test func rotatesWhenIdle() throws {
        let sink = try sink { $0.maxIdle = 10_000_000_000 }
        try write("first", to: sink)
        pass(seconds: 9)
        try write("second", to: sink)
        pass(seconds: 9)
        try sink.tick(steady.now)
        #expect(whole.isEmpty)
        pass(seconds: 1)
        try sink.tick(steady.now)
        #expect(whole.map { Files.text(scratch.file($0)) } == ["first\nsecond\n"])
        pass(seconds: 100)
        try sink.tick(steady.now)
        try sink.close()
        #expect(scratch.names.count == 1)
    }

    /// A wall clock that is set neither ends a file at once nor keeps it open: catches ages that are measured by it.
    @Test(arguments: [-86_400, 86_400] as [Int64]) func aStepOfTheWallClockIsNoAge(step: Int64) throws {
        let sink = try sink {
            $0.maxAge = 60_000_000_000
            $0.maxIdle = 10_000_000_000
        }
        try write("first", to: sink)
        clock.advance(seconds: step)
        pass(seconds: 9)
        try sink.tick(steady.now)
        try write("second", to: sink)
        #expect(whole.isEmpty)
        clock.advance(seconds: -step)
        pass(seconds: 10)
        try sink.tick(steady.now)
        #expect(whole.map { Files.text(scratch.file($0)) } == ["first\nsecond\n"])
        try write("third", to: sink)
        clock.advance(seconds: step)
        for _ in 0..<11 {
            pass(seconds: 5)
            try write("and", to: sink)
        }
        #expect(whole.count == 1)
        pass(seconds: 5)
        try write("fourth", to: sink)
        #expect(whole.count == 2)
        try sink.close()
        #expect(whole.last.map { Files.text(scratch.file($0)) } == "fourth\n")
    }

    @Test func compressesToFramesThatDecode() throws {
        let sink = try sink {
            $0.compression = .zstd()
            $0.maxBytes = 20_000
        }
        var random = SystemRandomNumberGenerator()
        let bundles = (0..<20_000).map { "{\"bundle\":\($0),\"noise\":\(random.next())}" }
        for bundle in bundles { try write(bundle, to: sink) }
        try sink.close()
        #expect(whole.count > 1)
        #expect(whole.allSatisfy { $0.hasSuffix(".ndjson.zst") })
        let decoded = whole.map { String(decoding: decompress(Files.read(scratch.file($0))), as: UTF8.self) }
        #expect(decoded.joined() == bundles.map { $0 + "\n" }.joined())
    }

    private func decompress(_ bytes: [UInt8]) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: 8 << 20)
        let size = unsafe ZSTD_decompress(&output, output.count, bytes, bytes.count)
        #expect(ZSTD_isError(size) == 0)
        return Array(output[..<size])
    }

    @Test func replacesNothing() throws {
        Files.write(scratch.file("kymo-20261121T064535-000001.ndjson"), Array("precious".utf8))
        let sink = try sink()
        try write("new", to: sink)
        Files.write(scratch.file("kymo-20261121T064535-000002.ndjson"), Array("late comer".utf8))
        try sink.close()
        #expect(whole.map { Files.text(scratch.file($0)) } == ["precious", "late comer", "new\n"])
    }

    /// Also when the clock is set back, in a run and between two: of two versions of an Observation, the later one is in
    /// the later file.
    @Test func namesSortAsFilesWereWritten() throws {
        for run in 0..<2 {
            let sink = try sink { $0.maxBytes = 1 }
            for line in 0..<3 {
                try write("\(run * 3 + line)", to: sink)
                clock.advance(seconds: -1)
            }
            try sink.close()
        }
        #expect(whole.sorted().map { Files.text(scratch.file($0)) } == (0..<6).map { "\($0)\n" })
    }

    /// Also what earlier versions left, under hidden names.
    @Test(arguments: [("", ".open"), (".", ".tmp")])
    func finishesWhatACrashLeft(before: String, after: String) throws {
        func leave(_ name: String, _ bytes: [UInt8]) { Files.write(scratch.file(before + name + after), bytes) }
        leave("kymo-20261120T000000-000001.ndjson", Array("one\ntwo\nthr".utf8))
        leave("kymo-20261120T000000-000002.ndjson", Array("half".utf8))
        leave("kymo-20261120T000000-000003.ndjson.zst", [0x28, 0xB5, 0x2F, 0xFD])
        leave("kymo-20261120T000000-000004.ndjson", [])
        leave("unrelated", Array("keep".utf8))
        let sink = try sink()
        #expect(Set(scratch.names) == Set(["\(before)unrelated\(after)"] + sink.recovered.map(\.name)))
        #expect(
            sink.recovered.map(\.name) == [
                "kymo-20261120T000000-000001.ndjson", "kymo-20261120T000000-000002.ndjson.partial",
                "kymo-20261120T000000-000003.ndjson.zst.partial",
            ])
        #expect(sink.recovered.map(\.bytesCut) == [3, 0, 0])
        #expect(sink.recovered.map(\.isPartial) == [false, true, true])
        #expect(Files.text(scratch.file("kymo-20261120T000000-000001.ndjson")) == "one\ntwo\n")
        #expect(Files.text(scratch.file("kymo-20261120T000000-000002.ndjson.partial")) == "half")
    }

    /// A power cut may keep what was written later, and leave zeros for what came before it. Both were not durable.
    @Test func keepsNothingBehindWhatWasNotWritten() throws {
        let hole = [UInt8](repeating: 0, count: 70_000)
        let lines = [Array("one\ntw".utf8) + hole + Array("o\nthree\n".utf8), hole + Array("four\n".utf8)]
        for (place, bytes) in lines.enumerated() {
            Files.write(scratch.file("kymo-20261120T000000-00000\(place + 1).ndjson.open"), bytes)
        }
        let sink = try sink()
        #expect(sink.recovered.map(\.bytesCut) == [lines[0].count - 4, 0])
        #expect(sink.recovered.map(\.isPartial) == [false, true])
        #expect(Files.text(scratch.file("kymo-20261120T000000-000001.ndjson")) == "one\n")
        #expect(Files.read(scratch.file("kymo-20261120T000000-000002.ndjson.partial")) == lines[1])
    }

    @Test func ownsItsDirectory() throws {
        let first = try sink()
        let error = #expect(throws: SinkError.self) { try sink() }
        #expect(error?.kind == .inUse)
        try first.close()
        _ = try sink()
    }

    @Test func createsItsDirectory() throws {
        let directory = scratch.file("out")
        let sink = try RotatingFileSink(directory: directory)
        #expect(Files.mode(directory) & 0o027 == 0)
        try sink.close()
        unsafe rmdir(directory)
        let error = #expect(throws: SinkError.self) { try RotatingFileSink(directory: "\(directory)/deep") }
        #expect(error?.message.contains("create the directory above it first") == true)
    }
}

/// A clock that stands until it is moved.
final class TestClock: Sendable {
    private let time: Mutex<Instant>

    init(_ start: Instant) {
        time = Mutex(start)
    }

    var now: Instant { time.withLock { $0 } }

    func advance(seconds: Int64) {
        time.withLock { $0 = $0.advanced(by: seconds * 1_000_000_000) }
    }
}
