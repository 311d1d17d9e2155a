/// The figures of one window's numbers: made before an Observation is written, because without any value that can be
/// exact there is none. Keeps its memory from window to window.
struct WindowFigures: ~Copyable, Sendable {
    /// The numbers of the field, in order of size when it `needsOrder`.
    private var numbers = RawArray<Decimal64>()
    /// A figure for each entry of ``ProgramTables/figures``.
    private var results: RawArray<Decimal64?>

    init(count: Int) {
        results = RawArray(repeating: nil, count: count)
    }

    /// The figure of an entry, as last made; nil when it does not fit 18 digits.
    func result(_ place: Int) -> Decimal64? { results[place] }

    /// Makes the figures and the aggregate of `field`, which has a number at least; gives the number of figures that do
    /// not fit 18 digits.
    mutating func make(
        _ field: ProgramField, _ content: borrowing WindowContent, _ tables: borrowing ProgramTables,
        _ facts: inout FieldFacts
    ) -> Int {
        let slot = Int(field.slot)
        switch field.aggregate {
        case .mean, .sum, .median: break
        case .minimum: facts.result = content.number(facts.least, slot: slot) ?? facts.result
        case .maximum: facts.result = content.number(facts.greatest, slot: slot) ?? facts.result
        case .latest: facts.result = content.number(facts.last, slot: slot) ?? facts.result
        case .count: facts.result = Decimal64(mantissa: Int64(facts.count))
        }
        guard facts.count > 1, field.aggregate == .median || !field.extras.figures.isEmpty else { return 0 }
        collect(field, content)
        if field.aggregate == .median {
            let median = median()
            facts.result = median ?? facts.result
            if median == nil { facts.lose(.inexactNumber) }
        }
        var lost = 0
        for place in field.extras.figures.places {
            let entry = tables.figures[place]
            results[place] = entry.kind == .timeShare ? timeShare(entry, slot, content) : figure(entry)
            if results[place] == nil { lost += 1 }
        }
        return lost
    }

    private mutating func collect(_ field: ProgramField, _ content: borrowing WindowContent) {
        numbers.removeAll()
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: Int(field.slot)) else { continue }
            numbers.append(number)
        }
        if field.extras.needsOrder { numbers.sortBySize() }
    }

    private func figure(_ entry: FigureEntry) -> Decimal64? {
        switch entry.kind {
        case .average: return total.mean(of: numbers.count)
        case .sum: return total.total
        case .median: return median()
        case .deviation: return StandardDeviation.of(numbers)
        case .percentile: return percentile(Int(entry.permille))
        case .variance: return StandardDeviation.variance(of: numbers)
        case .share, .timeShare: return share(entry.bounds)
        }
    }

    /// The share of the time within the bounds in per cent, rounded half to even to one decimal. A reading stands for
    /// the time up to the next one, the last for that up to the window's end, and none for more than the hold time.
    private func timeShare(
        _ entry: FigureEntry, _ slot: Int, _ content: borrowing WindowContent
    ) -> Decimal64? {
        var (within, total): (Int64, Int64) = (0, 0)
        var next = content.end.nanoseconds
        var index = content.readings.count - 1
        while index >= 0 {
            defer { index -= 1 }
            guard let number = content.number(index, slot: slot) else { continue }
            let instant = content.readings[index].instant.nanoseconds
            let held = min(max(next &- instant, 0), entry.holdTime)
            next = instant
            // A window is shorter than 292 years.
            total &+= held
            if entry.bounds.contains(number) { within &+= held }
        }
        let (hundredfold, overflow) = within.multipliedReportingOverflow(by: 100)
        guard total > 0, !overflow else { return nil }
        return ExactSum(hundredfold, exponent: 0).mean(of: Int(total))
    }

    private var total: ExactSum {
        var sum = ExactSum()
        for index in 0..<numbers.count { sum.add(numbers[index]) }
        return sum
    }

    /// The number in the middle; of two the mean, which is exact with one more digit.
    private func median() -> Decimal64? {
        let middle = numbers.count / 2
        guard numbers.count.isMultiple(of: 2) else { return numbers[middle] }
        var sum = ExactSum()
        sum.add(numbers[middle - 1])
        sum.add(numbers[middle])
        return sum.mean(of: 2)
    }

    /// The least of the numbers that at least so many thousandths of all do not exceed ("nearest rank"): always a
    /// number that was measured.
    private func percentile(_ permille: Int) -> Decimal64 {
        numbers[(permille * numbers.count + 999) / 1000 - 1]
    }

    /// The share of the numbers within `bounds` in per cent, rounded half to even to one decimal.
    private func share(_ bounds: NumberBounds) -> Decimal64? {
        var found: Int64 = 0
        for index in 0..<numbers.count where bounds.contains(numbers[index]) { found += 1 }
        return ExactSum(found * 100, exponent: 0).mean(of: numbers.count)
    }
}

extension RawArray<Decimal64> {
    /// Puts the numbers in order of size, in place and without recursion (heap sort).
    mutating func sortBySize() {
        var start = count / 2
        while start > 0 {
            start -= 1
            sift(from: start, end: count)
        }
        var end = count
        while end > 1 {
            end -= 1
            swapElements(0, end)
            sift(from: 0, end: end)
        }
    }

    private mutating func sift(from start: Int, end: Int) {
        var root = start
        while root * 2 + 1 < end {
            var child = root * 2 + 1
            if child + 1 < end, self[child].isLess(than: self[child + 1]) { child += 1 }
            guard self[root].isLess(than: self[child]) else { return }
            swapElements(root, child)
            root = child
        }
    }

    private mutating func swapElements(_ first: Int, _ second: Int) {
        let kept = self[first]
        self[first] = self[second]
        self[second] = kept
    }
}
