/// What the readings of a window say about one value of a template.
struct FieldFacts: BitwiseCopyable {
    /// Readings that have the value.
    var count = 0
    /// The last of them.
    var last = -1
    /// The readings with the least and the greatest number; the earliest among equals.
    var least = -1
    var greatest = -1
    /// The number to write: the latest, the mean or the sum.
    var result = Decimal64(mantissa: 0)
    /// The entry of ``ProgramTables/absents`` that says why there is no value, or -1.
    var reason: Int32 = -1
    var comparator = Comparator.none
    /// Whether a reading had something that is no value of the field's type.
    var isUnusable = false
    /// Why what the readings say cannot be written, or nil.
    private(set) var loss: Rejection?
    /// Whether the series of a summary cannot be written.
    var losesSeries = false
    /// Whether readings are arrays of samples.
    var hasArrays = false
    /// Readings that have something else in the place of a number, beside others that have one.
    var passedOver = 0

    /// The conditions that hold, a bit each: every step of the program asks for one.
    private var conditions: UInt8 = 0

    /// Whether `condition` holds, as of ``settle()``.
    @inline(__always)
    func satisfies(_ condition: ProgramStep.Condition) -> Bool { conditions & (1 << condition.rawValue) != 0 }

    /// Ends the survey: from here on it is asked what holds.
    @inline(__always)
    mutating func settle() {
        var held: UInt8 = 1 << ProgramStep.Condition.always.rawValue
        if count > 0 && loss == nil { held |= 1 << ProgramStep.Condition.present.rawValue }
        if count == 0 && reason < 0 { held |= 1 << ProgramStep.Condition.absent.rawValue }
        if reason >= 0 && (count == 0 || loss != nil) { held |= 1 << ProgramStep.Condition.explained.rawValue }
        if count > 1 {
            held |= 1 << ProgramStep.Condition.several.rawValue
            let chart = losesSeries ? ProgramStep.Condition.uncharted : .charted
            held |= 1 << chart.rawValue
        }
        conditions = held
    }

    /// Whether the Observation does not say all of it.
    @inline(__always)
    var isImpaired: Bool { loss != nil || losesSeries || passedOver > 0 }

    /// Notes that the value cannot be written.
    mutating func lose(_ reason: Rejection) {
        loss = reason
        self.reason = ProgramTables.errorReason
    }

    /// Notes that the readings say why there is no value.
    mutating func explain(_ entry: Int32) {
        loss = nil
        reason = entry
    }

    /// Looks through `content` for `field`.
    static func survey(_ field: ProgramField, _ content: borrowing WindowContent) -> FieldFacts {
        guard field.slot >= 0 else { return FieldFacts() }
        switch field.kind {
        case .text where !field.extras.countsAsValue: return written(content, Int(field.slot))
        case .text, .presence: return latest(content, Int(field.slot), orText: true)
        case .number: return number(content, Int(field.slot))
        case .series: return series(content, Int(field.slot))
        case .statistics: return statistics(content, field)
        // Its texts can only be judged with the program's tables.
        case .checked: return FieldFacts()
        }
    }

    private static func latest(_ content: borrowing WindowContent, _ slot: Int, orText: Bool) -> FieldFacts {
        var facts = FieldFacts()
        var index = content.readings.count - 1
        while index >= 0 {
            let isText = orText && content.text(index, slot: slot) != nil
            let number = isText ? nil : content.number(index, slot: slot)
            if isText || number != nil {
                facts.result = number ?? facts.result
                facts.count = 1
                facts.last = index
                return facts
            }
            index -= 1
        }
        return facts
    }

    /// The latest text or number, unless that is blank: FHIR has no empty strings, and a note or an identifier is left
    /// out.
    private static func written(_ content: borrowing WindowContent, _ slot: Int) -> FieldFacts {
        let facts = latest(content, slot, orText: true)
        guard facts.last >= 0, let text = content.text(facts.last, slot: slot), text.trimmed.count == 0 else {
            return facts
        }
        return FieldFacts()
    }

    private static func number(_ content: borrowing WindowContent, _ slot: Int) -> FieldFacts {
        var facts = latest(content, slot, orText: false)
        if facts.count == 0, texts(content, slot) > 0 { facts.lose(.invalidValue) }
        return facts
    }

    private static func series(_ content: borrowing WindowContent, _ slot: Int) -> FieldFacts {
        var facts = latest(content, slot, orText: false)
        facts.pass(over: texts(content, slot))
        return facts
    }

