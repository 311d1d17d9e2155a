/// Parquet's encoding of levels and dictionary indices: runs of one number, and between them packed numbers, eight or a
/// multiple of eight at a time.
struct HybridRuns {
    private let width: Int
    /// Numbers that are to be packed.
    private var literals: [UInt32] = []
    /// Most of them: their header is one byte.
    private static let mostLiterals = 504
    private static let group = 8

    /// Numbers of `width` bits (1…32).
    init(width: Int) {
        self.width = width
        literals.reserveCapacity(HybridRuns.mostLiterals)
    }

    /// Appends `value`, `count` times.
    mutating func append(_ value: UInt32, count: Int, to writer: inout ByteWriter) {
        var left = count
        // Packed numbers end with a whole group: a run may have to give some.
        let open = literals.count % HybridRuns.group
        let given = min(left, open == 0 ? 0 : HybridRuns.group - open)
        pack(value, count: given, to: &writer)
        left -= given
        guard left >= HybridRuns.group else { return pack(value, count: left, to: &writer) }
        flush(to: &writer)
        Varint.append(UInt64(left) << 1, to: &writer)
        writer.append(word: UInt64(value), bytes: (width + 7) / 8)
    }

    /// Writes what is left.
    mutating func finish(to writer: inout ByteWriter) { flush(to: &writer) }

    private mutating func pack(_ value: UInt32, count: Int, to writer: inout ByteWriter) {
        for _ in 0..<count {
            literals.append(value)
            if literals.count == HybridRuns.mostLiterals { flush(to: &writer) }
        }
    }

    private mutating func flush(to writer: inout ByteWriter) {
        guard !literals.isEmpty else { return }
        let groups = (literals.count + HybridRuns.group - 1) / HybridRuns.group
        Varint.append(UInt64(groups) << 1 | 1, to: &writer)
        var packer = BitPacker()
        for index in 0..<(groups * HybridRuns.group) {
            let value = index < literals.count ? literals[index] : 0
            packer.append(UInt64(value), width: width, to: &writer)
        }
        packer.finish(to: &writer)
        literals.removeAll(keepingCapacity: true)
    }
}
