import KymographCore
import KymographTemplates

/// A time at which something ends, as it was written: with an offset, so that all read the same.
package struct StopTime: Hashable, Sendable {
    /// As it was written.
    package let text: String
    /// The time.
    package let instant: Instant

    /// Reads a time such as `2027-01-01T00:00:00+01:00`.
    ///
    /// - Throws: ``SettingProblem`` when it is none, or has no offset from UTC.
    package init(parsing text: String) throws(SettingProblem) {
        let storage = PaddedBytes(copying: Array(text.utf8))
        let advice = "write a time with its offset from UTC, such as 2027-01-01T00:00:00+01:00, or with Z for UTC"
        guard let time = TimestampParser.iso8601(storage.view) else {
            throw SettingProblem(message: "'\(text)' is no time", advice: advice)
        }
        guard !time.isLocal else {
            throw SettingProblem(message: "'\(text)' has no offset, and nobody can tell when that is", advice: advice)
        }
        (self.text, instant) = (text, time.instant)
    }
}
