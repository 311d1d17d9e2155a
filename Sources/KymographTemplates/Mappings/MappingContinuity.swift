package import KymographCore

/// Joins a newly loaded mapping set to the one it replaces in a running pipeline, or to the types that a store has
/// readings of.
///
/// Readings on their way, windows that are open and those that are stored know types and values by number only, so
/// numbers keep their meaning for ever: a type is the same while its name and its grouping are, since these make the
/// identity of its Observations, and a value keeps its slot while its type lives. New types and values get the next
/// numbers; what the new mappings have no longer keeps its number, its last template and what is known of it.
struct MappingContinuity {
    private let loaded: MappingSet
    private let mappings: [NamedMapping]
    private let former: Former
    private var types: [MeasurementType]
    private var fhirTemplates: [FHIRTemplate?]
    private var histories: [TypeHistory]
    private var diagnostics: [Diagnostic] = []

    /// What is continued.
    private struct Former {
        var types: [MeasurementType]
        /// By type; nil where it is not known any more, or where there was none.
        var templates: [FHIRTemplate?]
        var histories: [TypeHistory]
        /// By type, whether there may be readings of it.
        var hasReadings: [Bool]
        /// By type, who holds those.
        var holders: [Holder]
    }

    /// Who holds readings of a type, for messages, and what can be done besides another name for the type.
    private struct Holder {
        var text: String
        var advice: String

        static let windows = Holder(text: "windows hold", advice: "restart with another --data directory")
        static let store = Holder(text: "the store holds", advice: "use another --data directory")
        static let letters = Holder(
            text: "dead letters hold",
            advice: "replay them with the former mapping, or discard them ('kymo dead list' shows them)")
    }

    /// Slots that a type may have: their numbers are bytes in a reading's payload, and the last one is that of tags.
    private static let mostSlots = ReadingTags.slot

    /// `loaded` with the numbers of `former`; no set when windows hold what it could not write.
    static func join(
        _ loaded: MappingSet, after former: MappingSet, mappings: [NamedMapping]
    ) -> MappingLoader.Result {
        let former = Former(
            types: former.types, templates: former.fhirTemplates, histories: former.histories,
            hasReadings: former.types.map { _ in true }, holders: former.types.map { _ in .windows })
        return MappingContinuity(loaded, mappings, former).join()
    }

    /// `loaded` with the numbers of the types that a store has readings of; no set when it could not write those.
    static func join(_ loaded: MappingSet, afterStored stored: [FormerType], mappings: [NamedMapping])
        -> MappingLoader.Result
    {
        let former = Former(
            types: stored.map(\.type), templates: stored.map { _ in nil },
            histories: stored.map { former in
                // What nobody has readings of may mean anything.
                former.hasReadings
                    ? former.history
                    : TypeHistory(hasTemplate: former.history.hasTemplate, meaning: TypeMeaning())
            },
            hasReadings: stored.map(\.hasReadings), holders: stored.map { $0.isOfLetters ? .letters : .store })
        return MappingContinuity(loaded, mappings, former).join()
    }

