/// What a stage must reach, in the units of its row.
enum Promise {
    /// At most this many times the time of its twin.
    case times(Double)
    /// At most so many nanoseconds.
    case nanoseconds(Double)
    /// At most so many nanoseconds, or the time of its twin.
    case nanosecondsOrTwin(Double)
    /// Nothing: shown to compare with.
    case none

    /// The promise in words.
    var words: String {
        switch self {
        case .times(let most): "at most \(rounded(most, 2)) times"
        case .nanoseconds(let most): "at most \(rounded(most, 1)) ns"
        case .nanosecondsOrTwin(let most): "\(rounded(most, 2)) ns or twin"
        case .none: ""
        }
    }

    /// Whether it is kept; nil when nothing is promised.
    func isKept(_ time: Double, times: Double) -> Bool? {
        switch self {
        case .times(let most): times <= most
        case .nanoseconds(let most): time <= most
        case .nanosecondsOrTwin(let most): time <= most || times <= 1
        case .none: nil
        }
    }
}

/// `value` with `digits` behind the point.
func rounded(_ value: Double, _ digits: Int) -> String {
    let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
    let scaled = Int((value * scale).rounded())
    guard digits > 0 else { return "\(scaled)" }
    let fraction = String(abs(scaled) % Int(scale))
    let sign = scaled < 0 ? "-" : ""
    return "\(sign)\(abs(scaled) / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
}
