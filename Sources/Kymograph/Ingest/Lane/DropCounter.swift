/// Makes an exact total of the kernel's 32-bit count of dropped datagrams, which wraps.
///
/// The count is read in two ways that lag differently: SO_RXQ_OVFL gives it as of when a datagram was queued,
/// SO_MEMINFO as of now. An older value than the last one is therefore normal, and adds nothing.
struct DropCounter {
    private var last: UInt32 = 0
    /// Drops since the socket was opened.
    private(set) var total: UInt64 = 0

    /// Takes a reading of the count; returns how many drops are new. Readings must be less than 2³¹ drops apart.
    mutating func observe(_ count: UInt32) -> UInt64 {
        let step = Int32(bitPattern: count &- last)
        guard step > 0 else { return 0 }
        last = count
        total += UInt64(step)
        return UInt64(step)
    }
}
