/// Members of Observations that a template states, and how their time is written.
struct MemberRules: Sendable {
    var method: CodeableConcept?
    var bodySite: CodeableConcept?
    /// Constant notes.
    var notes: [String] = []
    /// The value whose text is a note.
    var noteName: ValueName?
    var performers: [PerformerRule] = []
    var tags: [Coding] = []
    var security: [Coding] = []
    var extensions: [ExtensionRule] = []
    var effectiveForm = EffectiveForm.automatic
    var effectivePosition = SourcePosition.start
    var writesIssued = false

    /// The values of the device template that they read.
    var uses: [FHIRTemplate.ValueUse] {
        noteName.map { [FHIRTemplate.ValueUse(name: $0.text, isNumeric: false, position: $0.position)] } ?? []
    }
}

/// How `effective[x]` is written.
enum EffectiveForm: UInt8, Sendable {
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
struct PerformerRule: Sendable {
    var type: String
    var system: String?
    var value: String
    var display: String?
}

/// An extension with a constant value.
struct ExtensionRule: Sendable {
    var url: String
    /// `valueString` and so on.
    var member: String
    /// The value as JSON.
    var json: String
}
