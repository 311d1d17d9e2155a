/// Writes what packets say as JSON objects without nesting, which templates match like any other payload: as the tape
/// that scanning such an object would give, and as the text itself where somebody reads that.
///
/// One packet can give several: an object for each RR interval, and for each record of a continuous glucose monitor.
struct PacketDocument: ~Copyable {
    private var text = ByteWriter(capacity: 1_024)
    private var members = RawArray<Token>(capacity: 64)
    private var objects = RawArray<Object>(capacity: 16)
    private let names: NameTable
    /// A name without escapes.
    private var plain = ByteWriter(capacity: 64)
    private let table: PacketMemberTable
    /// Whether members are written that no expression mentions.
    private let writesAll: Bool
    /// Whether the objects are written as JSON; else only their values, one behind the other, for their tokens.
    private let writesText: Bool
    private let writesTimes: Bool
    /// Where the object that is being written begins.
    private var start = 0

    /// The members that are times.
    static let times = [PacketMember.time, .received, .start].map(\.name)

    /// Where an object ends.
    struct Object: BitwiseCopyable {
        var textEnd: Int
        var memberEnd: Int
    }

    init(_ needs: PacketNeeds) {
        names = NameTable(needs.names)
        table = PacketMemberTable(needs, names: names)
        writesAll = needs.all
        writesText = needs.text
        writesTimes = needs.timesAsText
    }

    /// Whether anybody looks at `member`.
    func writes(_ member: PacketMember) -> Bool { table[member].isWanted }

    /// Number of objects.
    var count: Int { objects.count }

    /// Object `index`, padded for scanning; valid until the next change.
    subscript(index: Int) -> ByteView {
        text.view((index == 0 ? 0 : objects[index - 1].textEnd)..<objects[index].textEnd)
    }

    /// The tokens of the members of object `index`, with places in its text; valid until the next change.
    func members(of index: Int) -> ElementList<Token> {
        members.list((index == 0 ? 0 : objects[index - 1].memberEnd)..<objects[index].memberEnd)
    }

    /// The place of `member` among the tokens of object `index`; nil when it is not there, or nobody looks at it.
    func place(of member: PacketMember, in index: Int) -> Int? {
        let entry = table[member]
        guard entry.isWanted, entry.number != NameTable.unknown else { return nil }
        let tokens = members(of: index)
        return (0..<tokens.count).first { tokens[$0].name == entry.number }
    }

    /// Forgets all objects.
    mutating func removeAll() {
        text.removeAll()
        members.removeAll()
        objects.removeAll()
    }

    // MARK: Objects

    /// Begins an object with what all have; without `time` it tells none.
    mutating func begin(_ head: PacketHead, at time: PacketTime?) {
        start = text.count
        if writesText { text.append(UInt8(ascii: "{")) }
        if let key = begin(.characteristic) { append(key, quoted: head.characteristic) }
        if let device = head.device, let key = begin(.device) {
            if head.deviceIsEscaped {
                append(key, quoted: device)
            } else {
                append(key, device)
            }
        }
        if let time { member(.time, time) }
        member(.received, head.arrival)
        if let sequence = head.sequence { member(.bridgeSequence, Decimal64(mantissa: Int64(sequence))) }
    }

    /// Ends the object.
    mutating func end() {
        if writesText { text.append(UInt8(ascii: "}")) }
        text.reserve(ByteView.padding)
        objects.append(Object(textEnd: text.count, memberEnd: members.count))
    }

    // MARK: Keys

    /// A member whose value is to be written.
    struct Key: BitwiseCopyable {
        var number: UInt16
        /// Place of the key in the text of the object.
        var start: UInt32 = 0
        var length: UInt32 = 0
    }

    /// Writes a name; nil, and nothing, where no expression asks for it.
    @inline(__always)
    private mutating func begin(_ member: PacketMember) -> Key? {
        let entry = table[member]
        return entry.isWanted ? begin(entry) : nil
    }

    @inline(__always)
    private mutating func begin(_ entry: PacketMemberTable.Entry) -> Key {
        guard writesText else { return Key(number: entry.number) }
        separate()
        let start = text.count &- start &+ 1
        text.append(table.text(of: entry))
        return Key(number: entry.number, start: UInt32(truncatingIfNeeded: start), length: entry.length &- 3)
    }

    /// The same for a name that a mapping gave, written as JSON writes it, maybe with escapes.
    private mutating func begin(named name: ByteView) -> Key? {
        plain.removeAll()
        JSONUnescape.append(name, into: &plain)
        plain.reserve(ByteView.padding)
        let number = names.find(plain.view, start: 0, length: plain.count)
        guard number != NameTable.unknown || writesAll else { return nil }
        guard writesText else { return Key(number: number) }
        separate()
        quote()
        let start = text.count - start
        text.append(name)
        text.append(word: 0x3A22, bytes: 2)
        return Key(number: number, start: UInt32(start), length: UInt32(name.count))
    }

    /// Writes the comma between two members.
    @inline(__always)
    private mutating func separate() {
        if text.count > start &+ 1 { text.append(UInt8(ascii: ",")) }
    }

