/// The readings that share a grid slot, condensed by the template's policy.
struct SlotSum {
    private var count = 0
    private var sum = ExactSum()
    private var kept = Decimal64(mantissa: 0)

    /// Readings in the slot.
    var readings: Int { count }

    /// Adds the next reading in time.
    mutating func add(_ number: Decimal64, _ policy: SlotCollision) {
        switch policy {
        case .latest: kept = number
        case .min: if count == 0 || number.isLess(than: kept) { kept = number }
        case .max: if count == 0 || kept.isLess(than: number) { kept = number }
        case .mean, .sum:
            sum.add(number)
            kept = number
        }
        count += 1
    }

    /// The slot's value; nil when a mean or sum does not fit 18 digits.
    func value(_ policy: SlotCollision) -> Decimal64? {
        if count == 1 { return kept }
        switch policy {
        case .latest, .min, .max: return kept
        case .mean: return sum.mean(of: count)
        case .sum: return sum.total
        }
    }
}
