/// Collects resources that are no Observations.
extension BundleWriter {
    /// Adds the prepared resource of `content` as an entry, with the Patient and Device that it refers to.
    mutating func addResource(
        _ resource: ResourceProgram, _ content: borrowing WindowContent
    ) -> AddOutcome {
        var uuid = encoder.identityDigest
        if resource.identity == .device {
            guard let digest = claimDevice(content) else { return .repeated }
            uuid = digest
        }
        var references = ObservationReferences(toEntries: encoder.options.refersToEntries)
        if resource.refersToPatient { references.subject = requireSubject(of: content.series) }
        if resource.refersToDevice { references.device = requireDevice(of: content.series) }
        if resource.refersToGateway, !encoder.options.gateway.isEmpty { references.gateway = requireGateway() }
        openEntry()
        output.append("{")
        let isReferred = resource.identity == .device && encoder.options.refersToEntries
        if isReferred || encoder.options.bundleType == .collection { writeFullURL(uuid) }
        output.append("\"resource\":")
        _ = encoder.write(content, references: references, into: &output)
        if encoder.options.bundleType != .collection { writeRequest(resource, content) }
        output.append("}")
        contentCount += 1
        return .added(condensedValues: 0)
    }

    /// Makes the entry to come that of the content's Device, to which Observations of the same bundle refer; nil when
    /// the bundle has a Device of this identifier already.
    private mutating func claimDevice(_ content: borrowing WindowContent) -> Digest256.Bytes? {
        let kind = deviceKind
        let hash = content.series.device.withByteView { device in
            setKey(kind, device)
            return KeyTable.hash(device, seed: kind.seed)
        }
        return resources.find(scratch.view, hash: hash) == nil ? addKey(hash) : nil
    }

    /// Writes how the server is to store the prepared resource.
    private mutating func writeRequest(_ resource: ResourceProgram, _ content: borrowing WindowContent) {
        let type = encoder.constants.view(resource.nameStart..<resource.nameEnd)
        let isDevice = resource.identity == .device
        let system = isDevice ? encoder.ownSystems.device.search : encoder.systems.resource.search
        switch encoder.options.write {
        case .conditionalCreate:
            output.append(",\"request\":{\"method\":\"POST\",\"url\":\"")
            output.append(type)
            output.append("\",\"ifNoneExist\":\"")
            output.appendIdentifierSearch(system: system, value: encoder.identityValue)
        case .putByID where !isDevice:
            output.append(",\"request\":{\"method\":\"PUT\",\"url\":\"")
            output.append(type)
            output.append("/")
            output.appendHex(encoder.identityDigest)
        // The id of a Device is the server's: whoever wrote the first Observation of it made it.
        case .putByID, .conditionalUpdate:
            output.append(",\"request\":{\"method\":\"PUT\",\"url\":\"")
            output.append(type)
            output.append("?")
            output.appendIdentifierQuery(system: system, value: encoder.identityValue)
        }
        output.append("\"}")
    }
}
