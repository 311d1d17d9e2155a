/// Rows of readings that become a row group of a Parquet file: one row for each value of a reading.
///
/// Nearly all rows differ from the one before in time and number alone. What else a row has is kept once, with how many
/// rows have it, until one of them is different.
package struct ReadingRows: ~Copyable {
    /// Most rows of a row group.
    package static let mostRows = 262_144
    /// About how many bytes of memory rows take before they become a row group.
    package static let mostBytes = 16 << 20

    private let scale: DecimalScale
    private let sources: [Int: String]
    private var time = NumberColumn("time", .time)
    private var received = NumberColumn("received", .time)
    /// The number of the reading in the file: its values share it.
    private var reading = NumberColumn("reading", .int64)
    private var value: DictionaryColumn
    private var known = RawArray<KnownNumber>(repeating: KnownNumber(), count: 256)
    private var steady: [DictionaryColumn]
    /// What the next row has in the steady columns, and its index there.
    private var texts: [[UInt8]?]
    private var indices: [UInt32]
    /// Rows that have it and are not in the columns yet.
    private var pending = 0
    /// What the last row's steady columns were made of.
    private var state: UInt64?
    private var kind: ReadingKind?
    private var readings: Int64 = 0
    private var scratch = ByteWriter(capacity: 64)

    /// Rows of the row group.
    package private(set) var count = 0
    /// About how many bytes they take.
    package private(set) var load = 0
    /// Numbers that the scale cannot express, of all rows so far.
    package private(set) var inexpressible = 0

    /// A number that has an index already.
    struct KnownNumber: BitwiseCopyable {
        var mantissa: Int64 = 0
        var exponent: Int8 = 0
        var isKnown = false
        var index: UInt32 = 0
    }

    private static let unresolved = DictionaryColumn.absent - 1
    private static let rowBytes = 24

    /// Rows whose numbers have `decimals` digits behind the point. `sources` are the names by number.
    package init(decimals: Int, sources: [Int: String]) {
        precondition((0...ParquetColumn.precision - 1).contains(decimals))
        scale = DecimalScale(digits: decimals)
        self.sources = sources
        value = DictionaryColumn(ParquetColumn(name: "value", form: .decimal(scale: decimals)))
        steady = ReadingColumn.allCases.map { DictionaryColumn($0.column) }
        texts = Array(repeating: nil, count: steady.count)
        indices = Array(repeating: ReadingRows.unresolved, count: steady.count)
    }

    /// The footer of a file with these columns.
    package func footer() -> ParquetFooter {
        ParquetFooter([time.column, value.column] + steady.map(\.column) + [received.column, reading.column])
    }

    // MARK: Rows

    /// The next readings are of `series` and `kind`, and of this window unless it is nil.
    package mutating func begin(_ series: SeriesIdentity, _ kind: ReadingKind, window: Range<Int64>?) {
        self.kind = kind
        state = nil
        set(.device, series.device)
        set(.patient, series.patient)
        set(.encounter, series.encounter)
        set(.correlation, series.correlation)
        set(.measurement, kind.type.name)
        set(.codeSystem, kind.code.system)
        set(.code, kind.code.code)
        set(.windowStart, time: window?.lowerBound)
        set(.windowEnd, time: window?.upperBound)
        set(.readingID, nil as [UInt8]?)
        set(.start, time: nil)
        name(nil)
    }

    /// The next readings are in the resource of this name, or in none.
    package mutating func name(_ name: ResourceName?) {
        set(.resource, name?.reference)
        set(.identifierSystem, name?.system)
        set(.identifier, name?.identifier)
        set(.status, name?.status)
    }

    /// Appends a row for each value of `reading`.
    package mutating func append(_ reading: Measurement, _ payload: ByteView) {
        guard let kind else { preconditionFailure("readings of no series") }
        readings += 1
        if kind.type.idSlot != nil || kind.type.durationSlot != nil { setHidden(kind.type, reading, payload) }
        let former = count
        for slot in kind.visible {
            if slot < Measurement.inlineValues, let number = reading.inline(slot) {
                append(reading, kind, slot, number)
            } else if let record = ValueRecord.find(slot, in: payload) {
                append(reading, kind, slot, record, payload)
            }
        }
        // A reading without any value is one all the same.
        if count == former { append(reading, kind, -1, nil) }
    }

    private mutating func setHidden(_ type: MeasurementType, _ reading: Measurement, _ payload: ByteView) {
        let id = type.idSlot.flatMap { ValueRecord.find($0, in: payload) }
        set(.readingID, id.map { payload[$0.bytes].array })
        let length = type.durationSlot.flatMap { slot in
            slot < Measurement.inlineValues
                ? reading.inline(slot) : ValueRecord.find(slot, in: payload).map { $0.number(in: payload) }
        }
        set(.start, time: length.map { reading.instant.advanced(by: -$0.wholeNanoseconds).nanoseconds })
    }

    private mutating func append(
        _ reading: Measurement, _ kind: ReadingKind, _ slot: Int, _ record: ValueRecord, _ payload: ByteView
    ) {
        if record.isNumber { return append(reading, kind, slot, record.number(in: payload)) }
        var text = ByteWriter(capacity: 256)
        record.appendText(of: payload, to: &text)
        append(reading, kind, slot, nil, text: text.view.array, isSamples: record.kind == .samples)
    }

    /// Appends a row with `number` or `text`.
    private mutating func append(
        _ reading: Measurement, _ kind: ReadingKind, _ slot: Int, _ number: Decimal64?, text: [UInt8]? = nil,
        isSamples: Bool = false
    ) {
        var index = DictionaryColumn.absent
        var text = text
        if let number {
            index = self.index(of: number)
            if index == DictionaryColumn.absent {
                inexpressible += 1
                text = digits(of: number)
            }
        }
        let exponent = number.map { UInt64(UInt8(bitPattern: $0.exponent)) << 8 | 1 } ?? (isSamples ? 2 : 0)
        let form = UInt64(UInt16(bitPattern: reading.timeForm.rawValue))
        let state = exponent | UInt64(reading.mark) << 16 | form << 24 | UInt64(slot + 1) << 40
        if state != self.state { take(state, reading, kind, slot, number, isSamples: isSamples) }
        set(.text, text)
        time.append(reading.instant.nanoseconds)
        received.append(reading.received.nanoseconds)
        self.reading.append(readings)
        value.append(index, count: 1)
        pending += 1
        count += 1
        load += ReadingRows.rowBytes + 8
    }

    private mutating func take(
        _ state: UInt64, _ reading: Measurement, _ kind: ReadingKind, _ slot: Int, _ number: Decimal64?,
        isSamples: Bool
    ) {
        self.state = state
        let field = slot < 0 ? ReadingKind.Field() : kind.fields[slot]
        set(.name, slot < 0 ? nil : kind.type.valueNames[slot])
        set(.unit, field.unit.code)
        set(.unitSystem, field.unit.system)
        set(.factor, field.factor)
        set(.origin, field.origin)
        set(.componentSystem, field.component.system)
        set(.componentCode, field.component.code)
        set(.kind, slot < 0 ? nil : number != nil ? "number" : isSamples ? "samples" : "text")
        set(.decimals, int32: number.map { -Int32($0.exponent) })
        let offset = reading.timeForm.offsetMinutes
        set(.utcOffset, int32: offset == UTCOffset.none ? nil : Int32(offset))
        set(.source, sources[ReadingSource.number(reading.mark)])
    }

    // MARK: Values

    /// The index of `number` among the values, or ``DictionaryColumn/absent`` when the scale cannot express it.
    private mutating func index(of number: Decimal64) -> UInt32 {
        let place = Int(truncatingIfNeeded: number.mantissa ^ number.mantissa >> 8) & (known.count - 1)
        let found = known[place]
        if found.isKnown, found.mantissa == number.mantissa, found.exponent == number.exponent { return found.index }
        guard let multiple = scale.multiple(number) else { return DictionaryColumn.absent }
        scratch.removeAll()
        DecimalScale.append(multiple, to: &scratch)
        let index = value.index(of: scratch.view)
        load += 8
        known[place] = KnownNumber(
            mantissa: number.mantissa, exponent: number.exponent, isKnown: true, index: index)
        return index
    }

    private mutating func digits(of number: Decimal64) -> [UInt8] {
        scratch.removeAll()
        scratch.append(number)
        return scratch.view.array
    }

    // MARK: Steady columns

    private mutating func set(_ column: ReadingColumn, _ text: String?) { set(column, text.map { Array($0.utf8) }) }

    private mutating func set(_ column: ReadingColumn, time: Int64?) { set(column, time.map(NumberColumn.bytes)) }

    private mutating func set(_ column: ReadingColumn, int32 number: Int32?) {
        set(column, number.map { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> Int32(8 * $0)) } })
    }

    private mutating func set(_ column: ReadingColumn, _ text: [UInt8]?) {
        let place = column.rawValue
        guard texts[place] != text else { return }
        settle()
        texts[place] = text
        indices[place] = ReadingRows.unresolved
        load += text?.count ?? 0
    }

    /// Brings the pending rows into the steady columns.
    private mutating func settle() {
        guard pending > 0 else { return }
        for place in steady.indices {
            if indices[place] == ReadingRows.unresolved {
                indices[place] =
                    texts[place].map { text in
                        text.withByteView { steady[place].index(of: $0) }
                    } ?? DictionaryColumn.absent
            }
            steady[place].append(indices[place], count: pending)
        }
        load += 8 * steady.count
        pending = 0
    }

    // MARK: Row groups

    /// The pages of the row group, column by column. None is left of it.
    package mutating func takeGroup(_ body: (borrowing ColumnPages) -> Void) {
        settle()
        body(time.takePages())
        body(value.takePages())
        for place in steady.indices { body(steady[place].takePages()) }
        body(received.takePages())
        body(reading.takePages())
        for place in indices.indices { indices[place] = ReadingRows.unresolved }
        for place in 0..<known.count { known[place] = KnownNumber() }
        (count, load) = (0, 0)
    }
}
