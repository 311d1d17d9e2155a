/// Joins a newly loaded mapping set to the one it replaces in a running pipeline.
///
/// Readings on their way and windows that are open know types and values by number only, so numbers keep their meaning
/// for as long as the process runs: a type is the same while its name and its grouping are, since these make the
/// identity of its Observations, and a value keeps its slot while its type lives. New types and values get the next
/// numbers; what the new mappings have no longer keeps its number and its last template.
struct MappingContinuity {
    private let loaded: MappingSet
    private let mappings: [NamedMapping]
    private let former: Former
    private var types: [MeasurementType]
    private var fhirTemplates: [FHIRTemplate?]
    private var diagnostics: [Diagnostic] = []

    /// What is continued.
    private struct Former {
        var types: [MeasurementType]
        /// By type; nil where it is not known any more, or where there was none.
        var templates: [FHIRTemplate?]
        var hasTemplate: [Bool]
        /// Units of values whose template is not known any more, by type.
        var units: [[String: String]]
        /// Who holds readings of them, for messages.
        var holder: String
        var advice: String
    }

    /// Slots that a type may have: their numbers are bytes in a reading's payload.
    private static let mostSlots = 256

    /// `loaded` with the numbers of `former`; no set when windows hold what it could not write.
    static func join(
        _ loaded: MappingSet, after former: MappingSet, mappings: [NamedMapping]
    ) -> MappingLoader.Result {
        let former = Former(
            types: former.types, templates: former.fhirTemplates, hasTemplate: former.fhirTemplates.map { $0 != nil },
            units: [], holder: "windows hold", advice: "give the type another name, or restart")
        return MappingContinuity(loaded, mappings, former).join()
    }

    /// `loaded` with the numbers of the types that a store has readings of; no set when it could not write those.
    static func join(_ loaded: MappingSet, afterStored stored: [FormerType], mappings: [NamedMapping])
        -> MappingLoader.Result
    {
        let former = Former(
            types: stored.map(\.type), templates: stored.map { _ in nil }, hasTemplate: stored.map(\.hasTemplate),
            units: stored.map(\.units), holder: "the store holds",
            advice: "give the type another name, or use another --data directory")
        return MappingContinuity(loaded, mappings, former).join()
    }

    private func join() -> MappingLoader.Result {
        var continuity = self
        let places = loaded.types.indices.map { continuity.place($0) }
        let failed = continuity.diagnostics.contains { $0.severity == .error }
        let set = failed ? nil : continuity.set(places)
        return MappingLoader.Result(set: set, diagnostics: continuity.diagnostics)
    }

    private init(_ loaded: MappingSet, _ mappings: [NamedMapping], _ former: Former) {
        self.loaded = loaded
        self.mappings = mappings
        self.former = former
        types = former.types
        fhirTemplates = former.templates
    }

    /// Where a type of the loaded set went: its number, and the slot of each of its values.
    private struct Place {
        var type: Int
        var slots: [Int]
    }

    private mutating func place(_ index: Int) -> Place {
        let type = loaded.types[index]
        let template = loaded.fhirTemplates[index]
        // Without template nothing of the type is ever in a window; the windows of its time with one keep theirs.
        let known = former.types.indices.first { number in
            type.hasIdentity(of: former.types[number]) && former.hasTemplate[number] == (template != nil)
        }
        guard let known else {
            types.append(type)
            fhirTemplates.append(template)
            return Place(type: types.count - 1, slots: Array(type.valueNames.indices))
        }
        if let template, type.grouping != .instance {
            if let earlier = former.templates[known] {
                check(template, after: earlier, index)
            } else if known < former.units.count {
                check(template, afterUnits: former.units[known], index)
            }
        }
        fhirTemplates[known] = template
        let slots = types[known].take(type)
        if types[known].valueNames.count > Self.mostSlots {
            report(
                .error, index, template,
                "the type '\(type.name)' has had more than \(Self.mostSlots) values since the start",
                "restart to load it, or give it another name")
        }
        return Place(type: known, slots: slots)
    }

    private func set(_ places: [Place]) -> MappingSet {
        let templates = loaded.templates.map { linked in
            var moved = linked
            let place = places[linked.type]
            moved.type = place.type
            moved.slots = linked.slots.map { place.slots[$0] }
            return moved.sortedBySlot
        }
        return MappingSet(loaded, types: types, fhirTemplates: fhirTemplates, templates: templates)
    }

    // MARK: What windows hold

