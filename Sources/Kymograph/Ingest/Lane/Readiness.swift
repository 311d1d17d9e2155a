import CKymographLinux
import Glibc

/// Waits for descriptors to have something to read (epoll, level-triggered).
@safe
struct Readiness: ~Copyable {
    private let descriptor: Descriptor
    private var tokens = [UInt64](repeating: 0, count: Readiness.capacity)
    /// Most descriptors that one wait tells of.
    static let capacity = 64

    init() throws(SourceError) {
        let raw = kymo_epoll_create()
        guard raw >= 0 else { throw .system(-raw, "create", "an epoll instance") }
        descriptor = Descriptor(raw)
    }

    /// Waits for `descriptor`, and names it `token`. False when it is a kind that never makes one wait, such as a
    /// regular file (EPERM, epoll_ctl(2)).
    func add(_ raw: Int32, token: UInt64) throws(SourceError) -> Bool {
        let code = kymo_epoll_add(descriptor.raw, raw, token)
        if code == -EPERM { return false }
        guard code >= 0 else { throw .system(-code, "wait for", "descriptor \(raw)") }
        return true
    }

    /// Stops waiting for `descriptor`.
    func remove(_ raw: Int32) {
        _ = kymo_epoll_remove(descriptor.raw, raw)
    }

    /// Waits at most `milliseconds` (-1: without end); returns how many tokens ``token(_:)`` has.
    mutating func wait(milliseconds: Int32) throws(SourceError) -> Int {
        let epoll = descriptor.raw
        let ready = unsafe tokens.withUnsafeMutableBufferPointer { buffer in
            // Safe: the buffer has `count` elements.
            unsafe kymo_epoll_wait(epoll, buffer.baseAddress, Int32(buffer.count), milliseconds)
        }
        guard ready >= 0 else { throw .system(-ready, "wait for", "the sources") }
        return Int(ready)
    }

    /// The name of ready descriptor `index`.
    func token(_ index: Int) -> UInt64 { tokens[index] }
}
