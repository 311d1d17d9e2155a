import Glibc
import Synchronization

/// An owned file descriptor, closed once: by ``close()`` or with its last reference.
public final class Descriptor: Sendable {
    private let value: Atomic<Int32>

    /// Takes over `raw`, which nobody else may close from here on.
    public init(_ raw: Int32) {
        value = Atomic(raw)
    }

    deinit {
        close()
    }

    /// The descriptor's number, -1 after ``close()``.
    public var raw: Int32 { value.load(ordering: .relaxed) }

    /// Closes it now.
    public func close() {
        let raw = value.exchange(-1, ordering: .relaxed)
        if raw >= 0 { _ = Glibc.close(raw) }
    }
}
