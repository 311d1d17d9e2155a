/// One archived window.
struct ArchiveEntry: BitwiseCopyable {
    var start: Instant
    var series: UInt32
    /// Which chunk holds its block.
    var chunk: UInt32
    var offset: UInt32
    var length: UInt32
    /// Neighbours among the entries of the chunk; `next` of a free entry is the next free one.
    var next: UInt32
    var previous: UInt32
}

/// An archive in memory, of limited size: the windows that were stored first are dropped first.
///
/// Blocks are appended to chunks. To make room, the oldest chunk is dropped with all windows in it; a chunk whose
/// windows have all been replaced is dropped early. The limit holds for all chunks together.
package struct MemoryArchive: ~Copyable, WindowArchive {
    /// A run of blocks.
    struct Chunk: ~Copyable {
        var bytes: ByteWriter
        let capacity: Int
        var firstEntry = MemoryArchive.none

        init(capacity: Int) {
            self.capacity = capacity
            bytes = ByteWriter(capacity: capacity)
        }
    }

    /// Nobody asks afterwards what was in a window.
    package static var readsFacts: Bool { false }

    private static let none = UInt32.max
    private static let evictedNothing = Instant.distantPast

    private let limit: Int
    private let chunkBytes: Int
    /// By their numbers; those that were dropped have no capacity.
    private var chunks = OwnedList<Chunk>(count: 0) { _ in preconditionFailure("there are none yet") }
    private var freeNumbers: [Int] = []
    /// Chunk numbers, oldest first; the last one is being filled.
    private var order: [Int] = []
    private var capacity = 0
    private var entries = RawArray<ArchiveEntry>(capacity: 64)
    private var firstFree = MemoryArchive.none
    private var index = ArchiveIndex()
    private var evicted = RawArray<Instant>(capacity: 64)
    private var hasEvicted = RawArray<Bool>(capacity: 64)
    /// Latest window start ever stored of each series: spares the look-up of windows that are newer than all others.
    private var latest = RawArray<Instant>(capacity: 64)
    /// Bytes of the blocks that can be loaded.
    package private(set) var storedBytes = 0
    /// Windows dropped to stay within the limit.
    package private(set) var evictedWindows = 0

    /// Keeps at most `bytes` bytes of blocks.
    package init(bytes: Int) {
        precondition(bytes > 0)
        limit = bytes
        chunkBytes = min(256 << 10, max(bytes / 16, 64))
    }

    /// Makes room to remember what `series` loses.
    package mutating func introduce(series: Int, identity: SeriesIdentity) {
        evicted.grow(to: series + 1, with: MemoryArchive.evictedNothing)
        hasEvicted.grow(to: series + 1, with: false)
        latest.grow(to: series + 1, with: .distantPast)
    }

    /// Keeps `block`; a block that is larger than the whole archive counts as dropped at once.
    package mutating func store(series: Int, windowStart: Instant, facts: WindowFacts, block: ByteView) {
        if let old = find(series, windowStart) { remove(old) }
        latest[series] = max(latest[series], windowStart)
        guard block.count <= limit else { return noteEviction(series: series, start: windowStart) }
        let chunk = chunk(for: block.count)
        let entry = ArchiveEntry(
            start: windowStart, series: UInt32(series), chunk: UInt32(chunk),
            offset: UInt32(chunks[chunk].bytes.count), length: UInt32(block.count), next: chunks[chunk].firstEntry,
            previous: MemoryArchive.none)
        chunks[chunk].bytes.append(block)
        let number = record(entry)
        if entry.next != MemoryArchive.none { entries[Int(entry.next)].previous = UInt32(number) }
        chunks[chunk].firstEntry = UInt32(number)
        index.insert(number, in: entries)
        storedBytes += block.count
    }

    /// Prefetches where the entry of a window will be found.
    @inline(__always)
    package func prefetch(series: Int, windowStart: Instant) {
        latest.prefetch(series)
        index.prefetch(UInt32(series), windowStart)
    }

    /// Appends the block of a window to `writer`, if it is kept.
    package mutating func load(series: Int, windowStart: Instant, into writer: inout ByteWriter) -> ArchiveLookup {
        guard let number = find(series, windowStart) else { return .absent }
        let entry = entries[number]
        writer.append(chunks[Int(entry.chunk)].bytes.view(Int(entry.offset)..<Int(entry.offset + entry.length)))
        return .found
    }

    private func find(_ series: Int, _ start: Instant) -> Int? {
        start > latest[series] ? nil : index.find(UInt32(series), start, in: entries)
    }

    /// The latest start of the windows of `series` that were dropped.
    package func evictedThrough(series: Int) -> Instant? {
        hasEvicted[series] ? evicted[series] : nil
    }

    /// The number of the chunk to append `size` bytes to.
    private mutating func chunk(for size: Int) -> Int {
        if let last = order.last, chunks[last].bytes.count + size <= chunks[last].capacity { return last }
        let wanted = max(chunkBytes, size)
        while !order.isEmpty && capacity + wanted > limit { dropOldest() }
        let number = freeNumbers.popLast() ?? chunks.count
        let chunk = Chunk(capacity: wanted)
        if number == chunks.count { chunks.append(chunk) } else { chunks[number] = chunk }
        order.append(number)
        capacity += wanted
        return number
    }

    private mutating func dropOldest() {
        guard let number = order.first else { return }
        while chunks[number].firstEntry != MemoryArchive.none {
            let entry = Int(chunks[number].firstEntry)
            noteEviction(series: Int(entries[entry].series), start: entries[entry].start)
            detach(entry)
        }
        drop(number)
    }

    private mutating func noteEviction(series: Int, start: Instant) {
        evicted[series] = max(evicted[series], start)
        hasEvicted[series] = true
        evictedWindows += 1
    }

    private mutating func drop(_ chunk: Int) {
        order.removeAll { $0 == chunk }
        freeNumbers.append(chunk)
        capacity -= chunks[chunk].capacity
        chunks[chunk] = Chunk(capacity: 0)
    }

    private mutating func record(_ entry: ArchiveEntry) -> Int {
        guard firstFree != MemoryArchive.none else {
            entries.append(entry)
            return entries.count - 1
        }
        let number = Int(firstFree)
        firstFree = entries[number].next
        entries[number] = entry
        return number
    }

    private mutating func remove(_ number: Int) {
        let chunk = Int(entries[number].chunk)
        detach(number)
        if chunks[chunk].firstEntry == MemoryArchive.none && chunk != order.last { drop(chunk) }
    }

    private mutating func detach(_ number: Int) {
        let entry = entries[number]
        index.remove(number, in: entries)
        if entry.next != MemoryArchive.none { entries[Int(entry.next)].previous = entry.previous }
        if entry.previous == MemoryArchive.none {
            chunks[Int(entry.chunk)].firstEntry = entry.next
        } else {
            entries[Int(entry.previous)].next = entry.next
        }
        storedBytes -= Int(entry.length)
        entries[number].next = firstFree
        firstFree = UInt32(number)
    }
}
