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
        package var expression: TemplateExpression?
        /// What happens to it on its way into the measurement.
        package var rule: ValueRule?
        /// What selects the payload's text for its unit.
        package var unitExpression: TemplateExpression?
        /// What selects the payload's power of ten.
        package var scaleExpression: TemplateExpression?

        package init(
            name: String, isRequired: Bool, position: SourcePosition, expression: TemplateExpression? = nil,
            rule: ValueRule? = nil, unitExpression: TemplateExpression? = nil,
            scaleExpression: TemplateExpression? = nil
        ) {
            (self.name, self.isRequired, self.position, self.expression) = (name, isRequired, position, expression)
            (self.rule, self.unitExpression, self.scaleExpression) = (rule, unitExpression, scaleExpression)
        }

        /// Everything that is selected for it.
        package var selections: [TemplateExpression] {
            [expression, unitExpression, scaleExpression].compactMap { $0 }
        }
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
    package var match: TemplateExpression
    package var device: TemplateExpression?
    package var timestamp: TemplateExpression?
    /// The second choice of Iot templates.
    package var alternativeTimestamp: TemplateExpression?
    package var start: TemplateExpression?
    /// The sender's id of the reading.
    package var readingId: TemplateExpression?
    package var patient: TemplateExpression?
    package var encounter: TemplateExpression?
    package var correlation: TemplateExpression?
    /// Whether a match takes a reading back, and is none.
    package var retracts = false
    /// Whether that stands in another mapping, which the file extends: what does not fit the file is left out.
    package var isInherited = false

    package init(
        kind: DeviceTemplateKind, typeName: String, position: SourcePosition, compatibility: Compatibility,
        values: [Value], timestampFormat: TimestampFormat, match: TemplateExpression, device: TemplateExpression? = nil,
        timestamp: TemplateExpression?, alternativeTimestamp: TemplateExpression? = nil,
        start: TemplateExpression? = nil, readingId: TemplateExpression? = nil, patient: TemplateExpression? = nil,
        encounter: TemplateExpression? = nil, correlation: TemplateExpression? = nil
    ) {
        (self.kind, self.typeName, self.position, self.compatibility) = (kind, typeName, position, compatibility)
        (self.values, self.timestampFormat, self.match, self.device) = (values, timestampFormat, match, device)
        (self.timestamp, self.alternativeTimestamp, self.start) = (timestamp, alternativeTimestamp, start)
        (self.readingId, self.patient, self.encounter) = (readingId, patient, encounter)
        self.correlation = correlation
    }

    /// Whether all expressions find their way in matches that JMESPath made: chains of members do, other paths do not.
    var takesMadeMatches: Bool {
        kind == .calculated && !expressions.contains { $0.fromMatch && !($0.path?.isMemberChain ?? false) }
    }

    /// All expressions that are evaluated per match.
    package var expressions: [TemplateExpression] {
        [device, timestamp, alternativeTimestamp, start, readingId, patient, encounter, correlation].compactMap { $0 }
            + values.flatMap(\.selections)
    }
}
