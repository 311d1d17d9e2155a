/// What a field has beyond one number of one value.
package struct FieldExtras: BitwiseCopyable {
    /// How the readings of a checked field are read.
    package enum Form: UInt8, BitwiseCopyable {
        case number, integer, boolean, dateTime, time, period, range, ratio, text, presence
    }

    package var form: Form = .number
    /// The second value of a pair, or the value that holds the comparator; -1 for none.
    package var second: Int32 = -1
    package var readsComparator = false
    /// Whether the Observation has a value by it. The text of a note or of an identifier is none: the Observation makes
    /// sense without it, and not with it alone.
    package var countsAsValue = true
    /// Places in ``ProgramTables``.
    package var absents = TableRange()
    package var figures = TableRange()
    package var interpretations = TableRange()
    /// The entry of ``ProgramTables/waveforms``, or -1.
    package var waveform: Int32 = -1
    /// Whether the figures or the aggregate need the readings in order of size.
    package var needsOrder = false
}

/// A run of places in a table.
package struct TableRange: BitwiseCopyable {
    package var start: Int32 = 0
    package var end: Int32 = 0

    package init(start: Int32 = 0, end: Int32 = 0) {
        (self.start, self.end) = (start, end)
    }

    package var isEmpty: Bool { start == end }
    package var places: Range<Int> { Int(start)..<Int(end) }
}

/// A text that stands for no value.
package struct AbsentEntry: BitwiseCopyable {
    /// Whether every text that cannot be used is meant.
    var isAny: Bool
    var text: TableRange
    /// The reason's code.
    var code: TableRange

    package init(isAny: Bool, text: TableRange, code: TableRange) {
        (self.isAny, self.text, self.code) = (isAny, text, code)
    }
}

/// What a number within bounds means.
package struct InterpretationEntry: BitwiseCopyable {
    var bounds: NumberBounds
    /// The member as JSON.
    var json: TableRange

    package init(bounds: NumberBounds, json: TableRange) {
        (self.bounds, self.json) = (bounds, json)
    }
}

/// A number that is made of all numbers of a field.
package struct FigureEntry: BitwiseCopyable {
    package enum Kind: UInt8, BitwiseCopyable {
        case average, sum, median, deviation, variance, percentile
        /// Of the readings within the bounds, and of the time.
        case share, timeShare
    }

    package var kind: Kind
    var permille: Int32 = 0
    var bounds = NumberBounds()
    /// Nanoseconds that a reading stands for at most.
    package var holdTime: Int64 = 0
    /// The unit's members, which follow the number.
    package var unit = TableRange()

    package init(
        kind: Kind, permille: Int32 = 0, bounds: NumberBounds = NumberBounds(), unit: TableRange = TableRange()
    ) {
        (self.kind, self.permille, self.bounds, self.unit) = (kind, permille, bounds, unit)
    }
}

/// What the steps of all programs refer to besides their constant bytes.
package struct ProgramTables: ~Copyable, Sendable {
    var texts = ByteWriter(capacity: 256)
    package var absents = RawArray<AbsentEntry>()
    package var interpretations = RawArray<InterpretationEntry>()
    package var figures = RawArray<FigureEntry>()
    package var waveforms = RawArray<WaveformEntry>()

    /// The entry of ``absents`` for what there is, but cannot be written.
    static let errorReason: Int32 = 0
    /// `dataAbsentReason` of a component that cannot be written.
    private(set) var lostValue = TableRange()

    /// Tables for output in `version`.
    package init(version: FHIRVersion) {
        let member = JSONText.dataAbsentReason("error")
        let text = version == .stu3 ? CodeSystemNames.stu3(in: member) : member
        lostValue = add(text)
        absents.append(AbsentEntry(isAny: false, text: TableRange(), code: add("error")))
    }

    /// Adds `text`, and tells where it is.
    package mutating func add(_ text: String) -> TableRange {
        let start = texts.count
        texts.append(Array(text.utf8))
        return TableRange(start: Int32(start), end: Int32(texts.count))
    }

    /// The bytes of a text.
    func text(_ range: TableRange) -> ByteView { texts.view(range.places) }

    /// The entry of `range` whose text is `text`, or -1.
    func absent(_ text: ByteView, in range: TableRange) -> Int32 {
        for place in range.places where !absents[place].isAny && self.text(absents[place].text).equals(text) {
            return Int32(place)
        }
        return -1
    }

    /// The entry of `range` for every text that cannot be used, or -1.
    func anyAbsent(in range: TableRange) -> Int32 {
        for place in range.places where absents[place].isAny { return Int32(place) }
        return -1
    }

    /// The reason of the latest reading whose text in `field` stands for no value, or -1.
    func reason(_ field: ProgramField, _ content: borrowing WindowContent) -> Int32 {
        var index = content.readings.count - 1
        while index >= 0 {
            if let text = content.text(index, slot: Int(field.slot)) {
                let entry = absent(text, in: field.extras.absents)
                return entry >= 0 ? entry : anyAbsent(in: field.extras.absents)
            }
            index -= 1
        }
        return -1
    }
}
