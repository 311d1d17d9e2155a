/// What becomes of finished Observations and other resources before sinks get them: a rule of docs/rules.md.
package struct EntryRule: Sendable {
    /// What is done with a resource that the rule is about.
    package enum Action: String, CaseIterable, Sendable {
        /// Sinks do not get it.
        case veto
        /// It gets members besides those of its template.
        case patch
        /// Servers that delete what was an error keep it, with that status.
        case keep
    }

    /// Its name in counters.
    package var name: String
    /// What is done.
    package var action = Action.veto
    /// Patterns of the names of sources, from one of which a reading of it has come; empty for all.
    package var sources: [String] = []
    /// Patterns of the names of the types; empty for all.
    package var types: [String] = []
    /// Devices; empty for all.
    package var devices: [NamePattern] = []
    /// Patients; empty for all, and for resources of none.
    package var patients: [NamePattern] = []
    /// Resources for which this gives something true; nil for any.
    package var condition: RuleExpression?
    /// Patterns of the names of the sinks that do not get it; empty for all.
    package var sinks: [String] = []
    /// What it adds.
    package var patch = EntryPatch()

    /// A rule about all resources.
    package init(name: String) { self.name = name }
}

/// Members that a rule adds to those of a template: of lists, what is not there yet; of others, in their place.
package struct EntryPatch: Sendable {
    /// Categories.
    package var categories: [CodeableConcept] = []
    /// The other members; of their rules of time, none counts.
    package var members = MemberRules()

    /// Nothing.
    package init() {}

    /// Whether it adds nothing.
    package var isEmpty: Bool {
        categories.isEmpty && members.notes.isEmpty && members.performers.isEmpty && members.tags.isEmpty
            && members.security.isEmpty && members.extensions.isEmpty && members.method == nil
            && members.bodySite == nil
    }

    /// Whether it changes what `template` writes: Observations, and no note beside one that is a value.
    package func suits(_ template: FHIRTemplate) -> Bool {
        guard template.resource == nil, template.summary == nil else { return false }
        guard template.members.noteName != nil else { return true }
        var rest = self
        rest.members.notes = []
        return !rest.isEmpty
    }

    /// `template` with it, but for a note beside one that is a value.
    package func applied(to template: FHIRTemplate) -> FHIRTemplate {
        guard suits(template) else { return template }
        var patched = template
        patched.categories += categories.filter { own in !template.categories.contains { $0.isSame(as: own) } }
        if template.members.noteName == nil {
            patched.members.notes += members.notes.filter { !template.members.notes.contains($0) }
        }
        for own in members.performers where !patched.members.performers.contains(where: { $0.isSame(as: own) }) {
            patched.members.performers.append(own)
        }
        patched.members.tags += members.tags.filter { own in !template.members.tags.contains { $0.isSame(as: own) } }
        patched.members.security += members.security.filter { own in
            !template.members.security.contains { $0.isSame(as: own) }
        }
        patched.members.extensions += members.extensions.filter { own in
            !template.members.extensions.contains { $0.url == own.url }
        }
        patched.members.method = members.method ?? template.members.method
        patched.members.bodySite = members.bodySite ?? template.members.bodySite
        return patched
    }
}

extension Coding {
    /// Whether both have the same code of the same system.
    fileprivate func isSame(as other: Coding) -> Bool { system == other.system && code == other.code }
}

extension PerformerRule {
    /// Whether both name the same one.
    fileprivate func isSame(as other: PerformerRule) -> Bool {
        type == other.type && system == other.system && value == other.value
    }
}

extension CodeableConcept {
    /// Whether both say the same.
    fileprivate func isSame(as other: CodeableConcept) -> Bool {
        text == other.text && codings.count == other.codings.count
            && zip(codings, other.codings).allSatisfy { $0.isSame(as: $1) }
    }
}
