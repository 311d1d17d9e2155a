import KymographCore

/// What a server says about when to ask again.
struct RetryTimes {
    /// The present, in civil time.
    let now: Instant
    /// Longest wait that a server is granted, in nanoseconds.
    let longest: Int64

    /// How long `Retry-After` asks to wait, in nanoseconds; nil without one that can be read.
    func retryAfter(_ response: HTTPResponse) -> Int64? {
        guard let text = response.header("Retry-After").map(RetryTimes.trimmed) else { return nil }
        if let seconds = Double(text), seconds >= 0 { return capped(seconds) }
        guard let date = HTTPDate.parse(text) else { return nil }
        return min(longest, max(0, date.nanoseconds - now.nanoseconds))
    }

    /// How long to wait before the next request because the server's limit is used up, in nanoseconds; nil when it is
    /// not.
    func limitReset(_ response: HTTPResponse) -> Int64? {
        if let wait = combinedReset(response) { return wait }
        for prefix in ["RateLimit-", "X-RateLimit-", "X-Rate-Limit-"] {
            guard let left = response.header(prefix + "Remaining").flatMap({ Int(RetryTimes.trimmed($0)) }), left <= 0
            else { continue }
            guard let reset = response.header(prefix + "Reset").flatMap({ Double(RetryTimes.trimmed($0)) }) else {
                return nil
            }
            // Some give the time of day of the reset: seconds since 1970.
            let isTime = reset > 1_000_000_000
            return capped(isTime ? max(0, reset - Double(now.nanoseconds) / 1e9) : reset)
        }
        return nil
    }

    /// The newer form: `RateLimit: "name";r=0;t=30`.
    private func combinedReset(_ response: HTTPResponse) -> Int64? {
        guard let field = response.header("RateLimit") else { return nil }
        var parameters: [Substring: Double] = [:]
        for part in field.split(whereSeparator: { ";, ".contains($0) }) {
            let pair = part.split(separator: "=")
            if pair.count == 2 { parameters[pair[0]] = Double(pair[1]) }
        }
        guard let left = parameters["r"], left <= 0, let reset = parameters["t"] else { return nil }
        return capped(reset)
    }

    private func capped(_ seconds: Double) -> Int64 {
        let most = Double(longest)
        return Int64(min(most, max(0, seconds) * 1e9))
    }

    private static func trimmed(_ text: String) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

/// Dates as HTTP writes them (RFC 9110 section 5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`; nil for anything else.
    static func parse(_ text: String) -> Instant? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), let year = Int64(parts[3]),
            let month = months.firstIndex(of: String(parts[2])), (1...31).contains(day), (1970...2200).contains(year)
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, (0..<24).contains(time[0]), (0..<60).contains(time[1]), (0...60).contains(time[2]) else {
            return nil
        }
        let seconds = time[0] * 3600 + time[1] * 60 + time[2]
        return Instant(seconds: days(year, Int64(month) + 1, day) * 86_400 + seconds)
    }

    /// Days since 1970-01-01 of a date of the Gregorian calendar, counted in years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
    }
}
