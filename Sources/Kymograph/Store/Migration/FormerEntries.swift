import KymographCore

/// Makes a block of the resources of one row of an earlier version.
struct FormerEntries {
    private let resources: [FormerResource]
    private var form: BundleForm
    private var drafts: [EntryDraft] = []
    /// Numbers of the entries by what References say of them.
    private var byURL: [IdentifierText: Int] = [:]
    private var byName: [ServerIdentifier: Int] = [:]

    init(_ resources: [FormerResource], format: ObservationOptions.Format, type: ObservationOptions.BundleType) {
        self.resources = resources
        form = BundleForm(format: format, type: type)
        let own = resources.first { $0.kind == .observation || $0.kind == .resource }
        let described = resources.first { $0.kind == .describedDevice && $0.request?.ifNoneExist != nil }
        form.write = (own ?? described)?.request?.write ?? .putByID
    }

    /// The block; nil when something cannot be told.
    var block: [UInt8]? {
        var copy = self
        return copy.make()
    }

    private mutating func make() -> [UInt8]? {
        for (number, resource) in resources.enumerated() {
            drafts.append(draft(of: resource))
            if let url = resource.fullURL { byURL[IdentifierText(url)] = number }
            if resource.kind == .observation, let id = resource.id?.value.string {
                byURL[IdentifierText("Observation/\(id)")] = number
            }
            let name = FormerEntries.name(resource.type, resource.identifier)
            if byName[name] == nil || resource.kind.isBare { byName[name] = number }
        }
        for number in resources.indices {
            guard fill(number) else { return nil }
        }
        return EntryDraft.block(of: drafts, form: form)
    }

    private static func name(_ type: String, _ identifier: (system: String, value: String)) -> ServerIdentifier {
        ServerIdentifier(type: type, system: identifier.system, value: identifier.value)
    }

    /// What is known of a resource besides its body.
    private func draft(of resource: FormerResource) -> EntryDraft {
        var draft = EntryDraft(resource.kind)
        draft.type = Array(resource.type.utf8)
        if !resource.kind.isBare { draft.id = resource.id?.value.string.map { Array($0.utf8) } ?? resource.computedID }
        draft.fullURL = Array((resource.fullURL ?? "").utf8)
        draft.system = Array(resource.identifier.system.utf8)
        draft.value = Array(resource.identifier.value.utf8)
        draft.whole = Array(resource.whole.utf8)
        draft.isInPanel = resource.kind == .observation && resource.fullURL != nil && form.type != .collection
        draft.isEmptied = resource.kind == .observation && resource.status == "entered-in-error"
        if resource.kind == .device, let condition = resource.request?.ifNoneExist {
            let identifier = FormerEntries.name(resource.type, resource.identifier)
            // What is searched for otherwise than that stands for a described Device.
            draft.isStandIn = condition == identifier.query && condition != resource.usualCondition
        }
        return draft
    }

    // MARK: Bodies

    /// Takes the body of a resource, without its id and what its References say.
    private mutating func fill(_ number: Int) -> Bool {
        let resource = resources[number]
        let text = resource.json.text
        var search = FormerReferences()
        for member in resource.members { search.visit(member.value, member.name) }
        var cuts: [(range: Range<Int>, reference: FormerReferences.Found?)] = []
        let first = resource.members[0].value.range.upperBound
        if let id = resource.id {
            guard id.nameRange.lowerBound == first + 1 else { return false }
            cuts.append((first..<id.value.range.upperBound, nil))
        }
        for found in search.found { cuts.append((found.named, found)) }
        var place = resource.json.range.lowerBound
        drafts[number].idPlace = first - place
        for cut in cuts {
            drafts[number].body += text[place..<cut.range.lowerBound]
            place = cut.range.upperBound
            guard let found = cut.reference else { continue }
            guard let reference = reference(found, of: number) else {
                // It names what is no entry of ours, and stays as it is.
                place = cut.range.lowerBound
                continue
            }
            drafts[number].references.append(reference)
        }
        drafts[number].body += text[place..<resource.json.range.upperBound]
        return true
    }

    private mutating func reference(_ found: FormerReferences.Found, of number: Int) -> EntryReference? {
        let place = drafts[number].body.count
        if let url = found.url {
            guard let target = byURL[IdentifierText(url)] else { return nil }
            return role(of: target).map { EntryReference(place: place, role: $0, target: target) }
        }
        guard let identifier = found.identifier, let type = found.type ?? type(of: identifier) else { return nil }
        if type == "Encounter" { return encounter(identifier, at: place, of: number, found) }
        guard ["Patient", "Device", "Observation"].contains(type) else { return nil }
        noteType(found)
        let target = byName[FormerEntries.name(type, identifier)] ?? name(type, identifier)
        return role(of: target).map { EntryReference(place: place, role: $0, target: target) }
    }

    private mutating func encounter(
        _ identifier: (system: String, value: String), at place: Int, of number: Int,
        _ found: FormerReferences.Found
    ) -> EntryReference? {
        let texts = (system: Array(identifier.system.utf8), value: Array(identifier.value.utf8))
        if let known = drafts[number].encounter, known.system != texts.system || known.value != texts.value {
            return nil
        }
        noteType(found)
        drafts[number].encounter = texts
        return EntryReference(place: place, role: .encounter, target: 0)
    }

    /// References of STU3 state no type.
    private mutating func noteType(_ found: FormerReferences.Found) {
        if !found.statesType { form.hasReferenceType = false }
    }

    /// The type of what has this identifier, where a Reference does not say it.
    private func type(of identifier: (system: String, value: String)) -> String? {
        ["Patient", "Device", "Observation"].first { byName[FormerEntries.name($0, identifier)] != nil }
    }

    private func role(of target: Int) -> EntryReference.Role? {
        switch drafts[target].kind {
        case .patient: .patient
        case .device, .describedDevice: .device
        case .gateway: .gateway
        case .observation: .member
        case .resource, .event: nil
        }
    }

    /// Adds an entry that is only named: lines have no Patients and Devices of their own.
    private mutating func name(_ type: String, _ identifier: (system: String, value: String)) -> Int {
        var draft = EntryDraft(type == "Patient" ? .patient : type == "Device" ? .device : .observation)
        draft.type = Array(type.utf8)
        (draft.system, draft.value) = (Array(identifier.system.utf8), Array(identifier.value.utf8))
        draft.body = Array("{}".utf8)
        draft.isUnwritten = true
        drafts.append(draft)
        byName[FormerEntries.name(type, identifier)] = drafts.count - 1
        return drafts.count - 1
    }
}
