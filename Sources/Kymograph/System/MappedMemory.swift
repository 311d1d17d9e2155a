import CKymographLinux
import KymographCore

extension TableMemory {
    /// Memory mapped for one table, in pages of 2 MiB where the system has them (transparent huge pages, on advice): a
    /// table that is used all over then misses the processor's page table less, and grows without being copied.
    ///
    /// Safe: `TableMemory` checks the sizes, and hands the shim only blocks that it got from here, each with its size.
    static let mapped = unsafe TableMemory(
        granule: 2 << 20,
        take: { size in unsafe checked(kymo_memory_take(size), size) },
        grow: { old, size, wanted in unsafe checked(kymo_memory_grow(old, size, wanted), wanted) },
        give: { block, size in unsafe kymo_memory_give(block, size) })

    private static func checked(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer {
        guard let block = unsafe block else { fatalError("cannot map \(size) bytes for the windows") }
        return unsafe block
    }
}
