import KymographCore

/// Names a window in the tests: series and start (or, where one window covers all time, 0).
struct WindowName: Hashable, CustomStringConvertible {
    var series: Int
    var start: Int64

    var description: String { "series \(series) start \(start)" }
}

/// What windows must contain, worked out with dictionaries and without any notion of open or closed.
struct WindowOracle {
    private struct Stored {
        var offset: Int16
        var digits: Int
        var values: [Int: (value: TestValue, received: Int64)]
    }

    let period: Int64
    private var windows: [WindowName: [Int64: Stored]] = [:]

    /// Windows of `period` nanoseconds; 0 for one per series; 1 for one per reading.
    init(period: Int64) {
        self.period = period
    }

    func name(of reading: TestReading) -> WindowName {
        guard period > 0 else { return WindowName(series: reading.series, start: 0) }
        let floor = reading.instant / period - (reading.instant % period < 0 ? 1 : 0)
        return WindowName(series: reading.series, start: floor * period)
    }

    /// Merges a reading and predicts its outcome.
    mutating func add(_ reading: TestReading) -> ReadingOutcome {
        let name = name(of: reading)
        guard var stored = windows[name]?[reading.instant] else {
            let values = reading.values.mapValues { ($0, reading.received) }
            windows[name, default: [:]][reading.instant] = Stored(
                offset: reading.offset, digits: reading.digits, values: values)
            return .accepted
        }
        var outcome = ReadingOutcome.duplicate
        for (slot, value) in reading.values {
            guard let present = stored.values[slot] else {
                stored.values[slot] = (value, reading.received)
                if outcome == .duplicate { outcome = .accepted }
                continue
            }
            if !value.isSame(as: present.value) {
                outcome = .conflict
                if reading.received >= present.received { stored.values[slot] = (value, reading.received) }
            } else {
                let isFiner = WindowOracle.exponent(value) < WindowOracle.exponent(present.value)
                stored.values[slot] = (isFiner ? value : present.value, max(present.received, reading.received))
            }
        }
        stored.offset = max(stored.offset, reading.offset)
        stored.digits = max(stored.digits, reading.digits)
        windows[name]?[reading.instant] = stored
        return outcome
    }

    private static func exponent(_ value: TestValue) -> Int8 {
        if case .number(_, let exponent) = value { exponent } else { 0 }
    }

    /// The canonical contents of all windows.
    var contents: [WindowName: String] {
        windows.mapValues { readings in
            readings.sorted { $0.key < $1.key }.map { instant, stored in
                let values = stored.values.sorted { $0.key < $1.key }
                return "\(instant) \(stored.offset)\(stored.digits > 0 ? ".\(stored.digits)" : "")"
                    + values.map { " \($0.key)=\($0.value.value.description)" }.joined()
            }.joined(separator: "\n")
        }
    }
}
