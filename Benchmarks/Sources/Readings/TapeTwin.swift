import CLimits
import Glibc
import KymographCore

/// What ``DecodeStage`` does, and where it `maps` what ``MapStage`` does to lines of the workload, by the same work
/// in C.
@safe
package struct TapeTwin: ~Copyable, Stage {
    private let pool: LinePool
    private let tape: OpaquePointer
    private let maps: Bool
    private var record = limits_record()
    private var key = [UInt8](repeating: 0, count: 1_200)
    private var next = 0
    private var sum = 0

    /// Scans the lines of `pool` over and over; keys are looked up among `names`.
    package init(_ pool: LinePool, names: [String], maps: Bool = false) {
        self.pool = pool
        self.maps = maps
        let copies = unsafe names.map { unsafe strdup($0) }
        let pointers = unsafe copies.map { unsafe UnsafePointer($0) }
        // Safe: the twin copies the names, and frees what it makes in deinit.
        unsafe tape = limits_tape_make(pointers, Int32(names.count))
        unsafe copies.forEach { unsafe free($0) }
    }

    deinit {
        unsafe limits_tape_free(tape)
    }

    /// Takes `count` lines.
    package mutating func run(_ count: Int) {
        let lines = unsafe pool.lines
        let received = Workload.received.nanoseconds
        for _ in 0..<count {
            let buffer = unsafe lines[next].unsafeBuffer
            let bytes = unsafe buffer.assumingMemoryBound(to: UInt8.self).baseAddress
            // Safe: the pool is padded, and alive.
            let tokens = unsafe limits_tape_scan(tape, bytes, buffer.count)
            precondition(tokens > 0)
            sum += Int(tokens)
            if maps {
                let length = unsafe limits_map(tape, bytes, received, &record, &key)
                precondition(length > 0)
                sum += length
            }
            next = next + 1 == lines.count ? 0 : next + 1
        }
    }
}
