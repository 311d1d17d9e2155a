/// Goes through the samples of a series, in time order and without its holes.
struct SampleWalk {
    /// A sample that has at least one reading.
    struct Sample {
        /// Index on the grid; of no meaning in an irregular series.
        var place: Int64
        /// Nil when a mean or sum does not fit 18 digits.
        var value: Decimal64?
        /// Readings that the sample stands for.
        var readings: Int
    }

    private let form: SeriesForm
    private var index = 0

    /// Begins at the first sample of `form`.
    init(_ form: SeriesForm) {
        self.form = form
    }

    /// The next sample of `content`, or nil after the last.
    mutating func next(_ content: borrowing WindowContent) -> Sample? {
        var sum = SlotSum()
        var place: Int64 = 0
        while index < content.readings.count {
            guard let number = content.number(index, slot: form.slot) else {
                index += 1
                continue
            }
            let distance = content.readings[index].instant.nanoseconds - form.start.nanoseconds
            let next = distance / form.plan.period
            if sum.readings > 0 && (next != place || form.plan.isSingle) { break }
            place = next
            sum.add(number, form.policy)
            index += 1
        }
        guard sum.readings > 0 else { return nil }
        return Sample(place: place, value: sum.value(form.policy), readings: sum.readings)
    }
}