    /// Finds what an open window, which becomes one Observation under the new template, would show wrongly or not at
    /// all.
    private mutating func check(_ template: FHIRTemplate, after earlier: FHIRTemplate, _ index: Int) {
        let name = template.typeName
        var gone: [String] = []
        var kept = 0
        for rule in earlier.allValues {
            guard let successor = template.allValues.first(where: { $0.name == rule.name }) else {
                gone.append(rule.name)
                continue
            }
            kept += 1
            guard let old = rule.kind.unit, let new = successor.kind.unit, !new.isSame(as: old) else { continue }
            report(
                .error, index, template,
                "the unit of the value '\(rule.name)' of type '\(name)' changes from \(old.text) to \(new.text), "
                    + "and \(former.holder) readings in the former unit", former.advice)
        }
        let values = gone.map { "'\($0)'" }.joined(separator: ", ")
        if kept == 0, !gone.isEmpty {
            report(
                .error, index, template,
                "none of the values of type '\(name)' (\(values)) is left, and \(former.holder) readings of them",
                former.advice)
        } else if !gone.isEmpty {
            report(
                .warning, index, template,
                "the FHIR template of '\(name)' no longer uses \(values)",
                "windows that are open now, or are amended later, are written without")
        }
    }

    /// Finds values whose unit is not the one that stored readings have.
    private mutating func check(_ template: FHIRTemplate, afterUnits units: [String: String], _ index: Int) {
        for rule in template.allValues {
            guard let old = units[rule.name], let new = rule.kind.unit?.name, new != old else { continue }
            report(
                .error, index, template,
                "the unit of the value '\(rule.name)' of type '\(template.typeName)' changes from '\(old)' to "
                    + "'\(new)', and \(former.holder) readings in the former unit", former.advice)
        }
    }

    private mutating func report(
        _ severity: Diagnostic.Severity, _ index: Int, _ template: FHIRTemplate?, _ message: String, _ advice: String
    ) {
        let mapping = loaded.templates.first { $0.type == index }.map { mappings[$0.mapping] }
        let file = mapping?.fhir?.name ?? mapping?.device.name ?? "mapping"
        diagnostics.append(
            Diagnostic(
                severity, file: file, position: template?.namePosition ?? .start, message: message, advice: advice))
    }
}

/// A type of an earlier run, whose readings a store has.
public struct FormerType: Sendable {
    /// The type as it was.
    public var type: MeasurementType
    /// Whether its readings became Observations.
    public var hasTemplate: Bool
    /// Code or text of the units of its values, by value name.
    public var units: [String: String]

    /// A type.
    public init(type: MeasurementType, hasTemplate: Bool, units: [String: String]) {
        self.type = type
        self.hasTemplate = hasTemplate
        self.units = units
    }
}

extension MappingSet {
    /// Code or text of the units of the values of type `index`, by value name.
    public func units(of index: Int) -> [String: String] {
        var units: [String: String] = [:]
        for rule in fhirTemplates[index]?.allValues ?? [] { units[rule.name] = rule.kind.unit?.name }
        return units
    }

    /// For each type, whether a device template gives it and its readings become Observations. The others are types of
    /// former sets, whose windows nothing can fill any more.
    var typesInUse: [Bool] {
        let given = Set(templates.map(\.type))
        return types.indices.map { given.contains($0) && fhirTemplates[$0] != nil }
    }
}

extension MeasurementType {
    /// Whether Observations of the same readings would have the same identity.
    fileprivate func hasIdentity(of other: MeasurementType) -> Bool {
        name == other.name && grouping == other.grouping && compatibility == other.compatibility
    }

    /// Takes over the values of `other`, a later version of the same type, and returns the slot of each.
    fileprivate mutating func take(_ other: MeasurementType) -> [Int] {
        let slots = other.valueNames.indices.map { index in
            let name = other.valueNames[index]
            let slot = valueNames.firstIndex(of: name) ?? valueNames.count
            if slot == valueNames.count {
                valueNames.append(name)
                isNumeric.append(false)
            }
            isNumeric[slot] = other.isNumeric[index]
            while takesSamples.count <= slot { takesSamples.append(false) }
            takesSamples[slot] = index < other.takesSamples.count && other.takesSamples[index]
            return slot
        }
        durationSlot = other.durationSlot.map { slots[$0] } ?? durationSlot
        return slots
    }
}

extension FHIRTemplate {
    fileprivate var allValues: [ValueRule] { (value.map { [$0] } ?? []) + components.map(\.value) }
}

extension UnitRule {
    /// Whether numbers in the one are numbers in the other: the code counts, and where there is none the text.
    fileprivate func isSame(as other: UnitRule) -> Bool {
        guard let code, let otherCode = other.code else { return text == other.text }
        return code == otherCode && system == other.system
    }

    /// The unit for people.
    fileprivate var text: String { "'\(name)'" }

    /// Code or text.
    fileprivate var name: String { code ?? unit ?? "none" }
}
