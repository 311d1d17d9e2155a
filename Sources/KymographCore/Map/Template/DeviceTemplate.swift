/// The kinds of device templates (mapping dialect, section 2.1).
public enum DeviceTemplateKind: String, CaseIterable, Sendable {
    /// Expressions other than the match are relative to the matched token.
    case jsonPath = "JsonPathContent"
    /// As `jsonPath`, with device and time taken from the Azure IoT Hub envelope.
    case iotJsonPath = "IotJsonPathContent"
    /// As `jsonPath`, with device and time taken from the members of an Azure IoT Central export.
    case iotCentral = "IotCentralJsonPathContent"
    /// All expressions are relative to the envelope, with the match as `$.matchedToken`.
    case calculated = "CalculatedContent"
}

/// One device template as read from `device.json`, its expressions compiled.
public struct DeviceTemplate: Sendable {
    /// One `values` entry.
    public struct Value: Sendable {
        /// `valueName`.
        public var name: String
        /// `required`.
        public var isRequired: Bool
        /// Where the entry is.
        public var position: SourcePosition
        /// What selects it; nil for a constant.
        var expression: TemplateExpression?
        /// What happens to it on its way into the measurement.
        var rule: ValueRule?
        /// What selects the payload's text for its unit.
        var unitExpression: TemplateExpression?
        /// What selects the payload's power of ten.
        var scaleExpression: TemplateExpression?

        /// Everything that is selected for it.
        var selections: [TemplateExpression] { [expression, unitExpression, scaleExpression].compactMap { $0 } }
    }

    /// Which kind of template.
    public var kind: DeviceTemplateKind
    /// `typeName`: the measurement type that it produces.
    public var typeName: String
    /// Where the type name is.
    public var position: SourcePosition
    /// Whose rules apply where the reference system has quirks.
    public var compatibility: Compatibility
    /// `values`, in file order.
    public var values: [Value]
    /// `timestampFormat`.
    public var timestampFormat: TimestampFormat
    var match: TemplateExpression
    var device: TemplateExpression?
    var timestamp: TemplateExpression
    /// The second choice of Iot templates.
    var alternativeTimestamp: TemplateExpression?
    var start: TemplateExpression?
    /// The sender's id of the reading.
    var readingId: TemplateExpression?
    var patient: TemplateExpression?
    var encounter: TemplateExpression?
    var correlation: TemplateExpression?

    /// Whether all expressions find their way in matches that JMESPath made: chains of members do, other paths do not.
    var takesMadeMatches: Bool {
        kind == .calculated && !expressions.contains { $0.fromMatch && !($0.path?.isMemberChain ?? false) }
    }

    /// All expressions that are evaluated per match.
    var expressions: [TemplateExpression] {
        [device, timestamp, alternativeTimestamp, start, readingId, patient, encounter, correlation].compactMap { $0 }
            + values.flatMap(\.selections)
    }
}
