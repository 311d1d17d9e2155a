/// The values of an object whose shape is known, by their places.
protocol PlacedValues: BitwiseCopyable {
    /// Whether all texts are known to be plain (``ByteView/isPlainText``).
    var hasPlainTexts: Bool { get }
    /// The bytes of a text, padded.
    func text(_ place: Int) -> ByteView
    /// The time that a value says, which is a text or a number; nil when it says none in this way.
    func time(_ place: Int, isText: Bool, _ format: TimestampFormat) -> Timestamp?
    /// The number that a value is; nil when it is none, or cannot be read in this way.
    func number(_ place: Int) -> Decimal64?
}

/// The values of the document that ``ShapeTree`` followed last.
struct DocumentValues: PlacedValues {
    let values: ElementList<ShapeTree.Value>
    let bytes: ByteView

    /// Others have no shape (``PlainValue/textEnd(_:_:)``).
    @inline(__always)
    var hasPlainTexts: Bool { true }

    @inline(__always)
    func text(_ place: Int) -> ByteView { bytes[values[place].range] }

    @inline(__always)
    func time(_ place: Int, isText: Bool, _ format: TimestampFormat) -> Timestamp? {
        let value = values[place]
        if format == .iso8601 { return isText ? TimestampParser.iso8601(bytes[value.range]) : nil }
        guard !isText, value.point == 0, let number = PlainValue.number(value, bytes) else {
            return TimestampParser.epoch(bytes[value.range], format)
        }
        return TimestampParser.epoch(number.mantissa, format)
    }

    @inline(__always)
    func number(_ place: Int) -> Decimal64? {
        let value = values[place]
        return PlainValue.shortInteger(value, bytes).map { Decimal64(mantissa: $0) } ?? anyNumber(value)
    }

    /// The same for numbers with many digits or a fraction. A call of its own: most need no more than a word.
    @inline(never)
    private func anyNumber(_ value: ShapeTree.Value) -> Decimal64? {
        if let number = PlainValue.number(value, bytes) { return number }
        guard case .number(let number) = DecimalParser.parse(bytes[value.range]) else { return nil }
        return number
    }
}

/// The values of an object that a packet gave.
struct ObjectValues: PlacedValues {
    let members: ElementList<Token>
    let bytes: ByteView

    @inline(__always)
    var hasPlainTexts: Bool { false }

    @inline(__always)
    func text(_ place: Int) -> ByteView { bytes[members[place].range] }

    @inline(__always)
    func time(_ place: Int, isText: Bool, _ format: TimestampFormat) -> Timestamp? {
        let token = members[place]
        if token.flags & Token.known != 0 { return token.time }
        if format == .iso8601 { return isText ? TimestampParser.iso8601(bytes[token.range]) : nil }
        return TimestampParser.epoch(bytes[token.range], format)
    }

    @inline(__always)
    func number(_ place: Int) -> Decimal64? {
        let token = members[place]
        if let number = PlainValue.number(bytes, token) { return number }
        guard case .number(let number) = DecimalParser.parse(bytes[token.range]) else { return nil }
        return number
    }
}

/// What a heart rate says, whichever place is asked for: a shape is used for heart rates only where the places are
/// those of the device, the time and the rate (``ShapePlans/note(_:form:places:)``).
struct HeartRateValues: PlacedValues {
    let packet: HeartRatePacket

    @inline(__always)
    var hasPlainTexts: Bool { false }

    @inline(__always)
    func text(_ place: Int) -> ByteView { packet.device }

    @inline(__always)
    func time(_ place: Int, isText: Bool, _ format: TimestampFormat) -> Timestamp? {
        Timestamp(instant: packet.time.instant, form: TimeForm(offsetMinutes: packet.time.offsetMinutes))
    }

    @inline(__always)
    func number(_ place: Int) -> Decimal64? { Decimal64(mantissa: packet.rate) }
}
