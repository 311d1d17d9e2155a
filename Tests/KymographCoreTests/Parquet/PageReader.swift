/// Reads Parquet's encodings by the specification, bit by bit, and shares nothing with what writes them.
struct PageReader {
    let bytes: [UInt8]
    var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func byte() -> Int {
        defer { place += 1 }
        return Int(bytes[place])
    }

    /// Unsigned LEB128.
    mutating func varint() -> UInt64 {
        var (value, shift) = (UInt64(0), 0)
        while true {
            let next = byte()
            value += UInt64(next % 128) << shift
            if next < 128 { return value }
            shift += 7
        }
    }

    mutating func signed() -> Int64 {
        let code = varint()
        return code % 2 == 0 ? Int64(code / 2) : -Int64(code / 2) - 1
    }

    /// Numbers of `width` bits, the lowest bits first, and each from its lowest bit on.
    mutating func packed(_ count: Int, width: Int) -> [UInt64] {
        let start = place * 8
        place += (count * width + 7) / 8
        return (0..<count).map { number in
            (0..<width).reduce(0) { value, bit in
                let index = start + number * width + bit
                return value | UInt64(bytes[index / 8] >> (index % 8) & 1) << bit
            }
        }
    }

    /// `count` numbers of the hybrid of runs and packed groups.
    mutating func hybrid(_ count: Int, width: Int) -> [UInt64] {
        var values: [UInt64] = []
        while values.count < count {
            let head = Int(varint())
            if head % 2 == 1 {
                values += packed(head / 2 * 8, width: width)
            } else {
                let value = (0..<(width + 7) / 8).reduce(UInt64(0)) { $0 | UInt64(byte()) << ($1 * 8) }
                values += Array(repeating: value, count: head / 2)
            }
        }
        return Array(values.prefix(count))
    }

    /// DELTA_BINARY_PACKED.
    mutating func deltas() -> [Int64] {
        let (block, parts, count) = (Int(varint()), Int(varint()), Int(varint()))
        var values = [signed()]
        while values.count < count {
            let least = signed()
            let widths = (0..<parts).map { _ in byte() }
            for width in widths where values.count < count {
                for step in packed(block / parts, width: width) where values.count < count {
                    values.append(values[values.count - 1] &+ least &+ Int64(bitPattern: step))
                }
            }
        }
        return Array(values.prefix(count))
    }
}
