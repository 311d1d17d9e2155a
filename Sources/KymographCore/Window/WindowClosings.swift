/// Why a window was closed.
package enum WindowCause: String, CaseIterable, Sendable {
    /// The event time of its series has passed its end and the lateness.
    case time
    /// Its series has brought nothing for the idle time.
    case idle
    /// It was opened by late readings, and has waited long enough for more of them.
    case late
    /// Its type is not in use any more.
    case unused
    /// Its operator has asked for it.
    case flush
    /// Everything ends.
    case end
}

/// How many windows were closed for each cause.
package struct WindowClosings: BitwiseCopyable, Sendable {
    private var time = 0
    private var idle = 0
    private var late = 0
    private var unused = 0
    private var flush = 0
    private var end = 0

    /// None.
    package init() {}

    /// Those of one cause.
    package subscript(cause: WindowCause) -> Int {
        get {
            switch cause {
            case .time: time
            case .idle: idle
            case .late: late
            case .unused: unused
            case .flush: flush
            case .end: end
            }
        }
        set {
            switch cause {
            case .time: time = newValue
            case .idle: idle = newValue
            case .late: late = newValue
            case .unused: unused = newValue
            case .flush: flush = newValue
            case .end: end = newValue
            }
        }
    }

    /// Adds what was counted elsewhere.
    package mutating func add(_ other: WindowClosings) {
        for cause in WindowCause.allCases { self[cause] += other[cause] }
    }
}
