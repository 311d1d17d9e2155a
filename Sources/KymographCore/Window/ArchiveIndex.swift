/// Finds the archived block of a (series, window start): open addressing over the entries' numbers.
struct ArchiveIndex: ~Copyable {
    private var cells: RawArray<UInt32>
    private var count = 0

    /// Stands for an empty cell.
    private static let empty = UInt32.max

    init() {
        cells = RawArray(repeating: ArchiveIndex.empty, count: 64)
    }

    /// The entry of a window, or nil.
    func find(_ series: UInt32, _ start: Instant, in entries: borrowing RawArray<ArchiveEntry>) -> Int? {
        var cell = home(series, start)
        while cells[cell] != ArchiveIndex.empty {
            let entry = entries[Int(cells[cell])]
            if entry.series == series && entry.start == start { return Int(cells[cell]) }
            cell = (cell + 1) & (cells.count - 1)
        }
        return nil
    }

    /// Prefetches the memory where the entry of a window is likely to be.
    @inline(__always)
    func prefetch(_ series: UInt32, _ start: Instant) { cells.prefetch(home(series, start)) }

    /// Adds entry `number`, whose window must not be there.
    mutating func insert(_ number: Int, in entries: borrowing RawArray<ArchiveEntry>) {
        if (count + 1) * 4 > cells.count * 3 { enlarge(entries) }
        place(UInt32(number), entries[number])
        count += 1
    }

    /// Removes the entry of a window, closing the gap it leaves so that searches still end at the first empty cell.
    mutating func remove(_ number: Int, in entries: borrowing RawArray<ArchiveEntry>) {
        var gap = home(entries[number].series, entries[number].start)
        while cells[gap] != UInt32(number) { gap = (gap + 1) & (cells.count - 1) }
        var cell = gap
        while true {
            cell = (cell + 1) & (cells.count - 1)
            guard cells[cell] != ArchiveIndex.empty else { break }
            let entry = entries[Int(cells[cell])]
            let distance = (cell - home(entry.series, entry.start)) & (cells.count - 1)
            guard distance >= (cell - gap) & (cells.count - 1) else { continue }
            cells[gap] = cells[cell]
            gap = cell
        }
        cells[gap] = ArchiveIndex.empty
        count -= 1
    }

    private mutating func place(_ number: UInt32, _ entry: ArchiveEntry) {
        var cell = home(entry.series, entry.start)
        while cells[cell] != ArchiveIndex.empty { cell = (cell + 1) & (cells.count - 1) }
        cells[cell] = number
    }

    private mutating func enlarge(_ entries: borrowing RawArray<ArchiveEntry>) {
        let size = cells.count
        var old = RawArray<UInt32>(repeating: ArchiveIndex.empty, count: size * 2)
        swap(&old, &cells)
        for cell in 0..<size where old[cell] != ArchiveIndex.empty { place(old[cell], entries[Int(old[cell])]) }
    }

    private func home(_ series: UInt32, _ start: Instant) -> Int {
        var hash = UInt64(bitPattern: start.nanoseconds) ^ UInt64(series) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 32)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 29)) &* 0x94D0_49BB_1331_11EB
        return Int(truncatingIfNeeded: hash >> 33) & (cells.count - 1)
    }
}