    // MARK: Tokens

    /// Adds the token of the value of `key` that begins at `first` and has just been written.
    @inline(__always)
    private mutating func append(_ key: Key, _ kind: UInt8, from first: Int, flags: UInt8 = 0) {
        var token = Token(
            kind: kind, flags: flags, name: key.number, start: UInt32(truncatingIfNeeded: first &- start))
        token.length = UInt32(truncatingIfNeeded: text.count &- first)
        token.keyStart = key.start
        token.keyLength = key.length
        members.append(token)
    }

    /// Writes the quote around a text.
    @inline(__always)
    private mutating func quote() {
        if writesText { text.append(UInt8(ascii: "\"")) }
    }

    /// Adds the token of a text that begins at `first` and has just been written.
    @inline(__always)
    private mutating func appendText(_ key: Key, from first: Int, flags: UInt8 = 0) {
        append(key, TokenKind.string, from: first, flags: flags)
        quote()
    }

    /// Writes a text that is written as JSON writes it, maybe with escapes.
    private mutating func append(_ key: Key, quoted value: ByteView) {
        quote()
        let first = text.count
        text.append(value)
        appendText(key, from: first, flags: value.hasEscapes ? Token.escaped : 0)
    }

    /// Writes any text.
    private mutating func append(_ key: Key, _ value: ByteView) {
        quote()
        let first = text.count
        text.appendJSON(value)
        appendText(key, from: first, flags: text.view(first..<text.count).hasEscapes ? Token.escaped : 0)
    }

    private mutating func append(_ key: Key, word: StaticString) {
        quote()
        let first = text.count
        text.append(word)
        appendText(key, from: first)
    }

    private mutating func append(_ key: Key, _ number: Decimal64) {
        let first = text.count
        text.append(number)
        append(key, TokenKind.number, from: first)
    }

    /// The special values are the texts that `"absent": true` of a FHIR template names.
    private mutating func append(_ key: Key, _ value: MedicalFloat) {
        switch value {
        case .number(let number): append(key, number)
        case .notANumber: append(key, word: "NaN")
        case .notAtThisResolution: append(key, word: "NRes")
        case .positiveInfinity: append(key, word: "INF")
        case .negativeInfinity: append(key, word: "-INF")
        case .reserved: append(key, word: "reserved")
        }
    }

    // MARK: Members

    /// Writes a point in time: as text only where somebody reads it as such.
    mutating func member(_ member: PacketMember, _ time: PacketTime) {
        let entry = table[member]
        guard entry.isWanted else { return }
        guard writesTimes else {
            let time = Timestamp(instant: time.instant, form: TimeForm(offsetMinutes: time.offsetMinutes))
            return members.append(Token(time, name: entry.number))
        }
        let key = begin(entry)
        quote()
        let first = text.count
        text.append(time.instant, TimeForm(offsetMinutes: time.offsetMinutes))
        appendText(key, from: first)
    }

    /// Writes a number.
    mutating func member(_ member: PacketMember, _ number: Decimal64) {
        if let key = begin(member) { append(key, number) }
    }

    /// Writes an integer.
    mutating func member(_ member: PacketMember, _ integer: some BinaryInteger) {
        self.member(member, Decimal64(mantissa: Int64(integer)))
    }

    /// Writes a number of IEEE 11073, or the text of what is none.
    mutating func member(_ member: PacketMember, _ value: MedicalFloat) {
        if let key = begin(member) { append(key, value) }
    }

    /// Writes a text that needs no escapes.
    mutating func member(_ member: PacketMember, text value: StaticString) {
        if let key = begin(member) { append(key, word: value) }
    }

    /// Writes the clock of a device as it shows: local time without a zone.
    mutating func member(_ member: PacketMember, _ clock: DeviceClock) {
        guard let key = begin(member) else { return }
        quote()
        let first = text.count
        append(clock)
        appendText(key, from: first)
    }

    /// Writes `true` where bit `bit` of `bits` is set, and nothing where it is not.
    mutating func flag(_ member: PacketMember, _ bits: Int, _ bit: Int) {
        guard bits >> bit & 1 == 1, let key = begin(member) else { return }
        let first = text.count
        text.append("true")
        append(key, TokenKind.yes, from: first)
    }

    /// Writes a record's sequence number and clock as one text.
    mutating func member(_ member: PacketMember, record: Int, _ clock: DeviceClock) {
        guard let key = begin(member) else { return }
        quote()
        let first = text.count
        text.append(digits: UInt64(record))
        text.append(UInt8(ascii: "-"))
        append(clock)
        appendText(key, from: first)
    }

    /// Writes a member whose name a mapping gave, escaped for JSON, and its value.
    mutating func member(named name: ByteView, _ value: MedicalFloat) {
        if let key = begin(named: name) { append(key, value) }
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

extension ByteView {
    /// Whether there is a backslash.
    fileprivate var hasEscapes: Bool {
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "\\") { return true }
            index += 1
        }
        return false
    }
}
