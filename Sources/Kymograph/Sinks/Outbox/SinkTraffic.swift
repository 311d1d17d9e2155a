import KymographCore

/// What was asked of a server, and how it answered.
package struct SinkTraffic: Codable, Hashable, Sendable {
    /// How many requests ended in one way.
    package struct Ending: Codable, Hashable, Sendable {
        /// The status of the answer; `failed` when there was none.
        package var code: String
        /// How many.
        package var count: Int
    }

    /// In the order in which they were seen first.
    private(set) var endings: [Ending] = []
    /// Bytes of bodies.
    private(set) var sentBytes = 0
    /// When the server last answered with a status from 200 to 299, in seconds since 1970.
    private(set) var lastSuccess: Double?
    /// From sending to the answer.
    private(set) var durations = DurationCounts()

    /// Nothing yet.
    package init() {}

    /// Notes a request with `bytes` of body that was answered at `time` after `duration` with `status`, nil for not at
    /// all. A status out of the protocol's range is none.
    mutating func add(status: Int?, bytes: Int, after duration: Duration, at time: Instant) {
        let code = status.flatMap { (100...599).contains($0) ? "\($0)" : nil } ?? "failed"
        let isSuccess = status.map { (200...299).contains($0) } ?? false
        add(code: code, isSuccess: isSuccess, bytes: bytes, after: duration, at: time)
    }

    /// Notes the same of what ended with `code`: of a database, SQLSTATE.
    mutating func add(code: String, isSuccess: Bool, bytes: Int, after duration: Duration, at time: Instant) {
        if let place = endings.firstIndex(where: { $0.code == code }) {
            endings[place].count += 1
        } else {
            endings.append(Ending(code: code, count: 1))
        }
        sentBytes += bytes
        durations.add(duration)
        if isSuccess { lastSuccess = Double(time.nanoseconds) / 1e9 }
    }

    /// Adds what was asked before.
    mutating func add(_ earlier: SinkTraffic) {
        let later = endings
        endings = earlier.endings
        for ending in later {
            if let place = endings.firstIndex(where: { $0.code == ending.code }) {
                endings[place].count += ending.count
            } else {
                endings.append(ending)
            }
        }
        sentBytes += earlier.sentBytes
        lastSuccess = lastSuccess ?? earlier.lastSuccess
        durations.add(earlier.durations)
    }
}
