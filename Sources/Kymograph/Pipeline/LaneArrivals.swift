/// Dead letters whose bytes have come again to a lane, up to the end of its batch.
struct LaneArrivals {
    /// What has become of all payloads of the lane so far.
    struct Totals {
        /// Readings that were taken.
        var taken = 0
        /// Rejections with a letter.
        var rejected = 0
        /// Rejections without one.
        var dropped = 0
    }

    private var letters: [Int64] = []
    private var present: Int64?
    private var before = Totals()
    private var droppedBefore = 0

    /// Whether the payload that is mapped is one.
    var isUnderWay: Bool { present != nil }
    /// Whether there are any.
    var isEmpty: Bool { letters.isEmpty }

    /// The payload that comes now is the letter `number`.
    mutating func begin(_ number: Int64, _ totals: Totals) {
        if letters.isEmpty { droppedBefore = totals.dropped }
        (present, before) = (number, totals)
    }

    /// The payload was mapped. One of which nothing came says nothing of what it held.
    mutating func end(_ totals: Totals) {
        guard let number = present else { return }
        present = nil
        if totals.taken > before.taken || totals.rejected > before.rejected { letters.append(number) }
    }

    /// The letters of the batch, of which there are no more then. None, when anything was dropped meanwhile: it may
    /// have been of them, and no letter has it.
    mutating func take(_ totals: Totals) -> [Int64] {
        defer { letters = [] }
        return totals.dropped == droppedBefore ? letters : []
    }
}
