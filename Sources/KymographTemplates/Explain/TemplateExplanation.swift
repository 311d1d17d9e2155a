import KymographCore

/// What one device template made of a payload, for `kymo map --explain`.
package struct TemplateExplanation: Sendable {
    /// An expression and what it gave.
    package struct Field: Sendable {
        /// What people call it: the field's name in the template, or the name that a match expression mentions.
        package var name: String
        /// The expression.
        package var expression: String
        /// The value's text, cut off when it is long, or why there is none.
        package var result: String
        /// What the expression is for; nil of a name that a match expression mentions.
        package var role: FieldRole?
        /// The value as JSON; nil when there is none, or it is longer than ``longestValue``.
        package var value: [UInt8]?
        /// Bytes of the value as JSON; nil when there is none.
        package var valueBytes: Int?
        /// Where the value stands in the text that is explained (``TemplateExplanation/object``, else the payload),
        /// a text with its quotes; nil when an expression has made the value.
        package var range: Range<Int>?
        /// The expression that was probably meant, when it gave nothing.
        package var meant: String?

        /// Bytes of a value that are kept. Where it stands says the rest.
        package static let longestValue = 4_096

        init(name: String, expression: String, result: String) {
            (self.name, self.expression, self.result) = (name, expression, result)
        }
    }

    /// One match of the template.
    package struct Match: Sendable {
        /// The template's expressions, in the order of evaluation.
        package var fields: [Field]
        /// What became of it.
        package var outcome: MatchOutcome
        /// Where it stands in the text that is explained; nil when the match expression has made it.
        package var range: Range<Int>?
    }

    /// The mapping's name.
    package var mapping: String
    /// The template's type name.
    package var typeName: String
    /// Line of the template in its file.
    package var line: Int
    /// The match expression.
    package var matchExpression: String
    /// Why the match expression could not be evaluated; nil when it could.
    package var failure: String?
    /// When there is no match: what the payload has for the names that the expression mentions.
    package var missing: [Field]
    /// When there is no match: the match expression that was probably meant.
    package var meant: String?
    /// The matches, as many of them as were asked for and as time allowed.
    package var matches: [Match]
    /// How many there are.
    package var matchCount: Int
    /// The object of a packet or message that this is about, as JSON; nil where the payload is JSON itself.
    package var object: String?
    /// The number of the value or object in the payload, from 0.
    package var document = 0
    /// Where the value that this is about begins in the payload.
    package var offset = 0

    /// What stands for a name that the payload does not have.
    package static let absent = "not in the payload"

    /// How near the template is to the payload: most when it matches, else by how many of the names that its match
    /// expression mentions the payload has, and by how many of their values stand in the expression, but for case.
    package var nearness: Int {
        guard matchCount == 0 else { return .max }
        return missing.reduce(meant == nil ? 0 : 100) { $0 + agreement(of: $1) }
    }

    /// Of ``missing``, those that probably keep the expression from matching: the first name that the payload does not
    /// have, else the first whose value the expression does not mention, else all.
    package var obstacles: [Field] {
        let least = missing.map(agreement).min()
        guard let least, least < Self.fullAgreement else { return missing }
        return missing.first { agreement(of: $0) == least }.map { [$0] } ?? []
    }

    private static let fullAgreement = 3

    /// How well `field` agrees with the match expression: not at all where the payload does not have it, fully where
    /// its value stands in the expression, but for case.
    private func agreement(of field: Field) -> Int {
        guard field.result != Self.absent else { return 0 }
        let value = field.result.filter { $0 != "\"" }.lowercased()
        return value.count > 1 && matchExpression.lowercased().contains(value) ? Self.fullAgreement : 1
    }

    /// Replaces each range by what `body` makes of it.
    mutating func moveRanges(_ body: (Range<Int>) -> Range<Int>) {
        for match in matches.indices {
            matches[match].range = matches[match].range.map(body)
            for field in matches[match].fields.indices {
                matches[match].fields[field].range = matches[match].fields[field].range.map(body)
            }
        }
        for field in missing.indices { missing[field].range = missing[field].range.map(body) }
    }
}

/// What an expression of a device template is for.
package enum FieldRole: Sendable, Equatable {
    case device, timestamp, secondTimestamp, start, correlation, patient, encounter, readingId
    /// The value of this name.
    case value(String, isRequired: Bool)
    /// The unit, or the scale, of the value of this name.
    case unit(of: String)
    case scale(of: String)

    /// The expressions of `template` in the order of evaluation, nil for those that it has not.
    static func all(of template: DeviceTemplate) -> [(FieldRole, TemplateExpression?)] {
        let named: [(FieldRole, TemplateExpression?)] = [
            (.device, template.device), (.timestamp, template.timestamp),
            (.secondTimestamp, template.alternativeTimestamp), (.start, template.start),
            (.correlation, template.correlation), (.patient, template.patient), (.encounter, template.encounter),
            (.readingId, template.readingId),
        ]
        let values = template.values.flatMap { value -> [(FieldRole, TemplateExpression?)] in
            [
                (.value(value.name, isRequired: value.isRequired), value.expression),
                (.unit(of: value.name), value.unitExpression), (.scale(of: value.name), value.scaleExpression),
            ]
        }
        return named + values
    }

    /// What people call it.
    var text: String {
        switch self {
        case .device: "deviceIdExpression"
        case .timestamp: "timestampExpression"
        case .secondTimestamp: "timestampExpression, second choice"
        case .start: "startExpression"
        case .correlation: "correlationIdExpression"
        case .patient: "patientIdExpression"
        case .encounter: "encounterIdExpression"
        case .readingId: "readingIdExpression"
        case .value(let name, let isRequired): "value \(name)\(isRequired ? " (required)" : "")"
        case .unit(let name): "unit of \(name)"
        case .scale(let name): "scale of \(name)"
        }
    }
}
