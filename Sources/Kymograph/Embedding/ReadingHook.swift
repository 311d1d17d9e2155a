public import KymographCore

/// Decides on each reading before it is filed, behind the rules of the configuration (docs/rules.md).
///
/// What it decides is counted under its name as the decisions of rules are (`kymo_rule_readings_total`), and is about
/// one reading only. It is asked for every reading, on the thread of the lane that has mapped it, several at once: one
/// that blocks holds up that thread, and in the end whoever sends.
public protocol ReadingHook: Sendable {
    /// Its name in counters and dead letters: a letter, and then letters, digits, `-` and `_`, 40 at most.
    var name: String { get }

    /// What becomes of `reading`.
    func decide(_ reading: HookedReading) -> ReadingDecision
}

/// A reading on which a hook decides.
public struct HookedReading: Sendable {
    /// A value: a number with its digits, or a text.
    public enum Value: Hashable, Sendable {
        /// A number as FHIR has decimals: `72`, `36.60`; at most 18 digits.
        case number(String)
        /// A text; the samples of a waveform are one, as SampledData has them.
        case text(String)
    }

    /// The type, as the mapping calls it.
    public let type: String
    /// The device.
    public let device: IdentifierText
    /// The patient that it will be filed for; nil for none.
    public let patient: IdentifierText?
    /// The encounter; nil for none.
    public let encounter: IdentifierText?
    /// The time of the reading; of an interval, its end.
    public let time: Instant
    /// The source's name in messages, such as `app main`.
    public let source: String
    /// The values, by the names that the mapping gives them.
    public let values: [String: Value]
    /// The tags that it has by now, each `system|code` or `code`.
    public let tags: [String]
}

/// What a hook makes of a reading.
public enum ReadingDecision: Hashable, Sendable {
    /// It is taken.
    case accept
    /// It is counted as `droppedByRule`, and nothing is kept of it.
    case drop
    /// It is counted as `rejectedByRule`, and is a dead letter with its bytes, and with this text.
    case reject(String)
    /// It gets these values, in place of those of the same names, and these tags besides its own. A value that its type
    /// does not have, or cannot have, rejects the reading as `ruleFailed`. Whose it is, of what type and when is no
    /// value.
    case rewrite([String: HookedReading.Value], tags: [String] = [])
}

/// Asks a program's hook.
final class HookedReadings: ReadingInterceptor {
    private let hook: any ReadingHook
    let name: String

    init(_ hook: any ReadingHook) {
        self.hook = hook
        name = hook.name
    }

    func decide(
        _ reading: Measurement, _ payload: ByteView, key: ByteView, type: MeasurementType, source: String
    ) -> Interception {
        switch hook.decide(HookedReading(reading, payload, key, type, source)) {
        case .accept: return .accept
        case .drop: return .drop
        case .reject(let why): return .reject(why)
        case .rewrite(let values, let tags):
            var changes: [(name: String, value: RuleValue)] = []
            for (name, value) in values.sorted(by: { $0.key < $1.key }) {
                guard let settled = RuleValue(value) else { return .fail("\(name): it is no number that can be kept") }
                changes.append((name, settled))
            }
            for tag in tags where (try? TagText.parse(tag)) == nil { return .fail("'\(tag)' is no tag") }
            return .rewrite(changes, tags: tags)
        }
    }
}

extension RuleValue {
    /// Nil for a number that is none, or cannot be kept exactly.
    fileprivate init?(_ value: HookedReading.Value) {
        switch value {
        case .text(let text): self = .text(Array(text.utf8))
        case .number(let text):
            guard let number = RuleExpression.number(text) else { return nil }
            self = .number(number)
        }
    }
}

extension HookedReading {
    fileprivate init(
        _ reading: Measurement, _ payload: ByteView, _ key: ByteView, _ type: MeasurementType, _ source: String
    ) {
        self.type = type.name
        device = IdentifierText(utf8: SeriesKey.device(of: key).array)
        patient = SeriesKey.patient(of: key).map { IdentifierText(utf8: $0.array) }
        encounter = SeriesKey.encounter(of: key).map { IdentifierText(utf8: $0.array) }
        time = reading.instant
        self.source = source
        tags = ReadingTags.texts(ReadingTags.list(in: payload))
        var values: [String: Value] = [:]
        for (slot, name) in type.valueNames.enumerated() where !type.isHidden(slot) {
            values[name] = HookedReading.value(slot, reading, payload)
        }
        self.values = values
    }

    /// What is in `slot`; samples as SampledData has them.
    private static func value(_ slot: Int, _ reading: Measurement, _ payload: ByteView) -> Value? {
        var writer = ByteWriter(capacity: 32)
        if slot < Measurement.inlineValues, let number = reading.inline(slot) {
            writer.append(number)
            return .number(writer.view.string)
        }
        guard let record = ValueRecord.find(slot, in: payload) else { return nil }
        record.appendText(of: payload, to: &writer)
        return record.isNumber ? .number(writer.view.string) : .text(writer.view.string)
    }
}
