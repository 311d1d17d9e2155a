/// Writes Thrift's compact protocol, which Parquet's headers and footer are in.
struct ThriftWriter: ~Copyable {
    /// Types of fields and elements.
    enum Kind: UInt8 {
        case isTrue = 1
        case isFalse = 2
        case int16 = 4
        case int32 = 5
        case int64 = 6
        case binary = 8
        case list = 9
        case structure = 12
    }

    private(set) var bytes = ByteWriter()
    /// Number of the field that was written last.
    private var last = 0
    /// The same of the structures around this one.
    private var outer: [Int] = []

    /// Writes the head of field `number`, whose content must follow.
    private mutating func head(_ number: Int, _ kind: Kind) {
        let step = number - last
        last = number
        if (1...15).contains(step) { return bytes.append(UInt8(step) << 4 | kind.rawValue) }
        bytes.append(kind.rawValue)
        Varint.append(Varint.zigzag(Int64(number)), to: &bytes)
    }

    /// Writes a field of 16 bits.
    mutating func write(_ number: Int, int16 value: Int) { write(number, .int16, value) }

    /// Writes a field of 32 bits.
    mutating func write(_ number: Int, int32 value: Int) { write(number, .int32, value) }

    /// Writes a field of 64 bits.
    mutating func write(_ number: Int, int64 value: Int) { write(number, .int64, value) }

    private mutating func write(_ number: Int, _ kind: Kind, _ value: Int) {
        head(number, kind)
        element(value)
    }

    /// Writes a field that is true or false.
    mutating func write(_ number: Int, _ value: Bool) { head(number, value ? .isTrue : .isFalse) }

    /// Writes a field of bytes.
    mutating func write(_ number: Int, _ value: [UInt8]) {
        head(number, .binary)
        element(value)
    }

    /// Writes a field of text.
    mutating func write(_ number: Int, _ value: String) { write(number, Array(value.utf8)) }

    /// Writes a field that is a structure without fields.
    mutating func writeEmpty(_ number: Int) {
        begin(number)
        end()
    }

    /// Begins a field that is a structure.
    mutating func begin(_ number: Int) {
        head(number, .structure)
        beginElement()
    }

    /// Begins a structure that is an element of a list.
    mutating func beginElement() {
        outer.append(last)
        last = 0
    }

    /// Ends the innermost structure; the outermost one as well.
    mutating func end() {
        bytes.append(0)
        last = outer.popLast() ?? 0
    }

    /// Writes the head of a field that is a list of `count` elements, which must follow.
    mutating func beginList(_ number: Int, _ kind: Kind, count: Int) {
        head(number, .list)
        guard count >= 15 else { return bytes.append(UInt8(count) << 4 | kind.rawValue) }
        bytes.append(0xF0 | kind.rawValue)
        Varint.append(UInt64(count), to: &bytes)
    }

    /// Writes an element that is a number.
    mutating func element(_ value: Int) { Varint.append(Varint.zigzag(Int64(value)), to: &bytes) }

    /// Writes an element of bytes.
    mutating func element(_ value: [UInt8]) {
        Varint.append(UInt64(value.count), to: &bytes)
        bytes.append(value)
    }

    /// Writes elements that another writer has written.
    mutating func elements(_ written: ByteView) { bytes.append(written) }
}