    /// Readings with something else than a number in `slot`.
    private static func texts(_ content: borrowing WindowContent, _ slot: Int) -> Int {
        var count = 0
        for index in 0..<content.readings.count where content.readings[index].payloadBytes > 0 {
            if content.hasNoNumber(index, slot: slot) { count += 1 }
        }
        return count
    }

    /// Notes `texts` readings without a number: beside others they are passed over, alone there is no value.
    private mutating func pass(over texts: Int) {
        if count > 0 { passedOver = texts } else if texts > 0 { lose(.invalidValue) }
    }

    private static func statistics(_ content: borrowing WindowContent, _ field: ProgramField) -> FieldFacts {
        // Where texts can stand for no value, the numbers are texts as well.
        let isInline = field.slot < Measurement.inlineValues && field.extras.absents.isEmpty
        if isInline, let facts = uniform(content.readings, field) { return facts }
        return mixed(content, field)
    }

    /// The statistics of numbers that all have as many decimals, as nearly all have; nil when they do not, when their
    /// sum does not fit, or when some may be kept as texts since before the mapping changed.
    private static func uniform(_ readings: WindowReadings, _ field: ProgramField) -> FieldFacts? {
        let slot = Int(field.slot)
        let mask = StoredReading.formMask(slot)
        // Of readings with nothing but numbers like the first; the mask leaves no reading with all bits.
        var (form, exponent) = (UInt64.max, Int8(0))
        var (count, last) = (0, -1)
        var (sum, isTooMuch) = (Int64(0), false)
        // Chosen without branches: which reading has the least cannot be foreseen.
        var (least, greatest, leastPlace, greatestPlace) = (Int64(0), Int64(0), -1, -1)
        for index in 0..<readings.count {
            var mantissa = readings[index].content
            if readings[index].form(mask) != form {
                guard let number = readings.inline(index, slot) else {
                    guard readings[index].payloadBytes == 0 else { return nil }
                    continue
                }
                mantissa = number.mantissa
                if count == 0 {
                    (form, exponent) = (StoredReading.form(slot, exponent: number.exponent), number.exponent)
                    (least, greatest, leastPlace, greatestPlace) = (mantissa, mantissa, index, index)
                }
                guard number.exponent == exponent else { return nil }
            }
            let (total, overflow) = sum.addingReportingOverflow(mantissa)
            (sum, isTooMuch) = (total, isTooMuch || overflow)
            (least, leastPlace) = mantissa < least ? (mantissa, index) : (least, leastPlace)
            (greatest, greatestPlace) = mantissa > greatest ? (mantissa, index) : (greatest, greatestPlace)
            (count, last) = (count &+ 1, index)
        }
        if isTooMuch { return nil }
        var facts = FieldFacts()
        (facts.count, facts.last, facts.least, facts.greatest) = (count, last, leastPlace, greatestPlace)
        return complete(
            facts, field, least: Decimal64(mantissa: least, exponent: exponent), ExactSum(sum, exponent: exponent))
    }

    private static func mixed(_ content: borrowing WindowContent, _ field: ProgramField) -> FieldFacts {
        var facts = FieldFacts()
        var texts = 0
        var sum = ExactSum()
        var least = Decimal64(mantissa: 0)
        var greatest = least
        for index in 0..<content.readings.count {
            guard let number = content.number(index, slot: Int(field.slot)) else {
                if content.hasNoNumber(index, slot: Int(field.slot)) { texts += 1 }
                continue
            }
            sum.add(number)
            if facts.count == 0 || number.isLess(than: least) {
                least = number
                facts.least = index
            }
            if facts.count == 0 || greatest.isLess(than: number) {
                greatest = number
                facts.greatest = index
            }
            facts.count += 1
            facts.last = index
        }
        facts.pass(over: texts)
        return complete(facts, field, least: least, sum)
    }

    /// Adds the number to write, or that there is none.
    private static func complete(
        _ found: FieldFacts, _ field: ProgramField, least: Decimal64, _ sum: ExactSum
    ) -> FieldFacts {
        guard found.count > 0 else { return found }
        var facts = found
        // One reading is not a statistic: it keeps its own digits.
        let result: Decimal64?
        switch field.aggregate {
        case .mean: result = facts.count == 1 ? least : sum.mean(of: facts.count)
        case .sum: result = facts.count == 1 ? least : sum.total
        // The others are found by ``WindowFigures``.
        case .minimum, .maximum, .median, .latest, .count: result = least
        }
        guard let result else {
            facts.lose(.inexactNumber)
            return facts
        }
        facts.result = result
        return facts
    }
}
