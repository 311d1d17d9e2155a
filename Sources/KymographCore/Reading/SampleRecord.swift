/// The samples of a waveform in one reading, as its payload holds them.
///
/// Layout: number of samples (2 bytes, little-endian), the finest exponent (1), then for each sample a varint whose
/// lowest bit tells whether one more byte follows. Its rest is, in zigzag, the difference to the digits of the number
/// before, all in the finest exponent. The byte is how many decimals less the number was written with (`0.5` beside
/// `0.125` has two), or a mark. So every digit comes back, and a sample takes one byte where it differs from its
/// neighbour by at most 31 steps, and two where it does by at most 4,095.
package enum SampleRecord {
    /// Most samples of one value of one reading.
    package static let mostSamples = 65_000

    /// Bytes before the samples.
    static let headerBytes = 3
    /// Bytes from which on the byte behind a sample is a mark.
    static let firstMark: UInt8 = 0x80
    /// Stands for a mark in a list of numbers that is to be encoded: no number has this exponent.
    static let markExponent: Int8 = 127

    /// What stands for `mark` in a list of numbers.
    static func placeholder(_ mark: Sample.Mark) -> Decimal64 {
        Decimal64(mantissa: Int64(mark.rawValue), exponent: markExponent)
    }

    /// Appends `numbers`, with placeholders among them; false when one does not fit 18 digits in the finest exponent.
    static func append(_ numbers: borrowing RawArray<Decimal64>, to writer: inout ByteWriter) -> Bool {
        precondition(numbers.count <= mostSamples)
        let finest = finestExponent(numbers)
        writer.append(UInt8(truncatingIfNeeded: numbers.count))
        writer.append(UInt8(truncatingIfNeeded: numbers.count >> 8))
        writer.append(UInt8(bitPattern: finest))
        var last: Int64 = 0
        for index in 0..<numbers.count {
            let number = numbers[index]
            if number.exponent == markExponent {
                writer.append(1)
                writer.append(firstMark | UInt8(truncatingIfNeeded: number.mantissa))
                continue
            }
            guard let digits = number.mantissa(at: finest), digits.magnitude < 1_000_000_000_000_000_000 else {
                return false
            }
            let fewer = min(Int(number.exponent) - Int(finest), 18)
            let step = Varint.zigzag(digits - last) << 1
            Varint.append(fewer == 0 ? step : step | 1, to: &writer)
            if fewer > 0 { writer.append(UInt8(fewer)) }
            last = digits
        }
        return true
    }

    private static func finestExponent(_ numbers: borrowing RawArray<Decimal64>) -> Int8 {
        var finest = markExponent
        for index in 0..<numbers.count { finest = min(finest, numbers[index].exponent) }
        return finest == markExponent ? 0 : finest
    }

    /// Whether `bytes`, which may have been damaged, are a record.
    static func isSound(_ bytes: ByteView) -> Bool {
        guard bytes.count >= headerBytes else { return false }
        var reader = SampleReader(bytes)
        for _ in 0..<reader.count where reader.next() == nil { return false }
        return reader.isAtEnd
    }
}

/// One sample of a waveform.
package enum Sample: Hashable, Sendable {
    /// What stands for a number.
    package enum Mark: UInt8, Sendable {
        /// `E`: no valid measurement.
        case missing = 0
        /// `L`: below what the device can measure.
        case below = 1
        /// `U`: above it.
        case above = 2

        /// The token of SampledData.
        var token: UInt8 {
            switch self {
            case .missing: UInt8(ascii: "E")
            case .below: UInt8(ascii: "L")
            case .above: UInt8(ascii: "U")
            }
        }
    }

    case number(Decimal64)
    case mark(Mark)
}

/// Goes through the samples of one value of one reading.
struct SampleReader: BitwiseCopyable {
    /// Samples in all.
    private(set) var count: Int
    private let bytes: ByteView
    private var offset: Int
    private var decoded = 0
    /// Digits of the number before; of a single number, its own.
    private var digits: Int64 = 0
    private let exponent: Int8
    private let isSingle: Bool

    /// Reads nothing.
    init() {
        (count, offset, exponent, isSingle) = (0, 0, 0, false)
        bytes = ByteView("")
    }

    /// Reads a ``SampleRecord``.
    init(_ record: ByteView) {
        bytes = record
        count = Int(record[0]) | Int(record[1]) << 8
        exponent = Int8(bitPattern: record[2])
        offset = SampleRecord.headerBytes
        isSingle = false
    }

    /// Reads `number` alone.
    init(_ number: Decimal64) {
        bytes = ByteView("")
        (count, offset, exponent, isSingle) = (1, 0, number.exponent, true)
        digits = number.mantissa
    }

    /// Whether the whole record has been read, and nothing follows it.
    var isAtEnd: Bool { decoded == count && offset == bytes.count }

    /// The next sample; nil at the end, or where the record is damaged.
    @inline(__always)
    mutating func next() -> Sample? {
        guard decoded < count else { return nil }
        decoded += 1
        if isSingle { return .number(Decimal64(mantissa: digits, exponent: exponent)) }
        guard let code = Varint.read(bytes, &offset) else { return nil }
        digits &+= Varint.unzigzag(code >> 1)
        if code & 1 == 0 { return .number(Decimal64(mantissa: digits, exponent: exponent)) }
        return unusual()
    }

    private mutating func unusual() -> Sample? {
        guard offset < bytes.count else { return nil }
        let byte = bytes[offset]
        offset += 1
        if byte >= SampleRecord.firstMark { return Sample.Mark(rawValue: byte & 0x7F).map { .mark($0) } }
        guard byte <= 18 else { return nil }
        let (coarser, overflow) = exponent.addingReportingOverflow(Int8(byte))
        guard !overflow else { return nil }
        return .number(Decimal64(mantissa: digits / Decimal64.powers[Int(byte)], exponent: coarser))
    }
}

extension ByteWriter {
    /// Writes samples as the data of SampledData: tokens with a space between.
    mutating func append(samples: SampleReader) {
        var reader = samples
        var isFirst = true
        while let sample = reader.next() {
            if !isFirst { append(UInt8(ascii: " ")) }
            isFirst = false
            switch sample {
            case .number(let number): append(number)
            case .mark(let mark): append(mark.token)
            }
        }
    }
}
