/// Parquet's encoding DELTA_BINARY_PACKED: the first number, then how much each differs from the one before, less the
/// least difference of its block. Times at a steady rate take next to nothing.
enum DeltaNumbers {
    static let blockSize = 128
    /// Parts of a block that have a width each.
    static let miniblocks = 4
    static let miniblockSize = blockSize / miniblocks

    /// Appends `values`.
    static func append(_ values: [Int64], to writer: inout ByteWriter) {
        Varint.append(UInt64(blockSize), to: &writer)
        Varint.append(UInt64(miniblocks), to: &writer)
        Varint.append(UInt64(values.count), to: &writer)
        Varint.append(Varint.zigzag(values.first ?? 0), to: &writer)
        var steps = [UInt64](repeating: 0, count: blockSize)
        var next = 1
        while next < values.count {
            let count = min(blockSize, values.count - next)
            var least = Int64.max
            for index in 0..<count { least = min(least, values[next + index] &- values[next + index - 1]) }
            for index in 0..<blockSize {
                // What is behind the end is padding.
                let step = index < count ? values[next + index] &- values[next + index - 1] &- least : 0
                steps[index] = UInt64(bitPattern: step)
            }
            append(block: steps, count: count, least: least, to: &writer)
            next += count
        }
    }

    private static func append(block steps: [UInt64], count: Int, least: Int64, to writer: inout ByteWriter) {
        Varint.append(Varint.zigzag(least), to: &writer)
        var widths = SIMD4<UInt8>()
        for part in 0..<miniblocks {
            var bits: UInt64 = 0
            for index in 0..<miniblockSize { bits |= steps[part * miniblockSize + index] }
            widths[part] = UInt8(BitPacker.width(of: bits))
            writer.append(widths[part])
        }
        // A part without any number of the block is left out.
        for part in 0..<miniblocks where part * miniblockSize < count {
            var packer = BitPacker()
            for index in 0..<miniblockSize {
                packer.append(steps[part * miniblockSize + index], width: Int(widths[part]), to: &writer)
            }
            packer.finish(to: &writer)
        }
    }
}
