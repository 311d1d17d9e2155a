import Glibc
import KymographCore
import Testing

@testable import Kymograph

/// Room that is set aside for large files is given back when they are finished, or after a crash.
@Suite struct ReservedRoomTests {
    private let scratch = Scratch()
    private let clock = TestClock(Instant(seconds: 1_795_243_535))
    private let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99_999) + [0x0A]
    private static let mebibyte = 1 << 20

    private func sink() throws -> RotatingFileSink {
        try RotatingFileSink(directory: scratch.path, options: RotationOptions()) { [clock] in clock.now }
    }

    /// Bytes that a file takes on the disk.
    private func allocated(_ name: String) -> Int {
        FileSystem.status(scratch.file(name)).map { Int($0.st_blocks) * 512 } ?? 0
    }

    /// Whether the file system of the tests can set room aside.
    private var canReserve: Bool {
        let raw = FileSystem.open(scratch.file("probe"), O_WRONLY | O_CREAT, mode: 0o600)
        defer {
            close(raw)
            FileSystem.remove(scratch.file("probe"))
        }
        return FileSystem.reserve(raw, at: 0, count: 4_096)
    }

    private func write(lines: Int, to sink: RotatingFileSink) throws {
        for _ in 0..<lines { try line.withByteView { bytes in try sink.write(bytes) } }
        try sink.flush()
    }

    @Test func largeFilesHaveItUntilTheyAreFinished() throws {
        let canReserve = canReserve
        let sink = try sink()
        try write(lines: 5, to: sink)
        let growing = try #require(scratch.names.first)
        #expect(allocated(growing) < 2 * ReservedRoomTests.mebibyte)
        try write(lines: 25, to: sink)
        #expect(canReserve == (allocated(growing) > 4 * ReservedRoomTests.mebibyte))
        #expect(FileSystem.status(scratch.file(growing))?.st_size == 30 * line.count)
        try sink.close()
        let name = try #require(scratch.names.first)
        #expect(Files.read(scratch.file(name)) == (0..<30).flatMap { _ in line })
        #expect(allocated(name) < 4 * ReservedRoomTests.mebibyte)
    }

    @Test func whatACrashLeftHasItNoMore() throws {
        let growing = "kymo-20261120T000000-000001.ndjson.open"
        let raw = FileSystem.open(scratch.file(growing), O_WRONLY | O_CREAT, mode: 0o600)
        Files.write(raw, Array("one\ntwo\n".utf8))
        _ = FileSystem.reserve(raw, at: 8, count: 4 * ReservedRoomTests.mebibyte)
        close(raw)
        let sink = try sink()
        let name = try #require(sink.recovered.first?.name)
        #expect(Files.text(scratch.file(name)) == "one\ntwo\n")
        #expect(allocated(name) < ReservedRoomTests.mebibyte)
    }
}
