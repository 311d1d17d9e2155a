/// Entries of what is not one Observation.
extension EntryWriter {
    /// Adds the prepared resource or summary of `content`.
    @inline(never)
    mutating func addOther(_ content: borrowing WindowContent, _ parties: EntryParties) {
        if let summary = encoder.summaryProgram(of: content.series.type) {
            return addSummary(summary, content, parties)
        }
        guard let resource = encoder.resource(of: content.series.type) else { return }
        let isDevice = resource.identity == .device
        block.begin()
        encoder.head.references.holes.begin(at: block.bodyStart)
        _ = encoder.write(content, references: .left, into: &block.bytes)
        block.endBody()
        block.bytes.append(encoder.head.constants.view(resource.nameStart..<resource.nameEnd))
        block.end(.type)
        block.bytes.appendHex(encoder.head.identity.id)
        block.end(.id)
        if isDevice {
            let kind = kinds.device
            content.series.device.withByteView { appendFullURL(of: $0, kind) }
            block.bytes.append(encoder.head.references.entries[kinds.device.system])
        } else {
            block.end(.fullURL)
            block.bytes.append(encoder.head.references.entries[encoder.head.references.entries.own.resource])
        }
        endIdentifier()
        endEncounter(of: content)
        block.end(isDevice ? .describedDevice : .resource, holes: encoder.head.references.holes, parties: parties)
        contentCount += 1
    }

    /// Sees to it that the block has whom the prepared resource of `content` refers to. If it describes its Device, the
    /// others of the block refer to that.
    @inline(never)
    mutating func requireParties(of content: borrowing WindowContent, for resource: ResourceProgram) -> EntryParties {
        let isClaimed = resource.identity == .device && claimDevice(of: content)
        var needed = EntryParties()
        if resource.refersToPatient { needed.patient = requireSubject(of: content.series) }
        if resource.refersToDevice { needed.device = requireDevice(of: content.series) }
        if resource.refersToGateway, !encoder.options.gateway.isEmpty { needed.gateway = requireGateway() }
        guard isClaimed else { return needed }
        // It comes behind those that it refers to itself.
        let number = UInt32(block.count)
        parties.set(number: number, at: devicePlace(of: content))
        if needed.device == EntryWriter.claimed { needed.device = number }
        if needed.gateway == EntryWriter.claimed { needed.gateway = number }
        return needed
    }

    /// In place of the number of a described Device that is not in the block yet.
    private static var claimed: UInt32 { EntryLayout.none - 1 }

    /// Makes the entry to come that of the content's Device; false when the block has one already.
    private mutating func claimDevice(of content: borrowing WindowContent) -> Bool {
        let place = devicePlace(of: content)
        let isNew = parties.number(at: place) == nil
        if isNew {
            parties.set(number: EntryWriter.claimed, at: place)
        } else if form.format == .bundle {
            noteRepeated()
        }
        return isNew
    }

    /// The place of the content's Device.
    private mutating func devicePlace(of content: borrowing WindowContent) -> Int {
        let kind = kinds.device
        return content.series.device.withByteView { place(of: $0, kind) }
    }
}
