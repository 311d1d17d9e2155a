import Glibc
import KymographCore

extension ByteView {
    /// The place of the first newline from `start` on, or nil.
    @inline(__always)
    func newline(from start: Int) -> Int? {
        precondition(start >= 0 && start <= count)
        let bytes = unsafe unsafeBuffer
        // Safe: checked above; a view always has memory, and memchr stays within it.
        guard let base = bytes.baseAddress, let found = unsafe memchr(base + start, 0x0A, count - start) else {
            return nil
        }
        // Safe: both point into the view.
        return unsafe UnsafeRawPointer(found) - base
    }
}