    private func join() -> MappingLoader.Result {
        var continuity = self
        for index in loaded.types.indices {
            continuity.checkMeaning(index)
            continuity.checkNaming(index)
            continuity.checkSameInstant(index)
            continuity.checkIdentity(index)
            continuity.checkValues(index)
        }
        let places = loaded.types.indices.map { continuity.place($0) }
        continuity.lendTemplates()
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
        histories = former.histories
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
            type.hasIdentity(of: former.types[number]) && former.histories[number].hasTemplate == (template != nil)
        }
        guard let known else {
            types.append(type)
            fhirTemplates.append(template)
            histories.append(loaded.histories[index])
            return Place(type: types.count - 1, slots: Array(type.valueNames.indices))
        }
        fhirTemplates[known] = template
        histories[known] = history(of: known, with: loaded.histories[index])
        let slots = types[known].take(type)
        if types[known].valueNames.count > Self.mostSlots {
            report(
                index, "the type '\(type.name)' has had more than \(Self.mostSlots) values since the start",
                "restart to load it, or give it another name")
        }
        return Place(type: known, slots: slots)
    }

    /// What is known of type `known` from here on. Of what nobody has readings of, nothing need be kept.
    private func history(of known: Int, with loaded: TypeHistory) -> TypeHistory {
        guard former.hasReadings[known] else { return loaded }
        var history = former.histories[known]
        history.meaning.add(loaded.meaning)
        return history
    }

    /// Windows of another length than the mappings have now, which are still to be written or amended, are written by
    /// the present template of their type's name.
    private mutating func lendTemplates() {
        for number in former.types.indices where fhirTemplates[number] == nil && former.histories[number].hasTemplate {
            guard former.types[number].isWindowed else { continue }
            let namesake = loaded.types.indices.first { index in
                loaded.types[index].name == former.types[number].name && loaded.types[index].isWindowed
                    && loaded.types[index].compatibility == former.types[number].compatibility
                    && loaded.fhirTemplates[index] != nil
            }
            fhirTemplates[number] = namesake.flatMap { loaded.fhirTemplates[$0] }
        }
    }

    private func set(_ places: [Place]) -> MappingSet {
        let templates = loaded.templates.map { linked in
            var moved = linked
            let place = places[linked.type]
            moved.type = place.type
            moved.slots = linked.slots.map { place.slots[$0] }
            return moved.sortedBySlot
        }
        return MappingSet(
            loaded, types: types, fhirTemplates: fhirTemplates, templates: templates, histories: histories)
    }

    // MARK: What readings mean

    /// Finds what would give readings that somebody holds another unit, scale or code: those of windows of any length,
    /// and single ones.
    private mutating func checkMeaning(_ index: Int) {
        let type = loaded.types[index]
        var found: Set<String> = []
        for number in former.types.indices where former.types[number].name == type.name && former.hasReadings[number] {
            let changes = former.histories[number].meaning.changes(to: loaded.histories[index].meaning, of: type.name)
            let holder = former.holders[number]
            for change in changes where found.insert(change).inserted {
                let message = "\(change), and \(holder.text) readings of the former kind"
                report(index, message, "give the type another name, or \(holder.advice)")
            }
        }
    }

    /// Finds device templates that begin, or cease, to tell readings apart by ids or starts: a reading that somebody
    /// holds would not be the same when it comes again, and count twice. Windows of another length have their own.
    private mutating func checkNaming(_ index: Int) {
        guard let number = formerWindows(of: index) else { return }
        let changes = former.histories[number].meaning.namingChanges(to: loaded.histories[index].meaning)
        for change in changes { report(change, index, former.holders[number]) }
    }

    /// Finds types that kept all readings of one time, and are to keep one: windows that have several would stay as
    /// they are, and a correction would take the place of one of them.
    private mutating func checkSameInstant(_ index: Int) {
        let type = loaded.types[index]
        guard let number = formerWindows(of: index), former.histories[number].meaning.keepsSeveral == true,
            !type.keepsSeveral
        else { return }
        report(
            index,
            "'sameInstant' of type '\(type.name)' changes from 'keep' to '\(type.sameInstant.rawValue)', and "
                + "\(former.holders[number].text) readings that may be several of one time",
            "leave it at 'keep'; or give the type another name, under which readings are from now on, or "
                + former.holders[number].advice)
    }

    /// The type whose windows, which may have readings, get those of type `index`, too.
    private func formerWindows(of index: Int) -> Int? {
        former.types.indices.first { number in
            former.hasReadings[number] && former.histories[number].hasTemplate
                && loaded.types[index].hasIdentity(of: former.types[number])
        }
    }

    private mutating func report(_ change: NamingChange, _ index: Int, _ holder: Holder) {
        let linked = loaded.templates.first { linked in
            let name = mappings[linked.mapping].name
            return linked.type == index && !linked.template.retracts
                && ConversionKey.key(mapping: name, match: linked.template.match.text) == change.template
        }
        guard let linked else { return }
        let name = loaded.types[index].name
        let state = change.isAdded ? "has '\(change.field)' now" : "has no '\(change.field)' any more"
        let others = change.isAdded ? "without it" : "with it"
        var advice = change.isAdded ? "leave it out" : "keep it: where it selects nothing, a reading has none"
        if let former = change.former {
            advice += ", or keep the template '\(former)' beside this one, if this one is for other devices"
        }
        advice += "; or give the type another name, under which readings are from now on, or \(holder.advice)"
        diagnostics.append(
            Diagnostic(
                .error, file: mappings[linked.mapping].device.name, position: linked.template.position,
                message: "the template of type '\(name)' \(state), and \(holder.text) readings \(others): one "
                    + "that is sent again would count twice",
                advice: advice))
    }

    /// Finds what would give two Observations of the type's name one identity.
    private mutating func checkIdentity(_ index: Int) {
        let type = loaded.types[index]
        guard loaded.fhirTemplates[index] != nil else { return }
        let number = former.types.indices.first { number in
            former.hasReadings[number] && former.histories[number].hasTemplate
                && type.canShareIdentity(with: former.types[number])
        }
        guard let number else { return }
        report(
            index,
            "an Observation of type '\(type.name)' would have the identity of \(former.types[number].groupingInWords) "
                + "of the same time, and \(former.holders[number].text) readings of that kind",
            "give the type another name, or \(former.holders[number].advice)")
    }

    /// Finds values of readings that somebody holds, and that the new template would leave out where it writes such
    /// readings again: in amended windows, for late readings, in queries. A full Observation would be replaced by a
    /// part of it.
    private mutating func checkValues(_ index: Int) {
        let type = loaded.types[index]
        guard loaded.fhirTemplates[index] != nil else { return }
        let values = loaded.histories[index].meaning.values
        var (gone, holder): (Set<String>, Holder?) = ([], nil)
        for number in former.types.indices
        where former.hasReadings[number] && former.histories[number].hasTemplate
            && type.isWritten(as: former.types[number])
        {
            let lacking = former.histories[number].meaning.values.keys.filter { values[$0] == nil }
            gone.formUnion(lacking)
            if !lacking.isEmpty { holder = holder ?? former.holders[number] }
        }
        guard let holder else { return }
        let names = gone.sorted().map { "'\($0)'" }.joined(separator: ", ")
        report(
            index,
            "the FHIR template of '\(type.name)' no longer uses the value\(gone.count > 1 ? "s" : "") \(names), and "
                + "\(holder.text) readings of \(gone.count > 1 ? "them" : "it")",
            "keep the value\(gone.count > 1 ? "s" : ""), give the type another name, or \(holder.advice)")
    }

    private mutating func report(_ index: Int, _ message: String, _ advice: String) {
        let template = loaded.fhirTemplates[index]
        let mapping = loaded.templates.first { $0.type == index }.map { mappings[$0.mapping] }
        let file = mapping?.fhir?.name ?? mapping?.device.name ?? "mapping"
        diagnostics.append(
            Diagnostic(
                .error, file: file, position: template?.namePosition ?? .start, message: message, advice: advice))
    }
}

