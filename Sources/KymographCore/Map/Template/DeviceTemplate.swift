/// The kinds of device templates (mapping dialect, section 2.1).
package enum DeviceTemplateKind: String, CaseIterable, Sendable {
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
package struct DeviceTemplate: Sendable {
    /// One `values` entry.
    package struct Value: Sendable {
        /// `valueName`.
        package var name: String
        /// `required`.
        package var isRequired: Bool
        /// Where the entry is.
        package var position: SourcePosition
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
    package var kind: DeviceTemplateKind
    /// `typeName`: the measurement type that it produces.
    package var typeName: String
    /// Where the type name is.
    package var position: SourcePosition
    /// Whose rules apply where the reference system has quirks.
    package var compatibility: Compatibility
    /// `values`, in file order.
    package var values: [Value]
    /// `timestampFormat`.
    package var timestampFormat: TimestampFormat
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
