import KymographCore
import Synchronization

/// The readings of one source, counted by its lane.
final class SourceLedger: Sendable {
    private let received = Atomic<Int>(0)
    private let notes = Mutex(MappingNotes())
    private let rejected = Mutex<[Int]>(Array(repeating: 0, count: Rejection.placeCount))

    func add(received count: Int) { received.add(count, ordering: .relaxed) }

    func reject(_ reason: Rejection) { rejected.withLock { $0[Int(reason.rawValue)] += 1 } }

    func note(_ notes: MappingNotes) { self.notes.withLock { $0.add(notes) } }

    var notesCount: MappingNotes { notes.withLock { $0 } }

    var receivedCount: Int { received.load(ordering: .relaxed) }

    var rejectedCounts: [Int] { rejected.withLock { $0 } }
}

/// Counts every reading twice, where it enters and where it ends, so that a lost one shows as a difference.
final class PipelineLedger: Sendable {
    private let sources: Mutex<[SourceLedger]>
    /// By mapping and type.
    let readings = ReadingCounts()
    private let routed = Atomic<Int>(0)
    private let shards = Mutex(ShardTally())
    private let bytes = Atomic<Int>(0)
    private let bundles = Atomic<Int>(0)
    private let undelivered = Atomic<Int>(0)
    /// Payloads that were kept as they came, and those for which there was no room.
    private let keptPayloads = Atomic<Int>(0)
    private let lostPayloads = Atomic<Int>(0)
    /// Frames that did not come when it was their turn, and those of them that came late.
    private let missingFrames = Atomic<Int>(0)
    private let lateFrames = Atomic<Int>(0)
    /// What each shard has said that it keeps, by number.
    private let kept = Mutex<[Int: EngineCounts.Shard]>([:])
    /// What lanes and shards have met, by number.
    private let met = Mutex<(lanes: [Int: Introductions], shards: [Int: Introductions])>(([:], [:]))
    /// By lane and shard.
    private let waits = Mutex<[[Int]: Int]>([:])

    init(sources: Int) {
        self.sources = Mutex((0..<sources).map { _ in SourceLedger() })
    }

    /// Of source `number`, which may be new.
    func source(_ number: Int) -> SourceLedger {
        sources.withLock { sources in
            while sources.count <= number { sources.append(SourceLedger()) }
            return sources[number]
        }
    }

    /// Notes what shard `number` keeps.
    func note(_ counters: WindowCounters, _ introductions: Introductions, shard number: Int) {
        met.withLock { $0.shards[number] = introductions }
        kept.withLock {
            $0[number] = EngineCounts.Shard(
                shard: "\(number)", devices: counters.devices, series: counters.series, windows: counters.openWindows)
        }
    }

    /// Notes what lane `number` has met.
    func note(_ introductions: Introductions, lane number: Int) { met.withLock { $0.lanes[number] = introductions } }

    /// What each lane and each shard has met.
    var introductions: [Introductions] { met.withLock { Array($0.lanes.values) + Array($0.shards.values) } }

    /// Counts that a lane waits for room in the ring to a shard.
    func addWait(lane: Int, shard: Int) { waits.withLock { $0[[lane, shard], default: 0] += 1 } }

    /// What is at hand; `rings` by lane and shard.
    func engine(_ rings: [[Ring]]) -> EngineCounts {
        var engine = EngineCounts()
        let waits = waits.withLock { $0 }
        for (lane, row) in rings.enumerated() {
            for (shard, ring) in row.enumerated() {
                engine.rings.append(
                    EngineCounts.Ring(
                        lane: "\(lane)", shard: "\(shard)", used: ring.usedSlots, slots: ring.capacity,
                        waits: waits[[lane, shard]] ?? 0))
            }
        }
        engine.readings = readings.entries
        engine.lanes = met.withLock { $0.lanes.sorted { $0.key < $1.key } }.map {
            EngineCounts.Lane(lane: "\($0.key)", devices: $0.value.devices.met, series: $0.value.series.met)
        }
        engine.shards = kept.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
        return engine
    }

    func add(routed count: Int) { routed.add(count, ordering: .relaxed) }

    func add(_ tally: ShardTally) { shards.withLock { $0.add(tally) } }

    func addBundle(bytes count: Int) {
        bytes.add(count, ordering: .relaxed)
        bundles.add(1, ordering: .relaxed)
    }

    func miss(_ gap: FrameGap) {
        missingFrames.add(gap.missing, ordering: .relaxed)
        lateFrames.add(gap.late, ordering: .relaxed)
    }

    func add(keptPayloads count: Int) { keptPayloads.add(count, ordering: .relaxed) }

    func addLostPayload() { lostPayloads.add(1, ordering: .relaxed) }

    func addUndelivered() { undelivered.add(1, ordering: .relaxed) }

    /// The present state, of sources called `names`; `sockets` are what lanes read, each with the number of its source.
    /// Exact once all threads have ended; while they run, readings in the rings are neither here nor there and show as
    /// ``PipelineSummary/inFlight``.
    func summary(_ names: [String], _ sockets: [ReceivedSocket]) -> PipelineSummary {
        var summary = PipelineSummary()
        summary.shards = shards.withLock { $0 }
        for (number, name) in names.enumerated() {
            let source = source(number)
            var received = PipelineSummary.Source(name: name)
            received.received = source.receivedCount
            received.rejected = source.rejectedCounts
            summary.notes.add(source.notesCount)
            for (index, count) in received.rejected.enumerated() { summary.shards.rejected[index] += count }
            summary.sources.append(received)
        }
        for socket in sockets {
            summary.sources[socket.source].counts.add(socket.counts)
            summary.sources[socket.source].receiveBufferBytes += socket.receiveBufferBytes
            if let expiry = socket.certificateExpiry { summary.sources[socket.source].certificateExpiry = expiry }
            let drops = Int(socket.counts.kernelDrops)
            if drops > 0 { summary.kernelDropsBySource.append((socket.name, drops)) }
        }
        summary.bytes = bytes.load(ordering: .relaxed)
        summary.bundles = bundles.load(ordering: .relaxed)
        summary.missingFrames = missingFrames.load(ordering: .relaxed)
        summary.lateFrames = lateFrames.load(ordering: .relaxed)
        summary.keptPayloads = keptPayloads.load(ordering: .relaxed)
        summary.lostPayloads = lostPayloads.load(ordering: .relaxed)
        summary.undeliveredBundles = undelivered.load(ordering: .relaxed)
        return summary
    }
}

/// What one lane has read of one source.
struct ReceivedSocket {
    /// Number of the source.
    var source: Int
    /// The address, with the port that the kernel chose.
    var name: String
    var counts: SourceCounts
    var receiveBufferBytes = 0
    /// When the first of its certificates ends, in seconds since 1970; nil without any.
    var certificateExpiry: Double?
}
