/// An entry as values, for whoever makes blocks of what was not encoded here.
package struct EntryDraft: Sendable {
    /// What it is.
    package var kind: EntryKind
    /// The resource's JSON, without its id, and with holes for References.
    package var body: [UInt8] = []
    /// Where in the body the id belongs.
    package var idPlace = 0
    /// Type of the resource.
    package var type: [UInt8] = []
    /// The id that we give it.
    package var id: [UInt8] = []
    /// What References within a bundle say.
    package var fullURL: [UInt8] = []
    /// System of the identifier that it is searched by.
    package var system: [UInt8] = []
    /// Value of that.
    package var value: [UInt8] = []
    /// The whole of a long identifier.
    package var whole: [UInt8] = []
    /// The encounter that it refers to.
    package var encounter: (system: [UInt8], value: [UInt8])?
    /// In the order of their places.
    package var references: [EntryReference] = []
    /// Whether bundles do not have it.
    package var isUnwritten = false
    /// Whether it stands for a Device that is described elsewhere.
    package var isStandIn = false
    /// Whether it says that an Observation was an error.
    package var isEmptied = false
    /// Whether bundles may give it a `fullUrl` because a panel needs that.
    package var isInPanel = false

    /// An entry of `kind`, with nothing in it.
    package init(_ kind: EntryKind) { self.kind = kind }

    /// The block of `drafts`, for bundles or lines of `form`. Targets of References must be among them.
    package static func block(of drafts: [EntryDraft], form: BundleForm) -> [UInt8] {
        var writer = EntryBlockWriter(form: form)
        for draft in drafts { writer.append(draft) }
        return writer.finish().array
    }
}

extension EntryBlockWriter {
    fileprivate mutating func append(_ draft: EntryDraft) {
        begin()
        var holes = EntryHoles()
        holes.begin(at: bodyStart)
        holes.leaveID(at: bodyStart + draft.idPlace)
        for reference in draft.references {
            holes.leave(reference.role, at: bodyStart + reference.place, member: reference.target)
        }
        bytes.append(draft.body)
        endBody()
        for (part, text) in [
            (EntryPart.type, draft.type), (.id, draft.id), (.fullURL, draft.fullURL), (.system, draft.system),
            (.value, draft.value), (.whole, draft.whole),
        ] {
            bytes.append(text)
            end(part)
        }
        if let encounter = draft.encounter {
            bytes.append(word: UInt64(encounter.system.count), bytes: 4)
            bytes.append(encounter.system)
            bytes.append(encounter.value)
        }
        end(.encounter)
        let flags =
            (draft.isUnwritten ? EntryLayout.isUnwritten : 0) | (draft.isInPanel ? EntryLayout.beginsPanel : 0)
            | (draft.isStandIn ? EntryLayout.isStandIn : 0) | (draft.isEmptied ? EntryLayout.isEmptied : 0)
        end(draft.kind, flags: flags, holes: holes, references: draft.references)
    }

    /// Ends the entry with References whose targets are known, each of a role to one entry or to several.
    private mutating func end(
        _ kind: EntryKind, flags: UInt8, holes: borrowing EntryHoles, references: [EntryReference]
    ) {
        func target(_ role: EntryReference.Role) -> UInt32 {
            references.first { $0.role == role }.map { UInt32($0.target) } ?? EntryLayout.none
        }
        let parties = EntryParties(
            patient: target(.patient), device: target(.device), gateway: target(.gateway))
        end(kind, flags: flags, holes: holes, parties: parties)
        // Several of one role may name several entries.
        for (index, reference) in references.enumerated() where reference.role != .encounter {
            let place = bytes.count - EntryLayout.reference * (references.count - index) + 8
            bytes.store(half: UInt32(reference.target), at: place)
        }
    }
}
