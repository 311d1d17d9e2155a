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

    package init() {
    }

    /// The values of the device template that they read.
    var uses: [FHIRTemplate.ValueUse] {
        noteName.map { [FHIRTemplate.ValueUse(name: $0.text, isNumeric: false, position: $0.position)] } ?? []
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
