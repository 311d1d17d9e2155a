/// Decides on readings behind the rules: what a program that embeds the engine has in their place. For any thread.
package protocol ReadingInterceptor: AnyObject, Sendable {
    /// Its name in counters and letters.
    var name: String { get }

    /// What becomes of a reading of `type` and the series `key` (a ``SeriesKey``), that the source called `source` has
    /// brought. Views are valid during the call.
    func decide(
        _ reading: Measurement, _ payload: ByteView, key: ByteView, type: MeasurementType, source: String
    ) -> Interception
}

/// What an interceptor makes of a reading.
package enum Interception: Sendable {
    case accept
    /// It is counted, and nothing is kept of it.
    case drop
    /// It is counted and kept as a dead letter, which says why.
    case reject(String)
    /// It is rejected, because what was decided cannot be done.
    case fail(String)
    /// It gets these values and tags, each `system|code` or `code`.
    case rewrite([(name: String, value: RuleValue)], tags: [String])
}
