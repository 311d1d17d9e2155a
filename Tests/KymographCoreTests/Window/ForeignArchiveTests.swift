import KymographCore
import Testing

/// An archive that is not the machine's own: keeps everything, and can flip a bit of what it gives back.
private struct DictionaryArchive: ~Copyable, WindowArchive {
    var blocks: [WindowName: [UInt8]] = [:]
    var damages: Bool
    var identities: [Int: SeriesIdentity] = [:]
    var storedBytes: Int { blocks.values.reduce(0) { $0 + $1.count } }
    var evictedWindows: Int { 0 }

    init(damages: Bool) {
        self.damages = damages
    }

    mutating func introduce(series: Int, identity: SeriesIdentity) {
        identities[series] = identity
    }

    mutating func store(series: Int, windowStart: Instant, facts: WindowFacts, block: ByteView) {
        precondition(identities[series] != nil)
        blocks[WindowName(series: series, start: windowStart.nanoseconds)] = block.array
    }

    mutating func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        guard var block = blocks[WindowName(series: series, start: windowStart.nanoseconds)] else { return .absent }
        if damages { block[block.count / 2] ^= 4 }
        writer.append(block)
        return .found
    }

    func evictedThrough(series: Int) -> Instant? { nil }
}

@Suite struct ForeignArchiveTests {
    /// Closes a window with two readings, then adds a late one; returns its outcome and the readings shown last.
    static func reopen(damages: Bool) -> (ReadingOutcome, shown: Int, WindowCounters) {
        let type = MeasurementType(
            name: "t", valueNames: ["v"], grouping: .tumbling(nanoseconds: minute), isNumeric: [true])
        var machine = WindowMachine(
            types: [type], settings: WindowSettings(), archive: DictionaryArchive(damages: damages))
        let series = machine.define(SeriesIdentity(type: 0, device: [65])) ?? -1
        var payload = ByteWriter()
        var outcome = ReadingOutcome.duplicate
        var shown = 0
        for at in [Int64(1), 2, 300, 3] {
            outcome = machine.add(
                series: series, TestReading.at(at).measurement(&payload), payload: payload.view)
            while let emission = machine.nextEmission() {
                shown = machine.content(of: emission).readings.count
                machine.settle(emission)
            }
        }
        return (outcome, shown, machine.counters)
    }

    @Test func anyArchiveGivesTheFullContentBack() {
        let (outcome, shown, counters) = ForeignArchiveTests.reopen(damages: false)
        #expect(outcome == .accepted && shown == 3)
        #expect(counters.damagedWindows == 0 && counters.archivedBytes > 0)
    }

    @Test func aDamagedBlockRejectsTheReadingInsteadOfShowingAPartial() {
        let (outcome, shown, counters) = ForeignArchiveTests.reopen(damages: true)
        #expect(outcome == .rejected(.archiveDamaged) && shown == 2)
        #expect(counters.damagedWindows == 1 && counters.openWindows == 1)
    }
}
