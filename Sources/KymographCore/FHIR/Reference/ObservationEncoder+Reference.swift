/// What the encoder and the bundle writer do for types with `compatibility: iomt-fhir`.
extension ObservationEncoder {
    /// Who the readings of `content` are about.
    func subject(of content: borrowing WindowContent) -> ResourceIdentifier {
        isReference(content) ? referenceSystems.subject(of: content.series) : systems.subject(of: content.series)
    }

    /// What took the readings of `content`.
    func device(of content: borrowing WindowContent) -> ResourceIdentifier {
        isReference(content) ? referenceSystems.device(of: content.series) : systems.device(of: content.series)
    }

    /// Writes the effective period of the prepared content: always a period, with seven decimals, in UTC.
    mutating func writeReferencePeriod(_ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        times.append(span.start, .ticks, to: &writer)
        writer.append("\",\"end\":\"")
        times.append(span.end, .ticks, to: &writer)
        writer.append("\"}")
    }

    /// Writes when the last of the readings was received: the reference writes its own clock, which would make the
    /// same readings give two texts.
    func writeIssued(_ content: borrowing WindowContent, _ writer: inout ByteWriter) {
        var last = content.readings[0].received
        for index in 1..<max(content.readings.count, 1) { last = max(last, content.readings[index].received) }
        writer.append(ticks: last)
    }
}

extension BundleWriter {
    /// Writes the entries of the Patient and the Device of prepared `content` unless the bundle has them; gives how
    /// the Observation refers to them.
    ///
    /// Where Observations are put by id, so are these, under the ids of the reference's Create mode.
    mutating func requireReferenceResources(_ content: borrowing WindowContent) -> ObservationReferences {
        let digests = encoder.resourceDigests
        var references = ObservationReferences(toEntries: encoder.options.refersToEntries)
        references.isByID = references.toEntries
        references.subject = digests.subject
        references.device = digests.device
        if isNew("Patient", digests.subject) {
            openEntry()
            openPut("Patient", encoder.subject(of: content), digests.subject)
            closePut("Patient", digests.subject)
        }
        if isNew("Device", digests.device) {
            openEntry()
            openPut("Device", encoder.device(of: content), digests.device)
            // Entries of a batch must not refer to each other.
            if references.isByID {
                output.append(",\"patient\":{\"reference\":\"Patient/")
                output.appendHex(digests.subject)
                output.append("\"}")
            }
            closePut("Device", digests.device)
        }
        return references
    }

    /// Whether the bundle has no resource of this id yet; from now on it has.
    private mutating func isNew(_ type: StaticString, _ digest: Digest256.Bytes) -> Bool {
        scratch.removeAll()
        scratch.append(type)
        scratch.append("/")
        scratch.appendHex(digest)
        return resources.add(scratch.view, digest: digest)
    }

    private mutating func openPut(
        _ type: StaticString, _ identifier: ResourceIdentifier, _ digest: Digest256.Bytes
    ) {
        output.append("{\"resource\":{\"resourceType\":\"")
        output.append(type)
        output.append("\",\"id\":\"")
        output.appendHex(digest)
        output.append("\",\"identifier\":[")
        output.append(identifier)
        output.append("]")
    }

    private mutating func closePut(_ type: StaticString, _ digest: Digest256.Bytes) {
        output.append("},\"request\":{\"method\":\"PUT\",\"url\":\"")
        output.append(type)
        output.append("/")
        output.appendHex(digest)
        output.append("\"}}")
    }
}
