import Glibc
import Synchronization

/// Holds a thread up until another lets it go.
final class Gate: Sendable {
    private let ends = Files.pipe()

    deinit {
        close(ends.reader)
        close(ends.writer)
    }

    /// Blocks until ``open()``, once per call of it.
    func wait() {
        var byte: UInt8 = 0
        while unsafe read(ends.reader, &byte, 1) != 1 {}
    }

    /// Lets one waiter go.
    func open() {
        Files.write(ends.writer, [0])
    }
}

/// A flag that threads share.
final class AtomicFlag: Sendable {
    private let value = Atomic(false)

    /// Whether it was set.
    var isSet: Bool { value.load(ordering: .relaxed) }

    /// Sets it.
    func set() { value.store(true, ordering: .relaxed) }
}
