/// Where the memory of large tables comes from, handed in by whoever can ask the system for large pages: this module
/// makes no system calls.
@safe
package struct TableMemory: Sendable {
    /// Sizes are multiples of this many bytes.
    let granule: Int
    private let takeBytes: @Sendable (Int) -> UnsafeMutableRawPointer
    private let growBlock: @Sendable (UnsafeMutableRawPointer, Int, Int) -> UnsafeMutableRawPointer
    private let giveBlock: @Sendable (UnsafeMutableRawPointer, Int) -> Void

    /// Wraps three functions, which must end the process rather than fail: `take` gives memory of a size, aligned to 64
    /// bytes or more; `grow` gives memory of the second size with the content of the first, in place of what it is
    /// given; `give` takes memory of a size back.
    @unsafe
    package init(
        granule: Int, take: @escaping @Sendable (Int) -> UnsafeMutableRawPointer,
        grow: @escaping @Sendable (UnsafeMutableRawPointer, Int, Int) -> UnsafeMutableRawPointer,
        give: @escaping @Sendable (UnsafeMutableRawPointer, Int) -> Void
    ) {
        precondition(granule > 0)
        self.granule = granule
        unsafe takeBytes = take
        unsafe growBlock = grow
        unsafe giveBlock = give
    }

    /// The process's heap. Blocks begin at cache lines, so that slots of 64 bytes do not straddle them: tables are
    /// scattered over megabytes, and each line of them is a wait.
    package static let heap = unsafe TableMemory(
        granule: 64,
        take: { size in UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64) },
        grow: { old, size, wanted in
            let moved = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 64)
            // Safe: both blocks hold at least `size` bytes.
            unsafe moved.copyMemory(from: old, byteCount: size)
            unsafe old.deallocate()
            return unsafe moved
        },
        give: { block, _ in unsafe block.deallocate() })

    /// `size` rounded up to whole granules.
    func rounded(_ size: Int) -> Int { (size + granule - 1) / granule * granule }

    /// Fresh memory of `size` bytes, whole granules.
    @unsafe
    func take(_ size: Int) -> UnsafeMutableRawPointer {
        precondition(size > 0 && size % granule == 0)
        return unsafe takeBytes(size)
    }

    /// `block` of `size` bytes, with its content, as one of `wanted` bytes.
    @unsafe
    func grow(_ block: UnsafeMutableRawPointer, from size: Int, to wanted: Int) -> UnsafeMutableRawPointer {
        precondition(wanted >= size && wanted % granule == 0)
        return unsafe growBlock(block, size, wanted)
    }

    @unsafe
    func give(_ block: UnsafeMutableRawPointer, _ size: Int) { unsafe giveBlock(block, size) }
}
