import KymographCore

/// Reads how a template groups readings: our `period`, or iomt-fhir's `periodInterval`.
enum GroupingReader {
    private static let minute: Int64 = 60_000_000_000
    private static let intervals: [(name: String, minutes: Int64)] = [
        ("single", 0), ("hourly", 60), ("daily", 1440), ("correlationid", -1),
    ]

    /// The declared grouping; `period` wins over `periodInterval`; nil when neither is there or usable.
    static func read(_ object: FieldReader, log: inout DiagnosticLog) -> Grouping? {
        let interval = object.node("periodInterval").flatMap { readInterval($0, log: &log) }
        guard let period = object.node("period") else { return interval }
        return readPeriod(period, log: &log)
    }

    private static func readPeriod(_ node: JSONNode, log: inout DiagnosticLog) -> Grouping? {
        guard let text = node.text("'period'", log: &log) else { return nil }
        switch text.lowercased() {
        case "instance": return .instance
        case "correlation": return .correlation
        default: break
        }
        guard let length = DurationText.parse(text), length > 0 else {
            let advice = "\(DurationText.advice), or instance, or correlation"
            log.error(
                node.position, "period '\(text)' is not a length of time above zero", advice: advice,
                finding: .wrongPeriod)
            return nil
        }
        return .tumbling(nanoseconds: length)
    }

    private static func readInterval(_ node: JSONNode, log: inout DiagnosticLog) -> Grouping? {
        guard let minutes = minutes(node), minutes >= -1, minutes <= Int64.max / minute else {
            log.error(
                node.position, "periodInterval is neither minutes nor a known name",
                advice: "use 0 (Single), 60 (Hourly), 1440 (Daily), -1 (CorrelationId) or another number of minutes",
                finding: .wrongPeriod)
            return nil
        }
        switch minutes {
        case -1: return .correlation
        case 0: return .instance
        default: return .tumbling(nanoseconds: minutes * minute)
        }
    }

    private static func minutes(_ node: JSONNode) -> Int64? {
        switch node.value {
        case .number(let text): return Int64(text)
        case .string(let text): return Int64(text) ?? intervals.first { $0.name == text.lowercased() }?.minutes
        case .object, .array, .bool, .null: return nil
        }
    }
}
