import KymographCore
import Testing
import TrialSupport

@Suite struct MemoryArchiveTests {
    /// The archive against a dictionary: what it has is right, what it lost it admits, and it keeps to its limit.
    @Test func keepsReplacesAndEvictsTheOldest() {
        for seed in Trials.seeds(60) {
            var random = WindowRandom(seed: seed)
            let limit = random.int(64...4_000)
            var archive = MemoryArchive(bytes: limit)
            for series in 0..<4 { archive.introduce(series: series, identity: SeriesIdentity(type: 0, device: [1])) }
            var stored: [WindowName: [UInt8]] = [:]
            for _ in 0..<500 {
                let name = WindowName(series: random.int(0...3), start: Int64(random.int(-20...20)))
                let block = (0..<random.int(1...60)).map { _ in UInt8(random.int(0...255)) }
                block.withByteView {
                    archive.store(
                        series: name.series, windowStart: Instant(nanoseconds: name.start), facts: .none, block: $0)
                }
                stored[name] = block
                #expect(archive.storedBytes <= limit)
                #expect(MemoryArchiveTests.isRight(&archive, stored), "seed \(seed)")
            }
            if limit < 1_000 { #expect(archive.evictedWindows > 0) }
        }
    }

    static func isRight(_ archive: inout MemoryArchive, _ stored: [WindowName: [UInt8]]) -> Bool {
        var writer = ByteWriter()
        var bytes = 0
        for (name, block) in stored {
            writer.removeAll()
            let start = Instant(nanoseconds: name.start)
            if case .found = archive.load(series: name.series, windowStart: start, into: &writer) {
                bytes += block.count
                guard writer.view.array == block else { return false }
            } else {
                guard let evicted = archive.evictedThrough(series: name.series), evicted >= start else { return false }
            }
        }
        return bytes == archive.storedBytes
    }

    @Test func aBlockLargerThanTheArchiveCountsAsEvicted() {
        var archive = MemoryArchive(bytes: 100)
        archive.introduce(series: 0, identity: SeriesIdentity(type: 0, device: [1]))
        #expect(archive.evictedThrough(series: 0) == nil)
        Array(repeating: UInt8(1), count: 101).withByteView {
            archive.store(series: 0, windowStart: Instant(nanoseconds: 5), facts: .none, block: $0)
        }
        #expect(archive.evictedThrough(series: 0) == Instant(nanoseconds: 5) && archive.evictedWindows == 1)
    }
}

extension WindowFacts {
    /// Of a window that nothing is known of.
    fileprivate static let none = WindowFacts(
        end: .distantPast, firstReading: .distantPast, lastReading: .distantPast,
        readings: .init(repeating: 0), duplicates: 0, conflicts: 0, journal: 0)
}
