import Glibc
import Synchronization

/// An owned file descriptor, closed once: by ``close()`` or with its last reference.
package final class Descriptor: Sendable {
    private let value: Atomic<Int32>

    /// Takes over `raw`.
    package init(_ raw: Int32) {
        value = Atomic(raw)
    }

    deinit {
        close()
    }

    /// The descriptor's number, -1 after ``close()``.
    package var raw: Int32 { value.load(ordering: .relaxed) }

    /// Closes it now.
    package func close() {
        let raw = value.exchange(-1, ordering: .relaxed)
        if raw >= 0 { _ = Glibc.close(raw) }
    }
}
