/// What the encoder and the bundle writer do for types with `compatibility: iomt-fhir`.
extension ObservationEncoder {
    /// Writes the effective period of the prepared content: always a period, with seven decimals, in UTC.
    @inline(never)
    mutating func writeReferencePeriod(_ writer: inout ByteWriter) {
        writer.append("\"effectivePeriod\":{\"start\":\"")
        times.append(span.start, .ticks, to: &writer)
        writer.append("\",\"end\":\"")
        times.append(span.end, .ticks, to: &writer)
        writer.append("\"}")
    }

    /// Writes when the last of the readings was received: the reference writes its own clock, which would make the
    /// same readings give two texts.
    @inline(never)
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
    @inline(never)
    mutating func requireReferenceResources(_ content: borrowing WindowContent) -> ObservationReferences {
        let subject = encoder.referenceSystems.subject(of: content.series)
        let device = encoder.referenceSystems.device(of: content.series)
        var references = ObservationReferences(toEntries: encoder.options.refersToEntries)
        guard encoder.options.write == .putByID else {
            references.subject = require("Patient", subject)
            references.device = require("Device", device)
            return references
        }
        let digests = encoder.resourceDigests
        references.isByID = references.toEntries
        references.subject = digests.subject
        references.device = digests.device
        if isNew("Patient", digests.subject) {
            openEntry()
            openPut("Patient", subject, digests.subject)
            closePut("Patient", digests.subject)
        }
        if isNew("Device", digests.device) {
            openEntry()
            openPut("Device", device, digests.device)
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
