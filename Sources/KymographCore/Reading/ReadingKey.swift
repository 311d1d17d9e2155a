/// What tells the readings of a series apart besides their instants: the sender's id, and without one the start.
///
/// Readings of one instant are in the order of their ids, those without first, then of their starts, and then of their
/// values: it depends on nothing but the readings.
struct ReadingKey: BitwiseCopyable {
    /// ``MeasurementType/durationSlot`` and ``MeasurementType/idSlot``, or -1.
    private let durationSlot: Int16
    private let idSlot: Int16

    /// Nothing but the instant.
    static let none = ReadingKey(durationSlot: -1, idSlot: -1)

    /// With the slots of a template; -1 stands for none.
    init(durationSlot: Int32, idSlot: Int32) {
        (self.durationSlot, self.idSlot) = (Int16(durationSlot), Int16(idSlot))
    }

    init(_ type: MeasurementType) {
        durationSlot = Int16(type.durationSlot ?? -1)
        idSlot = Int16(type.idSlot ?? -1)
    }

    /// How two values or readings follow each other.
    enum Order {
        case before, same, after
    }

    /// A reading and its payload.
    struct Content {
        var reading: Measurement
        var payload: ByteView
    }

    /// Whether the sender names the reading.
    func hasId(_ content: Content) -> Bool { id(of: content) != nil }

    /// Whether readings may have ids.
    var hasIds: Bool { idSlot >= 0 }

    /// What the sender calls the reading, if anything.
    func id(of content: Content) -> ByteView? {
        guard idSlot >= 0, case .text(let id) = content[Int(idSlot)] else { return nil }
        return id
    }

    /// How the keys of two readings of one instant follow each other.
    func compare(_ one: Content, _ other: Content) -> Order {
        switch (id(of: one), id(of: other)) {
        case (let mine?, let theirs?): return mine.order(to: theirs)
        case (nil, _?): return .before
        case (_?, nil): return .after
        case (nil, nil): break
        }
        guard durationSlot >= 0 else { return .same }
        // What is longer has begun earlier.
        return other[Int(durationSlot)].order(to: one[Int(durationSlot)])
    }

    /// The same, and where the keys are the same, how the values follow each other: the same where they say the same.
    func compareAll(_ one: Content, _ other: Content) -> Order {
        let keys = compare(one, other)
        return keys == .same ? one.compareValues(other) : keys
    }
}

extension ReadingKey.Content {
    /// What is in a slot.
    enum Value {
        case none
        case number(Decimal64)
        case text(ByteView)
        case samples(ByteView)
    }

    /// The value in `slot`.
    subscript(slot: Int) -> Value {
        if slot < Measurement.inlineValues, let number = reading.inline(slot) { return .number(number) }
        guard payload.count > 0, let record = ValueRecord.find(slot, in: payload) else { return .none }
        return value(record)
    }

    private func value(_ record: ValueRecord) -> Value {
        switch record.kind {
        case .number: .number(record.number(in: payload))
        case .text: .text(payload[record.bytes])
        case .samples: .samples(payload[record.bytes])
        }
    }

    /// Compares slot by slot.
    fileprivate func compareValues(_ other: Self) -> ReadingKey.Order {
        for slot in 0..<Measurement.inlineValues {
            let order = self[slot].order(to: other[slot])
            if order != .same { return order }
        }
        var (mine, theirs) = (nextRecord(0), other.nextRecord(0))
        while let record = mine, let others = theirs {
            // Who has a value in a slot that the other lacks is behind it.
            if record.slot != others.slot { return record.slot < others.slot ? .after : .before }
            let order = value(record).order(to: other.value(others))
            if order != .same { return order }
            (mine, theirs) = (nextRecord(record.bytes.upperBound), other.nextRecord(others.bytes.upperBound))
        }
        if mine != nil { return .after }
        return theirs == nil ? .same : .before
    }

    /// The record of a further slot from `offset` on. Tags are no values.
    private func nextRecord(_ offset: Int) -> ValueRecord? {
        var offset = offset
        while let record = ValueRecord.read(payload, at: offset), record.slot < ReadingTags.slot {
            if record.slot >= Measurement.inlineValues { return record }
            offset = record.bytes.upperBound
        }
        return nil
    }
}

extension ReadingKey.Content.Value {
    private var rank: Int {
        switch self {
        case .none: 0
        case .number: 1
        case .text: 2
        case .samples: 3
        }
    }

    fileprivate func order(to other: Self) -> ReadingKey.Order {
        switch (self, other) {
        case (.none, .none): .same
        case (.number(let mine), .number(let theirs)): mine.order(to: theirs)
        case (.text(let mine), .text(let theirs)), (.samples(let mine), .samples(let theirs)): mine.order(to: theirs)
        case (.none, _), (.number, _), (.text, _), (.samples, _): rank < other.rank ? .before : .after
        }
    }
}

extension Decimal64 {
    fileprivate func order(to other: Decimal64) -> ReadingKey.Order {
        if isEqualInValue(to: other) { return .same }
        return isLess(than: other) ? .before : .after
    }
}

extension ByteView {
    fileprivate func order(to other: ByteView) -> ReadingKey.Order {
        let shorter = min(count, other.count)
        var index = 0
        while index < shorter, self[index] == other[index] { index += 1 }
        if index < shorter { return self[index] < other[index] ? .before : .after }
        if count == other.count { return .same }
        return count < other.count ? .before : .after
    }
}

extension Measurement {
    /// Nanoseconds that the reading covers up to its instant, kept as value `slot`; 0 where there is no such value.
    package func length(_ slot: Int, _ payload: ByteView) -> Int64 {
        guard slot >= 0, case .number(let length) = ReadingKey.Content(reading: self, payload: payload)[slot],
            length.exponent == 0
        else { return 0 }
        return length.mantissa
    }
}
