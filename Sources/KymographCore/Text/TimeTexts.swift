/// Remembers how points in time are written: the windows of all series that close together have the same bounds.
struct TimeTexts: ~Copyable, Sendable {
    /// How a point in time is written.
    enum Form: UInt8 {
        /// As ``ByteWriter/append(_:_:)`` does without a form.
        case dateTime
        /// As ``ByteWriter/append(compact:fraction:)`` does.
        case compact, compactWithFraction
        /// As ``ByteWriter/append(ticks:)`` does.
        case ticks
    }

    /// One place of the table, and how long its text is; 0 while it is empty.
    struct Entry: BitwiseCopyable {
        var nanoseconds: Int64 = 0
        var form: UInt8 = 0
        var length: UInt8 = 0
    }

    private static let places = 64
    /// The longest text is `2024-05-01T10:00:00.000000000Z`.
    private static let textBytes = 32

    private var entries = RawArray<Entry>(repeating: Entry(), count: TimeTexts.places)
    private var texts = ByteWriter(capacity: TimeTexts.places * TimeTexts.textBytes)

    init() {
        for _ in 0..<TimeTexts.places * TimeTexts.textBytes { texts.append(UInt8(0)) }
        texts.pad()
    }

    /// Writes `instant`.
    mutating func append(_ instant: Instant, _ form: Form, to writer: inout ByteWriter) {
        let place = TimeTexts.place(instant, form)
        let entry = entries[place]
        let start = place &* TimeTexts.textBytes
        if entry.length > 0, entry.nanoseconds == instant.nanoseconds, entry.form == form.rawValue {
            return writer.append(padded: texts.view(start..<start &+ Int(entry.length)))
        }
        let mark = writer.count
        switch form {
        case .dateTime: writer.append(instant)
        case .compact: writer.append(compact: instant, fraction: false)
        case .compactWithFraction: writer.append(compact: instant, fraction: true)
        case .ticks: writer.append(ticks: instant)
        }
        let length = writer.count - mark
        for index in 0..<length { texts[start + index] = writer[mark + index] }
        entries[place] = Entry(nanoseconds: instant.nanoseconds, form: form.rawValue, length: UInt8(length))
    }

    private static func place(_ instant: Instant, _ form: Form) -> Int {
        var mixed = (UInt64(bitPattern: instant.nanoseconds) ^ UInt64(form.rawValue)) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 29) &* 0xBF58_476D_1CE4_E5B9
        return Int(truncatingIfNeeded: mixed >> 58)
    }
}
