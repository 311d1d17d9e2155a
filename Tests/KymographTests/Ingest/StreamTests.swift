import Glibc
import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@Suite struct StreamTests {
    private let scratch = Scratch()

    @Test func readsAPipeToItsEnd() throws {
        let (reader, writer) = Files.pipe()
        let lane = try Lane([SourceConfiguration(.standardInput(descriptor: reader), number: 9)])
        let feeder = TestThread {
            for number in 0..<20_000 { Files.write(writer, Array("{\"n\":\(number)}\n".utf8)) }
            Files.write(writer, Array("{}".utf8))
            close(writer)
        }
        var consumer = RecordingConsumer()
        #expect(try lane.run(&consumer) == .sourcesEnded)
        feeder.join()
        #expect(consumer.texts == (0..<20_000).map { "{\"n\":\($0)}" } + ["{}"])
        #expect(consumer.lines.allSatisfy { $0.source == 9 })
        #expect(fcntl(reader, F_GETFD) >= 0, "the process's own descriptor stays open")
        close(reader)
    }

    /// A regular file cannot be waited for, and is longer than one chunk.
    @Test func readsARegularFile() throws {
        let texts = (0..<30_000).map { "{\"reading\":\($0),\"pad\":\"0123456789\"}" }
        Files.write(scratch.file("in.ndjson"), Array((texts.joined(separator: "\r\n") + "\n").utf8))
        let descriptor = unsafe open(scratch.file("in.ndjson"), O_RDONLY)
        defer { close(descriptor) }
        let lane = try Lane([SourceConfiguration(.standardInput(descriptor: descriptor))])
        #expect(try lane.collectToEnd().texts == texts)
        #expect(lane.counts(0).lines == 30_000)
    }

    @Test func endsAtOnceWhenThereIsNothing() throws {
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        let lane = try Lane([SourceConfiguration(.standardInput(descriptor: descriptor))])
        #expect(try lane.collectToEnd().texts.isEmpty)
    }

    @Test func stopsAnInputThatNeverEnds() throws {
        let descriptor = unsafe open("/dev/zero", O_RDONLY)
        defer { close(descriptor) }
        let lane = try Lane([SourceConfiguration(.standardInput(descriptor: descriptor))])
        let consumer = try lane.collect()
        #expect(consumer.rejects.count <= 1)
    }

    @Test func goesOnWithSocketsAfterTheEndOfInput() throws {
        let (reader, writer) = Files.pipe()
        let path = scratch.file("kymo.sock")
        let lane = try Lane([
            SourceConfiguration(.standardInput(descriptor: reader), number: 0),
            SourceConfiguration(.unixStream(path: path), number: 1),
        ])
        let gate = Gate()
        let thread = TestThread {
            var consumer = RecordingConsumer()
            consumer.onLine = { _ in gate.open() }
            let end = try? lane.run(&consumer)
            return (end == .stopped, consumer.texts)
        }
        Files.write(writer, Array("from stdin\n".utf8))
        close(writer)
        gate.wait()
        Client.unix(path, stream: true).write("from a socket\n")
        gate.wait()
        lane.stop()
        let (wasStopped, texts) = thread.join()
        #expect(wasStopped)
        #expect(texts == ["from stdin", "from a socket"])
        close(reader)
    }

    @Test func reportsADescriptorThatCannotBeRead() throws {
        let directory = unsafe open(scratch.path, O_RDONLY)
        defer { close(directory) }
        let lane = try Lane([SourceConfiguration(.standardInput(descriptor: directory))])
        let error = #expect(throws: SourceError.self) { try lane.collectToEnd() }
        #expect(error?.kind == .system(EISDIR))
    }

    /// Whatever pieces a stream arrives in, the lines are those of a plain split.
    @Test(arguments: Trials.seeds(tenthOf: 60))
    func linesDoNotDependOnPieces(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let cap = Int.random(in: 1...40, using: &random)
        let alphabet = Array("ab\r\n\n".utf8)
        let bytes = (0..<Int.random(in: 0...4000, using: &random)).map { _ in
            Int.random(in: 0..<10, using: &random) < 7 ? 0x61 : alphabet[Int.random(in: 0..<5, using: &random)]
        }
        let (reader, writer) = Files.pipe()
        var configuration = SourceConfiguration(.standardInput(descriptor: reader))
        configuration.lineCap = cap
        let lane = try Lane([configuration])
        var cuts = Set((0..<30).map { _ in Int.random(in: 0...bytes.count, using: &random) })
        cuts.insert(bytes.count)
        let pieces = cuts.sorted()
        let feeder = TestThread {
            var start = 0
            for cut in pieces {
                Files.write(writer, Array(bytes[start..<cut]))
                start = cut
                sched_yield()
            }
            close(writer)
        }
        let consumer = try lane.collectToEnd(knowsLines: seed % 2 == 0)
        feeder.join()
        close(reader)
        let (lines, rejects) = expected(bytes, cap: cap)
        #expect(consumer.texts == lines, "seed \(seed)")
        #expect(lane.counts(0).lines == UInt64(lines.count + rejects.count), "seed \(seed)")
        if seed % 2 == 0, lines.count > 100 { #expect(consumer.knownLines > 0) }
        #expect(consumer.rejects.map(\.bytes) == rejects, "seed \(seed)")
    }

    private func expected(_ bytes: [UInt8], cap: Int) -> (lines: [String], rejects: [[UInt8]]) {
        var lines: [String] = []
        var rejects: [[UInt8]] = []
        for piece in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let line = piece.last == 0x0D ? piece.dropLast() : piece
            if line.count > cap {
                rejects.append(Array(piece.prefix(cap)))
            } else if piece.endIndex == bytes.endIndex, !line.isEmpty {
                // What comes by a pipe may be cut at its end.
                rejects.append(Array(line))
            } else if !line.isEmpty {
                lines.append(String(decoding: line, as: UTF8.self))
            }
        }
        return (lines, rejects)
    }
}
