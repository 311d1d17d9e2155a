import KymographCore
import KymographTemplates

/// The time that an Observation covers, with the texts that say so.
struct EffectiveTexts: Hashable, Sendable {
    var start: Instant
    var end: Instant
    private var startText: String
    private var endText: String

    /// Reads `effectivePeriod`, or `effectiveDateTime` as a point in time.
    init(_ observation: JSONNode) throws(ObservationMerge.Failure) {
        if let point = observation.member("effectiveDateTime")?.string {
            startText = point
            endText = point
        } else if let period = observation.member("effectivePeriod"), let start = period.member("start")?.string,
            let end = period.member("end")?.string
        {
            startText = start
            endText = end
        } else {
            throw ObservationMerge.Failure(
                message: "effectivePeriod with start and end, or effectiveDateTime, expected in both Observations")
        }
        start = try EffectiveTexts.instant(startText)
        end = try EffectiveTexts.instant(endText)
    }

    private static func instant(_ text: String) throws(ObservationMerge.Failure) -> Instant {
        let storage = PaddedBytes(copying: text.utf8)
        if let time = TimestampParser.iso8601(storage.view) { return time.instant }
        throw ObservationMerge.Failure(message: "'\(text)' is not a date with a time of day")
    }

    /// The time from the earlier start to the later end.
    func union(_ other: EffectiveTexts) -> EffectiveTexts {
        var union = self
        if other.start < start { (union.start, union.startText) = (other.start, other.startText) }
        if other.end > end { (union.end, union.endText) = (other.end, other.endText) }
        return union
    }

    /// The FHIR Period.
    var node: JSONNode {
        JSONNode(.object([])).setting("start", to: JSONNode(.string(startText)))
            .setting("end", to: JSONNode(.string(endText)))
    }

    /// Whether both cover the same time, however it is written.
    static func == (left: EffectiveTexts, right: EffectiveTexts) -> Bool {
        left.start == right.start && left.end == right.end
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(start)
        hasher.combine(end)
    }
}
