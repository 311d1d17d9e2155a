import CLimits
import KymographCore

/// Reads ISO-8601 times with milliseconds, by the product's parser or by the unchecked one in C.
package struct TimeStage: ~Copyable, Stage {
    private let pool: LinePool
    private let isTwin: Bool
    private var next = 0
    /// Sum of all times in milliseconds: the same for both.
    package private(set) var sum: Int64 = 0

    /// Reads 8,192 different times over and over.
    package init(isTwin: Bool = false) {
        self.isTwin = isTwin
        pool = .times()
    }

    /// Reads `count` times.
    package mutating func run(_ count: Int) {
        if isTwin { runTwin(count) } else { runParser(count) }
    }

    private mutating func runParser(_ count: Int) {
        let lines = unsafe pool.lines
        for _ in 0..<count {
            guard let time = TimestampParser.iso8601(lines[next]) else { fatalError("the time is well formed") }
            sum &+= time.instant.nanoseconds / 1_000_000
            next = next + 1 == lines.count ? 0 : next + 1
        }
    }

    private mutating func runTwin(_ count: Int) {
        let lines = unsafe pool.lines
        for _ in 0..<count {
            let buffer = unsafe lines[next].unsafeBuffer
            // Safe: the pool is padded, and alive.
            sum &+= unsafe limits_time(buffer.assumingMemoryBound(to: UInt8.self).baseAddress, buffer.count)
            next = next + 1 == lines.count ? 0 : next + 1
        }
    }

    /// Whether both read the same.
    package static func agrees() -> Bool {
        var ours = TimeStage()
        var twin = TimeStage(isTwin: true)
        ours.run(8_192)
        twin.run(8_192)
        return ours.sum == twin.sum
    }
}
