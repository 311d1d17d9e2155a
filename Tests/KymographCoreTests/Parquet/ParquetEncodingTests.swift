@testable import KymographCore
import Testing
import TrialSupport

/// What is written in Parquet's encodings is read back by decoders that were written by the specification.
@Suite struct ParquetEncodingTests {
    @Test(arguments: Trials.seeds(100))
    func packing(seed: UInt64) {
        var random = WindowRandom(seed: seed)
        let width = random.int(0...64)
        let mask = width == 64 ? UInt64.max : 1 << UInt64(width) - 1
        let values = (0..<random.int(0...70)).map { _ in UInt64.random(in: 0...UInt64.max, using: &random) & mask }
        var writer = ByteWriter()
        var packer = BitPacker()
        for value in values { packer.append(value, width: width, to: &writer) }
        packer.finish(to: &writer)
        var reader = PageReader(writer.view.array)
        #expect(reader.packed(values.count, width: width) == values && reader.isAtEnd, "seed \(seed)")
    }

    @Test(arguments: Trials.seeds(200))
    func runs(seed: UInt64) {
        var random = WindowRandom(seed: seed)
        let width = random.int(1...32)
        let greatest = UInt32.max >> UInt32(32 - width)
        var writer = ByteWriter()
        var (runs, values) = (HybridRuns(width: width), [UInt64]())
        for _ in 0..<random.int(0...60) {
            let value = UInt32.random(in: 0...greatest, using: &random)
            let count = [1, 1, 1, random.int(1...20), random.int(1...3_000)][random.int(0...4)]
            runs.append(value, count: count, to: &writer)
            values += Array(repeating: UInt64(value), count: count)
        }
        runs.finish(to: &writer)
        var reader = PageReader(writer.view.array)
        #expect(reader.hybrid(values.count, width: width) == values && reader.isAtEnd, "seed \(seed)")
    }

    @Test(arguments: Trials.seeds(200))
    func deltas(seed: UInt64) {
        var random = WindowRandom(seed: seed)
        let steps: [Int64] = [0, 1, 1_000_000_000, .max, .min, -7]
        var values: [Int64] = []
        for _ in 0..<random.int(1...700) {
            let last = values.last ?? Int64.random(in: .min ... .max, using: &random)
            let step =
                random.int(0...3) == 0 ? Int64.random(in: .min ... .max, using: &random) >> random.int(0...63) : 0
            values.append(last &+ steps[random.int(0...(seed % 2 == 0 ? 2 : 5))] &+ step)
        }
        var writer = ByteWriter()
        DeltaNumbers.append(values, to: &writer)
        var reader = PageReader(writer.view.array)
        #expect(reader.deltas() == values && reader.isAtEnd, "seed \(seed)")
    }

    /// Fields with numbers that are near and far, in structures within structures.
    @Test func thrift() {
        var thrift = ThriftWriter()
        thrift.write(1, int32: -1)
        thrift.write(30, int64: .max)
        thrift.begin(31)
        thrift.write(2, true)
        thrift.write(3, "é")
        thrift.end()
        thrift.beginList(32, .structure, count: 20)
        for _ in 0..<20 { thrift.beginElement(); thrift.write(1, int16: 300); thrift.end() }
        thrift.write(33, false)
        thrift.end()
        var reader = PageReader(thrift.bytes.view.array)
        #expect(reader.byte() == 0x15 && reader.signed() == -1)
        #expect(reader.byte() == 0x06 && reader.signed() == 30 && reader.signed() == .max)
        #expect(reader.byte() == 0x1C && reader.byte() == 0x21 && reader.byte() == 0x18)
        #expect(reader.varint() == 2 && reader.byte() == 0xC3 && reader.byte() == 0xA9 && reader.byte() == 0)
        #expect(reader.byte() == 0x19 && reader.byte() == 0xFC && reader.varint() == 20)
        for _ in 0..<20 { #expect(reader.byte() == 0x14 && reader.signed() == 300 && reader.byte() == 0) }
        #expect(reader.byte() == 0x12 && reader.byte() == 0 && reader.isAtEnd)
    }

    /// A number becomes the multiple that it is, digit by digit, or none.
    @Test(arguments: Trials.seeds(300))
    func decimals(seed: UInt64) {
        var random = WindowRandom(seed: seed)
        let digits = random.int(0...37)
        let mantissa = Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
        let zeros = random.int(0...2) == 0 ? random.int(0...17) : 0
        var number = Decimal64(mantissa: mantissa, exponent: Int8(random.int(-100...100)))
        for _ in 0..<zeros { number.mantissa = number.mantissa / 10 }
        for _ in 0..<zeros { number.mantissa *= 10 }
        if random.int(0...1) == 0 { number.exponent = Int8(random.int(-digits - 3...20 - digits / 2)) }
        // As text: sign, digits, zeros.
        var text = String(number.mantissa.magnitude)
        var power = Int(number.exponent) + digits
        while power < 0, text.hasSuffix("0"), text != "0" { (text, power) = (String(text.dropLast()), power + 1) }
        let isZero = number.mantissa == 0
        let expected: String? =
            isZero
            ? "0"
            : power < 0 || text.count + power > 38
                ? nil : (number.mantissa < 0 ? "-" : "") + text + String(repeating: "0", count: power)
        #expect(DecimalScale(digits: digits).multiple(number).map { "\($0)" } == expected, "seed \(seed)")
    }
}
