/// What instants and digits of a window's readings span, and the largest unit in which the instants are whole.
///
/// Apart from ``ReceiptRanges``: a loop over the readings with both has more to remember than a processor has
/// registers.
struct ColumnRanges {
    private(set) var least: Int64
    private(set) var greatest: Int64
    private(set) var longestStep: UInt64 = 0
    /// How many readings, the first among them, are no later than the one before.
    private(set) var unmoved = 0
    /// See ``WindowBlockFormat/units``.
    private(set) var unit: Int
    private(set) var last: Int64
    private var division: ExactDivision

    /// Prepares to look at `first` and what follows it.
    init(_ first: StoredReading) {
        (least, greatest, last) = (first.content, first.content, first.instant.nanoseconds)
        unit = WindowBlockFormat.units.count - 1
        while !WindowBlockFormat.isWhole(last, unit: unit) { unit -= 1 }
        division = ExactDivision.byUnit(unit)
    }

    /// Looks at the next reading.
    @inline(__always)
    mutating func add(_ reading: StoredReading) {
        (least, greatest) = (min(least, reading.content), max(greatest, reading.content))
        let step = UInt64(bitPattern: reading.instant.nanoseconds &- last)
        longestStep = max(longestStep, step)
        unmoved &+= step == 0 ? 1 : 0
        last = reading.instant.nanoseconds
        if !division.divides(step) {
            unit = ExactDivision.unit(unit, of: step)
            division = ExactDivision.byUnit(unit)
        }
    }
}
