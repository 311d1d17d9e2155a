/// Patients and Devices as entries: once in a block, before what refers to them.
extension EntryWriter {
    /// Sees to it that the block has those that the prepared `content` refers to.
    @inline(__always)
    mutating func requireParties(of content: borrowing WindowContent) -> EntryParties {
        let type = content.series.type
        if !encoder.isObservation(type), let resource = encoder.resource(of: type) {
            return requireParties(of: content, for: resource)
        }
        var parties = EntryParties()
        parties.patient = requireSubject(of: content.series)
        parties.device = requireDevice(of: content.series)
        // By conditional create also for the reference's types, as it looks them up by identifier before it creates
        // them: a PUT under the ids of its Create mode would replace what the server's Patients have got since.
        if namesGateway, !encoder.head.references.isReference { parties.gateway = requireGateway() }
        return parties
    }

    @inline(__always)
    mutating func requireSubject(of series: borrowing SeriesIdentity) -> UInt32 {
        if let patient = series.patient, !patient.isEmpty {
            let kind = kinds.patient
            return patient.withByteView { require(kind, .patient, $0) }
        }
        let kind = kinds.deviceSubject
        return series.device.withByteView { require(kind, .patient, $0) }
    }

    @inline(__always)
    mutating func requireDevice(of series: borrowing SeriesIdentity) -> UInt32 {
        let kind = kinds.device
        return series.device.withByteView { require(kind, .device, $0) }
    }

    /// The gateway's Device.
    @inline(never)
    mutating func requireGateway() -> UInt32 {
        let kind = encoder.head.references.entries.own.gateway
        return encoder.head.references.systems.gateway.value.withByteView { value in
            require(
                kind, .gateway, value,
                foot: """
                    ,"type":{"coding":[{"system":"urn:iso:std:iso:11073:10101","code":"531981",\
                    "display":"MDC_MOC_VMS_MDS_AHD"}]}}
                    """)
        }
    }

    /// The number of the entry of what `value` identifies, which is added unless the block has it, with `foot` behind
    /// its identifiers.
    @inline(__always)
    private mutating func require(
        _ kind: ResourceEntries.Kind, _ entryKind: EntryKind, _ value: ByteView, foot: StaticString = "}"
    ) -> UInt32 {
        let place = place(of: value, kind)
        return parties.number(at: place) ?? add(kind, entryKind, value, at: place, foot: foot)
    }

    /// The place of what `value` identifies, whether the block has it or not. The reference system writes long
    /// identifiers as they are, which makes them others than ours.
    @inline(__always)
    mutating func place(of value: ByteView, _ kind: ResourceEntries.Kind) -> Int {
        scratch.removeAll()
        scratch.append(isWhole(value) ? kind.number | EntryWriter.wholeKind : kind.number)
        scratch.append(value)
        return parties.place(of: scratch.view)
    }

    /// Whether `value` is long, and written as it is all the same.
    @inline(__always)
    private func isWhole(_ value: ByteView) -> Bool {
        encoder.head.references.isReference && LongIdentifier.isLong(value)
    }

    /// The bit of a kind's number that sets those apart.
    private static var wholeKind: UInt8 { 0x80 }

    /// Adds what `value` identifies, which has `place`.
    @inline(never)
    private mutating func add(
        _ kind: ResourceEntries.Kind, _ entryKind: EntryKind, _ value: ByteView, at place: Int, foot: StaticString
    ) -> UInt32 {
        let number = UInt32(block.count)
        parties.set(number: number, at: place)
        if let record = parties.record(at: place, as: entryKind) {
            block.append(party: record)
        } else {
            let start = block.bytes.count
            write(kind, entryKind, value, foot: foot)
            parties.keep(block.bytes.view(start..<block.bytes.count), as: entryKind, at: place)
        }
        return number
    }

    /// Writes the entry of what `value` identifies.
    private mutating func write(
        _ kind: ResourceEntries.Kind, _ entryKind: EntryKind, _ value: ByteView, foot: StaticString
    ) {
        let isLong = !encoder.head.references.isReference && LongIdentifier.isLong(value)
        block.begin()
        encoder.head.references.holes.begin(at: block.bodyStart)
        block.bytes.append(encoder.head.references.entries[kind.resource])
        isLong ? block.bytes.appendIdentifier(value, encoder.head.identity.digest) : block.bytes.appendJSON(value)
        block.bytes.append("\"}]")
        block.bytes.append(foot)
        block.endBody()
        block.bytes.append(encoder.head.references.entries[kind.type])
        block.end(.type)
        block.end(.id)
        appendFullURL(of: value, kind)
        block.bytes.append(encoder.head.references.entries[kind.system])
        block.end(.system)
        isLong ? block.bytes.appendDigest(of: value, encoder.head.identity.digest) : block.bytes.append(value)
        block.end(.value)
        if isLong { block.bytes.append(value) }
        block.end(.whole)
        block.end(.encounter)
        block.end(entryKind, holes: encoder.head.references.holes)
    }

    /// Adds what references within a bundle to what `value` identifies say, where there are any. A long identifier that
    /// is written as it is has another than ours: no type begins with `=`.
    mutating func appendFullURL(of value: ByteView, _ kind: ResourceEntries.Kind) {
        if form.refersToEntries {
            scratch.removeAll()
            if isWhole(value) { scratch.append("=") }
            scratch.append(encoder.head.references.entries[kind.key])
            scratch.append(value)
            block.bytes.append("urn:uuid:")
            block.bytes.appendUUID(encoder.head.identity.digest.of(scratch.view))
        }
        block.end(.fullURL)
    }
}
