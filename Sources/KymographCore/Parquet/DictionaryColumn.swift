/// Values that come again and again: each is kept once, and runs of them are counted.
struct DictionaryColumn {
    private struct Run {
        var index: UInt32
        var count: UInt32
    }

    let column: ParquetColumn
    /// Stands for a value that is absent.
    static let absent = UInt32.max
    /// Values longer than this are no statistics.
    private static let longestStatistic = 64

    /// All distinct values, one behind the other, and where each ends.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// Open addressing: an index into `ends` and 1, or 0. Its length is a power of two.
    private var table = [UInt32](repeating: 0, count: 64)
    private var runs: [Run] = []
    private var count = 0
    private var absentCount = 0
    /// Bytes of all values if none were a repetition.
    private var plainBytes = 0

    init(_ column: ParquetColumn) { self.column = column }

    // MARK: Rows

    /// The index of `value`, under which it is kept from here on.
    mutating func index(of value: ByteView) -> UInt32 {
        let mask = table.count - 1
        var place = DictionaryColumn.hash(value) & mask
        while table[place] != 0 {
            let found = Int(table[place]) - 1
            let isSame = bytes.withByteView { $0[range(found)].equals(value) }
            if isSame { return UInt32(found) }
            place = (place + 1) & mask
        }
        for index in 0..<value.count { bytes.append(value[index]) }
        ends.append(bytes.count)
        table[place] = UInt32(ends.count)
        if ends.count * 2 > table.count { growTable() }
        return UInt32(ends.count - 1)
    }

    /// Appends the value of `index`, or ``absent``, `count` times.
    @inline(__always)
    mutating func append(_ index: UInt32, count more: Int) {
        let last = runs.count - 1
        if last >= 0, runs[last].index == index {
            runs[last].count += UInt32(more)
        } else {
            runs.append(Run(index: index, count: UInt32(more)))
        }
        count += more
    }

    private func range(_ entry: Int) -> Range<Int> { (entry == 0 ? 0 : ends[entry - 1])..<ends[entry] }

    private mutating func growTable() {
        table = [UInt32](repeating: 0, count: table.count * 2)
        let mask = table.count - 1
        for entry in ends.indices {
            var place = bytes.withByteView { DictionaryColumn.hash($0[range(entry)]) } & mask
            while table[place] != 0 { place = (place + 1) & mask }
            table[place] = UInt32(entry + 1)
        }
    }

    /// FNV-1a, whose upper half is mixed into the lower.
    private static func hash(_ value: ByteView) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<value.count { hash = (hash ^ UInt64(value[index])) &* 0x100_0000_01B3 }
        return Int(truncatingIfNeeded: hash ^ hash >> 32)
    }

    // MARK: Pages

    /// The pages of what was appended, which is forgotten.
    mutating func takePages() -> ColumnPages {
        var pages = ColumnPages()
        countValues()
        (pages.count, pages.absent) = (count, absentCount)
        if column.isOptional { appendLevels(to: &pages.data) }
        let width = max(1, BitPacker.width(of: UInt64(max(ends.count - 1, 0))))
        let isShorter = storedBytes + (count - absentCount) * width / 8 < plainBytes
        isShorter ? appendIndices(width, to: &pages) : appendPlain(to: &pages.data)
        addStatistics(to: &pages)
        self = DictionaryColumn(column)
        return pages
    }

    /// Bytes of the distinct values in a page.
    private var storedBytes: Int { bytes.count + (column.form.width == nil ? 4 * ends.count : 0) }

    private mutating func countValues() {
        for run in runs {
            if run.index == DictionaryColumn.absent {
                absentCount += Int(run.count)
            } else {
                let length = range(Int(run.index)).count
                plainBytes += Int(run.count) * (length + (column.form.width == nil ? 4 : 0))
            }
        }
    }

    private func appendLevels(to writer: inout ByteWriter) {
        let start = writer.extend(by: 4)
        var levels = HybridRuns(width: 1)
        var (level, length) = (UInt32(1), 0)
        for run in runs {
            let next: UInt32 = run.index == DictionaryColumn.absent ? 0 : 1
            if next != level {
                if length > 0 { levels.append(level, count: length, to: &writer) }
                (level, length) = (next, 0)
            }
            length += Int(run.count)
        }
        if length > 0 { levels.append(level, count: length, to: &writer) }
        levels.finish(to: &writer)
        writer.store(half: UInt32(writer.count - start - 4), at: start)
    }

    private func appendIndices(_ width: Int, to pages: inout ColumnPages) {
        pages.encoding = .dictionary
        pages.entries = ends.count
        for entry in ends.indices { append(entry, to: &pages.dictionary) }
        pages.data.append(UInt8(width))
        var indices = HybridRuns(width: width)
        for run in runs where run.index != DictionaryColumn.absent {
            indices.append(run.index, count: Int(run.count), to: &pages.data)
        }
        indices.finish(to: &pages.data)
    }

    private func appendPlain(to writer: inout ByteWriter) {
        for run in runs where run.index != DictionaryColumn.absent {
            for _ in 0..<run.count { append(Int(run.index), to: &writer) }
        }
    }

    private func append(_ entry: Int, to writer: inout ByteWriter) {
        let range = range(entry)
        if column.form.width == nil { writer.append(word: UInt64(range.count), bytes: 4) }
        bytes.withByteView { writer.append($0[range]) }
    }

    private func addStatistics(to pages: inout ColumnPages) {
        guard !ends.isEmpty else { return }
        bytes.withByteView { view in
            var (least, greatest) = (view[range(0)], view[range(0)])
            for entry in ends.indices.dropFirst() {
                let value = view[range(entry)]
                if column.form.isLess(value, than: least) { least = value }
                if column.form.isLess(greatest, than: value) { greatest = value }
            }
            guard max(least.count, greatest.count) <= DictionaryColumn.longestStatistic else { return }
            (pages.least, pages.greatest) = (least.array, greatest.array)
        }
    }
}
