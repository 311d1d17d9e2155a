/// Writes entries as elements of bundles, and as lines.
extension EntryBlock {
    /// Writes `entry` as an element of a bundle of this form.
    @inline(__always)
    package func append(_ entry: Entry, as form: BundleForm, to output: inout ByteWriter) {
        if form.writesFullURL(of: entry.kind, isJoined: entry.isInPanel) {
            output.append("{\"fullUrl\":\"")
            output.appendFullURL(of: entry)
            output.append("\",\"resource\":")
        } else {
            output.append("{\"resource\":")
        }
        append(resource: entry, as: form, to: &output)
        if form.type != .collection {
            output.append(",\"request\":")
            output.appendRequest(of: entry, as: form)
        }
        output.append("}")
    }

    /// Writes the resource of `entry` as bundles and lines of this form have it.
    @inline(__always)
    package func append(resource entry: Entry, as form: BundleForm, to output: inout ByteWriter) {
        append(resource: entry, withID: form.hasID(entry.kind), to: &output) { reference, output in
            append(reference, of: entry, as: form, to: &output)
        }
    }

    /// Writes the resource of `entry`; `members` writes the members of a Reference.
    @inline(__always)
    package func append(
        resource entry: Entry, withID: Bool, to output: inout ByteWriter,
        members: (EntryReference, inout ByteWriter) -> Void
    ) {
        let body = entry.body
        var place = 0
        if withID, entry.id.count > 0 {
            place = entry.idPlace
            output.append(body[0..<place])
            output.append(",\"id\":\"")
            output.append(entry.id)
            output.append(UInt8(ascii: "\""))
        }
        for index in 0..<entry.referenceCount {
            let reference = entry.reference(index)
            output.append(body[place..<reference.place])
            place = reference.place
            members(reference, &output)
        }
        output.append(body[place..<body.count])
    }

    // MARK: References

    /// Writes the members of a Reference as bundles and lines of this form have them.
    @inline(__always)
    package func append(
        _ reference: EntryReference, of entry: Entry, as form: BundleForm, to output: inout ByteWriter
    ) {
        switch reference.role {
        case .encounter: append(byIdentifier: reference, of: entry, withType: form.hasReferenceType, to: &output)
        case .member where form.memberReferences == .byID:
            output.append("\"reference\":\"Observation/")
            output.append(self[reference.target].id)
            output.append(UInt8(ascii: "\""))
        case .patient, .device, .gateway, .member:
            guard form.refersToEntries, !self[reference.target].isUnwritten else {
                return append(byIdentifier: reference, of: entry, withType: form.hasReferenceType, to: &output)
            }
            output.append("\"reference\":\"")
            output.appendFullURL(of: self[reference.target])
            output.append(UInt8(ascii: "\""))
        }
    }

    /// Writes the members of a Reference by identifier.
    package func append(
        byIdentifier reference: EntryReference, of entry: Entry, withType: Bool, to output: inout ByteWriter
    ) {
        let (type, system, value) = name(of: reference, entry)
        if withType {
            output.append("\"type\":\"")
            output.append(type)
            output.append("\",\"identifier\":")
        } else {
            output.append("\"identifier\":")
        }
        output.appendIdentifier(system: system, value: value)
    }

    /// Type, system and value of what `reference` of `entry` names.
    private func name(of reference: EntryReference, _ entry: Entry) -> (ByteView, ByteView, ByteView) {
        guard reference.role != .encounter else {
            let encounter = entry.encounter ?? (ByteView(""), ByteView(""))
            return (ByteView("Encounter"), encounter.system, encounter.value)
        }
        let target = self[reference.target]
        return (target.type, target.system, target.value)
    }
}

extension ByteWriter {
    /// Writes `{"system":…,"value":…}`, without a system when that is empty.
    mutating func appendIdentifier(system: ByteView, value: ByteView) {
        if system.count > 0 {
            append("{\"system\":\"")
            appendJSON(system)
            append("\",\"value\":\"")
        } else {
            append("{\"value\":\"")
        }
        appendJSON(value)
        append("\"}")
    }

    /// Writes what References within a bundle to `entry` say.
    @inline(__always)
    mutating func appendFullURL(of entry: Entry) {
        let url = entry.fullURL
        guard url.count == 0 else { return append(url) }
        append("urn:uuid:")
        appendUUID(hex: entry.id)
    }

    /// Writes how a server is to store the resource of `entry`.
    @inline(__always)
    package mutating func appendRequest(of entry: Entry, as form: BundleForm) {
        entry.isCreated(as: form)
            ? append("{\"method\":\"POST\",\"url\":\"") : append("{\"method\":\"PUT\",\"url\":\"")
        appendURL(of: entry, as: form)
        if entry.isCreated(as: form) {
            append("\",\"ifNoneExist\":\"")
            appendCondition(of: entry)
        }
        append("\"}")
    }

    /// Writes the `ifNoneExist` of that.
    @inline(__always)
    fileprivate mutating func appendCondition(of entry: Entry) {
        entry.isStandIn
            ? appendIdentifierQuery(of: entry) : appendIdentifierSearch(system: entry.system, value: entry.value)
    }

    /// Writes the search for what `entry` stands for, as it is written in URLs.
    private mutating func appendIdentifierQuery(of entry: Entry) {
        guard entry.system.count == 0 else { return appendIdentifierQuery(system: entry.system, value: entry.value) }
        append(Array(IdentifierSearch.query(system: "", value: entry.value.string).utf8))
    }

    /// Writes the `url` of that.
    @inline(__always)
    fileprivate mutating func appendURL(of entry: Entry, as form: BundleForm) {
        append(entry.type)
        if entry.isPut(as: form) {
            append("/")
            append(entry.id)
        } else if !entry.isCreated(as: form) {
            append("?")
            appendIdentifierQuery(system: entry.system, value: entry.value)
        }
    }
}

extension Entry {
    /// Whether it is put under the id that we give it. The id of a Device is the server's: whoever wrote the first
    /// Observation of it made it.
    @inline(__always)
    package func isPut(as form: BundleForm) -> Bool {
        form.write == .putByID && (kind == .observation || kind == .resource)
    }

    /// Whether it is to be made unless the server has it.
    @inline(__always)
    package func isCreated(as form: BundleForm) -> Bool {
        kind.isBare || form.write == .conditionalCreate
    }

    /// The `url` of its request.
    package func url(as form: BundleForm) -> String {
        var writer = ByteWriter(capacity: 256)
        writer.appendURL(of: self, as: form)
        return writer.view.string
    }

    /// The `ifNoneExist` of its request, where that has one.
    package func ifNoneExist(as form: BundleForm) -> String? {
        guard isCreated(as: form) else { return nil }
        var writer = ByteWriter(capacity: 256)
        writer.appendCondition(of: self)
        return writer.view.string
    }
}
