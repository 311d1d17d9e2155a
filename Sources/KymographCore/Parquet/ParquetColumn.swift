/// A column of a Parquet file: its name, and what its values are.
struct ParquetColumn: Sendable {
    /// What values are.
    enum Form: Sendable {
        /// UTF-8.
        case text
        /// A number of 32 bits.
        case int32
        /// A number of 64 bits.
        case int64
        /// Nanoseconds since the epoch, in UTC.
        case time
        /// A decimal number of 38 digits, `scale` of them behind the point.
        case decimal(scale: Int)
    }

    let name: String
    let form: Form
    var isOptional = true

    /// Digits of decimal numbers.
    static let precision = 38
    /// Bytes of decimal numbers.
    static let decimalBytes = 16

    /// Writes the column as an element of the schema.
    func append(to thrift: inout ThriftWriter) {
        thrift.beginElement()
        thrift.write(1, int32: form.physical)
        if case .decimal = form { thrift.write(2, int32: ParquetColumn.decimalBytes) }
        thrift.write(3, int32: isOptional ? 1 : 0)
        thrift.write(4, name)
        form.appendLogical(to: &thrift)
        thrift.end()
    }
}

extension ParquetColumn.Form {
    /// The number of the physical type.
    var physical: Int {
        switch self {
        case .int32: 1
        case .int64, .time: 2
        case .text: 6
        case .decimal: 7
        }
    }

    /// Bytes of a value; nil where they differ.
    var width: Int? {
        switch self {
        case .text: nil
        case .int32: 4
        case .int64, .time: 8
        case .decimal: ParquetColumn.decimalBytes
        }
    }

    /// Writes what the values mean: in the form of earlier readers as well, where that has it.
    fileprivate func appendLogical(to thrift: inout ThriftWriter) {
        switch self {
        case .int32, .int64: return
        case .text:
            thrift.write(6, int32: 0)
            thrift.begin(10)
            thrift.writeEmpty(1)
        case .decimal(let scale):
            thrift.write(6, int32: 5)
            thrift.write(7, int32: scale)
            thrift.write(8, int32: ParquetColumn.precision)
            thrift.begin(10)
            thrift.begin(5)
            thrift.write(1, int32: scale)
            thrift.write(2, int32: ParquetColumn.precision)
            thrift.end()
        case .time:
            thrift.begin(10)
            thrift.begin(8)
            thrift.write(1, true)
            thrift.begin(2)
            thrift.writeEmpty(3)
            thrift.end()
            thrift.end()
        }
        thrift.end()
    }

    /// Whether value `first` comes before `second`.
    func isLess(_ first: ByteView, than second: ByteView) -> Bool {
        switch self {
        case .text: return precedes(first, second)
        case .int32, .int64, .time: return number(first) < number(second)
        case .decimal:
            // Big-endian: where the signs are the same, as bytes.
            let (isNegative, isOtherNegative) = (first[0] >= 0x80, second[0] >= 0x80)
            return isNegative == isOtherNegative ? precedes(first, second) : isNegative
        }
    }

    private func precedes(_ first: ByteView, _ second: ByteView) -> Bool {
        for index in 0..<min(first.count, second.count) where first[index] != second[index] {
            return first[index] < second[index]
        }
        return first.count < second.count
    }

    private func number(_ value: ByteView) -> Int64 {
        var bits: UInt64 = 0
        for index in 0..<value.count { bits |= UInt64(value[index]) << UInt64(8 * index) }
        return value.count == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
    }
}
