import GRDB
import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// The payloads of a window, up to a limit.
@Suite struct WindowPayloadsTests {
    private let scratch = Scratch()

    private func line(_ second: Int64) -> [UInt8] {
        let time = Instant(nanoseconds: DurableRehearsal.start.nanoseconds - 600_000_000_000 + second * 1_000_000_000)
        return Array(
            #"{"deviceId":"watch-1","type":"heartRate","timestamp":"\#(time.text)","value":70,"unit":"/min"}"#.utf8)
    }

    /// Keeps a payload of each second in a row of its own, as commits do.
    private func keep(_ seconds: Range<Int64>, _ db: Database) throws {
        var compressor = BodyCompressor()
        for second in seconds {
            var writer = PayloadSectionWriter()
            let time = Instant(
                nanoseconds: DurableRehearsal.start.nanoseconds - 600_000_000_000 + second * 1_000_000_000)
            writer.begin()
            let series = SeriesIdentity(type: 0, device: Array("watch-1".utf8))
            SeriesKey.encode(series).withByteView { writer.note($0, type: "heartRate", at: time) }
            line(second).withByteView { writer.end($0, source: 0, received: time) }
            let section = writer.take()
            try StoredPayloads.insert([#require(section)], &compressor, now: time, db)
        }
    }

    /// What comes after the limit is not read: that it is damaged is not even seen.
    @Test func nothingIsReadBehindTheLimit() throws {
        let set = try #require(PipelineRehearsal.reading)
        var run = try StoredRun(scratch.path, set: set)
        try run.take((0..<4).map(line), delivers: true)
        try run.end()
        let queue = try DatabaseQueue(path: StoreDirectory.database(in: scratch.path))
        let window = try queue.write { db in
            try keep(0..<4, db)
            try db.execute(sql: "UPDATE raw SET body = x'00' WHERE number > 2")
            return try #require(try Row.fetchOne(db, sql: "SELECT start, series FROM window"))
        }
        let cursor = ArchiveCursor(start: window[0], series: window[1])
        let reader = try StoreReader(directory: scratch.path)
        let some = try #require(try reader.payloads(ofWindow: cursor, limit: 1, bytes: 1 << 20))
        #expect(some.payloads.map(\.bytes) == [line(0)] && some.isPartial && !some.isDamaged)
        let first = try #require(try reader.payloads(ofWindow: cursor, limit: 9, bytes: line(0).count))
        #expect(first.payloads.count == 1 && first.isPartial && !first.isDamaged)
        let all = try #require(try reader.payloads(ofWindow: cursor, limit: 9, bytes: 1 << 20))
        #expect(all.payloads.map(\.bytes) == [line(0), line(1)] && !all.isPartial && all.isDamaged)
    }
}
