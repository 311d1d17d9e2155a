/// Members of Observations that a template states, and how their time is written.
package struct MemberRules: Sendable {
    package var method: CodeableConcept?
    package var bodySite: CodeableConcept?
    /// Constant notes.
    package var notes: [String] = []
    /// The value whose text is a note.
    package var noteName: ValueName?
    package var performers: [PerformerRule] = []
    package var tags: [Coding] = []
    package var security: [Coding] = []
    package var extensions: [ExtensionRule] = []
    package var effectiveForm = EffectiveForm.automatic
    package var effectivePosition = SourcePosition.start
    package var writesIssued = false
    /// Identifiers besides that of the identity.
    package var identifiers: [IdentifierRule] = []
    /// Whether what is complete is called `preliminary`: nobody has looked at it.
    package var isPreliminary = false
    /// Whether extensions say the exact start and end; nil where the template leaves it to its file.
    package var writesTimeRange: Bool?

    package init() {
    }

    /// The values of the device template that they read.
    var uses: [FHIRTemplate.ValueUse] {
        ([noteName] + identifiers.map(\.valueName)).compactMap { name in
            name.map { FHIRTemplate.ValueUse(name: $0.text, isNumeric: false, position: $0.position) }
        }
    }
}

/// How `effective[x]` is written.
package enum EffectiveForm: UInt8, Sendable, BitwiseCopyable {
    /// effectivePeriod, and effectiveDateTime where it would be a single instant.
    case automatic
    /// The last instant covered.
    case dateTime
    /// From the first instant covered to the last.
    case period
    /// The last instant covered.
    case instant
}

/// Who is responsible for an Observation, by identifier.
package struct PerformerRule: Sendable {
    package var type: String
    package var system: String?
    package var value: String
    package var display: String?

    package init(type: String, system: String? = nil, value: String, display: String? = nil) {
        (self.type, self.system, self.value, self.display) = (type, system, value, display)
    }
}

/// An identifier of an Observation, by which others know it.
package struct IdentifierRule: Sendable {
    package var system: String
    /// Where the system is written.
    package var systemPosition: SourcePosition
    /// The same in every Observation; nil where ``valueName`` gives it.
    package var value: String?
    /// The value whose text it is.
    package var valueName: ValueName?

    package init(
        system: String, systemPosition: SourcePosition, value: String? = nil, valueName: ValueName? = nil
    ) {
        (self.system, self.systemPosition, self.value, self.valueName) = (system, systemPosition, value, valueName)
    }
}

/// An extension with a constant value.
package struct ExtensionRule: Sendable {
    package var url: String
    /// `valueString` and so on.
    package var member: String
    /// The value as JSON.
    package var json: String

    package init(url: String, member: String, json: String) {
        (self.url, self.member, self.json) = (url, member, json)
    }
}
