/// The figures of one window's numbers: made before an Observation is written, because one that cannot be exact makes
/// the Observation impossible. Keeps its memory from window to window.
struct WindowFigures: ~Copyable, Sendable {
    /// The numbers of the field, in order of size when it `needsOrder`.
    private var numbers = RawArray<Decimal64>()
    /// A figure for each entry of ``ProgramTables/figures``.
    private var results: RawArray<Decimal64>

    init(count: Int) {
        results = RawArray(repeating: Decimal64(mantissa: 0), count: count)
    }

    /// The figure of an entry, as last made.
    func result(_ place: Int) -> Decimal64 { results[place] }

    /// Makes the figures and the aggregate of `field`, which has a number at least; false when one of them does not
    /// fit 18 digits.
    mutating func make(
        _ field: ProgramField, _ content: borrowing WindowContent, _ tables: borrowing ProgramTables,
        _ facts: inout FieldFacts
    ) -> Bool {
        let slot = Int(field.slot)
        switch field.aggregate {
        case .mean, .sum, .median: break
        case .minimum: facts.result = content.number(facts.least, slot: slot) ?? facts.result
        case .maximum: facts.result = content.number(facts.greatest, slot: slot) ?? facts.result
        case .latest: facts.result = content.number(facts.last, slot: slot) ?? facts.result
        case .count: facts.result = Decimal64(mantissa: Int64(facts.count))
        }
        guard facts.count > 1, field.aggregate == .median || !field.extras.figures.isEmpty else { return true }
        collect(field, content)
        if field.aggregate == .median {
            guard let median = median() else { return false }
            facts.result = median
        }
        for place in field.extras.figures.places {
            guard let figure = figure(tables.figures[place]) else { return false }
            results[place] = figure
        }
        return true
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
        case .share: return share(entry.bounds)
        }
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