/// A type of an earlier run, as a store knows it.
package struct FormerType: Sendable {
    /// The type as it was.
    package var type: MeasurementType
    /// What is known of its readings.
    package var history: TypeHistory
    /// Whether the store has had readings of it.
    package var hasReadings: Bool
    /// Whether nothing but dead letters has those.
    package var isOfLetters = false

    /// A type.
    package init(type: MeasurementType, history: TypeHistory, hasReadings: Bool) {
        (self.type, self.history, self.hasReadings) = (type, history, hasReadings)
    }
}

extension MeasurementType {
    /// Whether Observations of the same readings would have the same identity.
    fileprivate func hasIdentity(of other: MeasurementType) -> Bool {
        name == other.name && grouping == other.grouping && compatibility == other.compatibility
    }

    /// Whether readings of `other` are written by the template of this type: those of windows of any length are.
    fileprivate func isWritten(as other: MeasurementType) -> Bool {
        hasIdentity(of: other)
            || name == other.name && compatibility == other.compatibility && isWindowed && other.isWindowed
    }

    /// Whether an Observation of this type and one of `other` can have the same identity although they are grouped in
    /// different ways. A reading with start and end can have those of a window; the reference's times are whole
    /// seconds, so that a part of a second does not tell periods apart.
    fileprivate func canShareIdentity(with other: MeasurementType) -> Bool {
        guard name == other.name, compatibility == other.compatibility, grouping != other.grouping else { return false }
        guard grouping != .correlation, other.grouping != .correlation else { return false }
        let isReference = compatibility == .iomtFHIR
        if isWindowed, other.isWindowed { return isReference && (isShortOrUneven || other.isShortOrUneven) }
        let (reading, window) = isWindowed ? (other, self) : (self, other)
        return reading.durationSlot != nil || isReference && window.isShortOrUneven
    }

    /// Whether its windows are not of whole seconds, or of one.
    private var isShortOrUneven: Bool {
        guard case .tumbling(let length) = grouping else { return false }
        return length < 2_000_000_000 || length % 1_000_000_000 != 0
    }

    /// How its readings are grouped, for messages.
    fileprivate var groupingInWords: String { isWindowed ? "a window" : "a reading" }

    /// Whether its readings are grouped by time.
    fileprivate var isWindowed: Bool { if case .tumbling = grouping { true } else { false } }

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
        idSlot = other.idSlot.map { slots[$0] } ?? idSlot
        sameInstant = other.sameInstant
        return slots
    }
}
