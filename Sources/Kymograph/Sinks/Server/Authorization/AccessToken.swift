import KymographCore

/// A token, and how long it is good for.
struct AccessToken: Sendable {
    /// Life of tokens whose endpoint does not say, in seconds: what SMART recommends as the longest.
    static let usualLife: Int64 = 300

    /// Value of the `Authorization` field.
    var value: String
    /// When to fetch another: after 80 % of its life.
    var renewal: Instant
    /// When it ends.
    var end: Instant

    /// A token that was asked for at `now` and lives for `seconds`.
    init(_ token: String, seconds: Int64, at now: Instant) {
        value = "Bearer \(token)"
        let life = min(max(0, seconds), 366 * 86_400) * 1_000_000_000
        renewal = now.advanced(by: life / 10 * 8)
        end = now.advanced(by: life)
    }

    /// After a failure at `now`: tries again after half of what is left, so that an endpoint that is down is not asked
    /// before every request.
    mutating func postponeRenewal(at now: Instant) {
        renewal = now.advanced(by: (end.nanoseconds - now.nanoseconds) / 2)
    }
}
