/// What the next records of a ring will need, in three batches that move up together: while one is taken, the places of
/// the readings of the next are prefetched, and the series of the one behind that.
///
/// Series and slots lie scattered over megabytes, and a series says where its slot is. A core waits for some twenty
/// lines at a time: larger batches hold up what is behind them. Prefetched one by one between readings that are
/// taken, the look-ups of pages would no longer overlap (decision 13).
struct UpcomingRecords: ~Copyable {
    /// Those whose series are to be prefetched.
    private(set) var later = RawArray(repeating: NextRecord.none, count: UpcomingRecords.batch)
    private(set) var laterCount = 0
    /// Those whose series were prefetched, and whose places are to be.
    private(set) var next = RawArray(repeating: NextRecord.none, count: UpcomingRecords.batch)
    private(set) var nextCount = 0
    /// How many have everything at hand, and are to be taken.
    private(set) var nowCount = 0

    /// Records in a batch: of 4, 8, 12, 16 and 32, the number that takes least time by measurement.
    private static var batch: Int { 8 }

    /// Moves all up, and fills the last batch with what `input` holds from `place` on, if `mayLook`; moves `place`
    /// behind them. Whether there are any.
    @inline(__always)
    mutating func advance(_ input: inout ShardInput, from place: inout UInt64, mayLook: Bool) -> Bool {
        swap(&next, &later)
        (nowCount, nextCount) = (nextCount, laterCount)
        laterCount = mayLook ? input.lookAhead(from: &place, &later) : 0
        return nowCount + nextCount + laterCount > 0
    }
}
