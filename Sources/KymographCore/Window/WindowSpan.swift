/// The event time that a window covers, ends included, and the name under which it is archived.
struct WindowSpan: BitwiseCopyable {
    /// First instant.
    var start: Instant
    /// Last instant.
    var through: Instant

    /// Start in the archive; differs from ``start`` for correlation windows only, which cover all time.
    var key: Instant {
        start == .distantPast && through == .distantFuture ? Instant(nanoseconds: 0) : start
    }

    /// First instant after the window.
    var end: Instant { through.advanced(by: 1) }

    /// Whether `instant` is in the window.
    @inline(__always)
    func contains(_ instant: Instant) -> Bool {
        instant >= start && instant <= through
    }

    /// The whole of time.
    static let always = WindowSpan(start: .distantPast, through: .distantFuture)

    /// The UTC-aligned window of `period` nanoseconds around `instant`, held at the ends of the representable range.
    static func aligned(around instant: Instant, period: Int64) -> WindowSpan {
        let remainder = instant.nanoseconds % period
        let into = remainder < 0 ? remainder + period : remainder
        let start = instant.advanced(by: -into)
        return WindowSpan(start: start, through: instant.advanced(by: period - 1 - into))
    }
}
