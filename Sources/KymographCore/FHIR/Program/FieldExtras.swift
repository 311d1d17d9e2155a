/// What a field has beyond one number of one value.
struct FieldExtras: BitwiseCopyable {
    /// How the readings of a checked field are read.
    enum Form: UInt8 {
        case number, integer, boolean, dateTime, time, period, range, ratio, text, presence
    }

    var form: Form = .number
    /// The second value of a pair, or the value that holds the comparator; -1 for none.
    var second: Int32 = -1
    var readsComparator = false
    /// Whether the Observation makes sense without it, and not with it alone.
    var isNote = false
    /// Places in ``ProgramTables``.
    var absents = TableRange()
    var figures = TableRange()
    var interpretations = TableRange()
    /// The entry of ``ProgramTables/waveforms``, or -1.
    var waveform: Int32 = -1
    /// Whether the figures or the aggregate need the readings in order of size.
    var needsOrder = false
}

/// A run of places in a table.
struct TableRange: BitwiseCopyable {
    var start: Int32 = 0
    var end: Int32 = 0

    var isEmpty: Bool { start == end }
    var places: Range<Int> { Int(start)..<Int(end) }
}

/// A text that stands for no value.
struct AbsentEntry: BitwiseCopyable {
    /// Whether every text that cannot be used is meant.
    var isAny: Bool
    var text: TableRange
    /// The reason's code.
    var code: TableRange
}

/// What a number within bounds means.
struct InterpretationEntry: BitwiseCopyable {
    var bounds: NumberBounds
    /// The member as JSON.
    var json: TableRange
}

/// A number that is made of all numbers of a field.
struct FigureEntry: BitwiseCopyable {
    enum Kind: UInt8 {
        case average, sum, median, deviation, variance, percentile
        /// Of the readings within the bounds, and of the time.
        case share, timeShare
    }

    var kind: Kind
    var permille: Int32 = 0
    var bounds = NumberBounds()
    /// Nanoseconds that a reading stands for at most.
    var holdTime: Int64 = 0
    /// The unit's members, which follow the number.
    var unit = TableRange()
}

/// What the steps of all programs refer to besides their constant bytes.
struct ProgramTables: ~Copyable, Sendable {
    var texts = ByteWriter(capacity: 256)
    var absents = RawArray<AbsentEntry>()
    var interpretations = RawArray<InterpretationEntry>()
    var figures = RawArray<FigureEntry>()
    var waveforms = RawArray<WaveformEntry>()

    /// The entry of ``absents`` for what there is, but cannot be written.
    static let errorReason: Int32 = 0
    /// `dataAbsentReason` of a component that cannot be written.
    private(set) var lostValue = TableRange()

    /// Tables for output in `version`.
    init(version: FHIRVersion) {
        let member = JSONText.dataAbsentReason("error")
        let text = version == .stu3 ? CodeSystemNames.stu3(in: member) : member
        lostValue = add(text)
        absents.append(AbsentEntry(isAny: false, text: TableRange(), code: add("error")))
    }

    /// Adds `text`, and tells where it is.
    mutating func add(_ text: String) -> TableRange {
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
