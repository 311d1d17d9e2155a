/// Reasons for which something was rejected, each once, and no more than the first eight.
package struct RejectionReasons: Hashable, Sendable, BitwiseCopyable {
    /// A byte for each, from the lowest on: its raw value and 1.
    private var bytes: UInt64 = 0

    /// None.
    package init() {}

    /// Whether there are none.
    package var isEmpty: Bool { bytes == 0 }

    /// Adds a reason, where there is room.
    package mutating func insert(_ reason: Rejection) { insert(UInt64(reason.rawValue) + 1) }

    /// Adds those of `others`, where there is room.
    package mutating func formUnion(_ others: RejectionReasons) {
        var rest = others.bytes
        while rest > 0 {
            insert(rest & 0xFF)
            rest >>= 8
        }
    }

    private mutating func insert(_ byte: UInt64) {
        for place in stride(from: UInt64(0), to: 64, by: 8) {
            let present = bytes >> place & 0xFF
            if present == byte { return }
            if present == 0 { return bytes |= byte << place }
        }
    }

    /// All of them, by their raw values: shards say them in any order.
    package var all: [Rejection] {
        let present = stride(from: UInt64(0), to: 64, by: 8).map { UInt8(truncatingIfNeeded: bytes >> $0) }
        return present.filter { $0 > 0 }.sorted().compactMap { Rejection(rawValue: $0 - 1) }
    }
}
