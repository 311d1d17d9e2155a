/// Writes what packets say as JSON objects without nesting, which templates match like any other payload.
///
/// One packet can give several: an object for each RR interval, and for each record of a continuous glucose monitor.
struct PacketDocument: ~Copyable {
    private var text = ByteWriter(capacity: 1_024)
    private var ends = RawArray<Int>(capacity: 16)
    /// Whether anybody reads when the packet came, besides its time.
    private let writesReceived: Bool

    init(writesReceived: Bool) { self.writesReceived = writesReceived }

    /// Number of objects.
    var count: Int { ends.count }

    /// Object `index`, padded for scanning; valid until the next change.
    subscript(index: Int) -> ByteView {
        let start = index == 0 ? 0 : ends[index - 1]
        return text.view(start..<ends[index])
    }

    /// Forgets all objects.
    mutating func removeAll() {
        text.removeAll()
        ends.removeAll()
    }

    // MARK: Objects

    /// Begins an object with what all have; without `time` it tells none.
    mutating func begin(_ head: PacketHead, at time: PacketTime?) {
        text.append("{\"characteristic\":\"")
        text.append(head.characteristic)
        text.append(UInt8(ascii: "\""))
        if let device = head.device {
            text.append(",\"device\":\"")
            head.deviceIsEscaped ? text.append(device) : text.appendJSON(device)
            text.append(UInt8(ascii: "\""))
        }
        if let time { member("time", time) }
        if writesReceived { member("received", head.arrival) }
        if let sequence = head.sequence { member("bridgeSequence", Decimal64(mantissa: Int64(sequence))) }
    }

    /// Ends the object.
    mutating func end() {
        text.append(UInt8(ascii: "}"))
        text.reserve(ByteView.padding)
        ends.append(text.count)
    }

    // MARK: Members

    /// Writes a name that is known when the process is built.
    private mutating func name(_ name: StaticString) {
        text.append(",\"")
        text.append(name)
        text.append("\":")
    }

    /// Writes a point in time as text.
    mutating func member(_ name: StaticString, _ time: PacketTime) {
        self.name(name)
        text.append(UInt8(ascii: "\""))
        text.append(time.instant, offsetMinutes: time.offsetMinutes)
        text.append(UInt8(ascii: "\""))
    }

    /// Writes a number.
    mutating func member(_ name: StaticString, _ number: Decimal64) {
        self.name(name)
        text.append(number)
    }

    /// Writes an integer.
    mutating func member(_ name: StaticString, _ integer: some BinaryInteger) {
        member(name, Decimal64(mantissa: Int64(integer)))
    }

    /// Writes a number of IEEE 11073, or the text of what is none.
    mutating func member(_ name: StaticString, _ value: MedicalFloat) {
        self.name(name)
        append(value)
    }

    /// Writes a text that needs no escapes.
    mutating func member(_ name: StaticString, text value: StaticString) {
        self.name(name)
        text.append(UInt8(ascii: "\""))
        text.append(value)
        text.append(UInt8(ascii: "\""))
    }

    /// Writes the clock of a device as it shows: local time without a zone.
    mutating func member(_ name: StaticString, _ clock: DeviceClock) {
        self.name(name)
        text.append(UInt8(ascii: "\""))
        append(clock)
        text.append(UInt8(ascii: "\""))
    }

    /// Writes `true` where bit `bit` of `bits` is set, and nothing where it is not.
    mutating func flag(_ name: StaticString, _ bits: Int, _ bit: Int) {
        guard bits >> bit & 1 == 1 else { return }
        self.name(name)
        text.append("true")
    }

    /// Writes a record's sequence number and clock as one text.
    mutating func member(_ name: StaticString, record: Int, _ clock: DeviceClock) {
        self.name(name)
        text.append(UInt8(ascii: "\""))
        text.append(digits: UInt64(record))
        text.append(UInt8(ascii: "-"))
        append(clock)
        text.append(UInt8(ascii: "\""))
    }

    /// Writes a member whose name a mapping gave, escaped for JSON, and its value.
    mutating func member(named name: ByteView, _ value: MedicalFloat) {
        text.append(",\"")
        text.append(name)
        text.append("\":")
        append(value)
    }

    // MARK: Values

    /// The special values are the texts that `"absent": true` of a FHIR template names.
    private mutating func append(_ value: MedicalFloat) {
        switch value {
        case .number(let number): text.append(number)
        case .notANumber: text.append("\"NaN\"")
        case .notAtThisResolution: text.append("\"NRes\"")
        case .positiveInfinity: text.append("\"INF\"")
        case .negativeInfinity: text.append("\"-INF\"")
        case .reserved: text.append("\"reserved\"")
        }
    }

    private mutating func append(_ clock: DeviceClock) {
        text.appendTwo(clock.year / 100)
        text.appendTwo(clock.year % 100)
        text.append(UInt8(ascii: "-"))
        text.appendTwo(clock.month)
        text.append(UInt8(ascii: "-"))
        text.appendTwo(clock.day)
        text.append(UInt8(ascii: "T"))
        text.appendTwo(clock.hour)
        text.append(UInt8(ascii: ":"))
        text.appendTwo(clock.minute)
        text.append(UInt8(ascii: ":"))
        text.appendTwo(clock.second)
    }
}
