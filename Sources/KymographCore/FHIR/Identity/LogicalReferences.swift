/// Writes the members of references by identifier, without braces.
///
/// What comes before the identifier's value is made once: lending it out of arrays would count references for every
/// Observation.
struct LogicalReferences: ~Copyable, Sendable {
    private let heads: ByteWriter
    private let patient: Range<Int>
    private let deviceSubject: Range<Int>
    private let device: Range<Int>
    private let encounter: Range<Int>
    /// What long identifiers are digested with; nil where they are written as they are.
    private let digest: Digest256?

    init(_ systems: IdentifierSystems, _ digest: Digest256?) {
        self.digest = digest
        var heads = ByteWriter(capacity: 512)
        let isTyped = systems.version.hasReferenceType
        patient = LogicalReferences.head(isTyped ? "Patient" : nil, systems.patient, &heads)
        deviceSubject = LogicalReferences.head(isTyped ? "Patient" : nil, systems.deviceSubject, &heads)
        device = LogicalReferences.head(isTyped ? "Device" : nil, systems.device, &heads)
        encounter = LogicalReferences.head(isTyped ? "Encounter" : nil, systems.encounter, &heads)
        self.heads = heads
    }

    /// Adds the text up to the value, and tells where it is.
    private static func head(
        _ type: StaticString?, _ system: IdentifierSystem, _ heads: inout ByteWriter
    ) -> Range<Int> {
        let start = heads.count
        if let type {
            heads.append("\"type\":\"")
            heads.append(type)
            heads.append("\",")
        }
        heads.append("\"identifier\":{")
        if !system.plain.isEmpty {
            heads.append("\"system\":\"")
            heads.append(system.escaped)
            heads.append("\",")
        }
        heads.append("\"value\":\"")
        return start..<heads.count
    }

    /// Who the readings of `series` are about; as ``IdentifierSystems/subject(of:)``.
    func appendSubject(of series: borrowing SeriesIdentity, to writer: inout ByteWriter) {
        if let patient = series.patient, !patient.isEmpty {
            return append(self.patient, patient, digest, to: &writer)
        }
        append(deviceSubject, series.device, digest, to: &writer)
    }

    /// What took the readings of `series`.
    func appendDevice(of series: borrowing SeriesIdentity, to writer: inout ByteWriter) {
        append(device, series.device, digest, to: &writer)
    }

    /// The encounter.
    func appendEncounter(_ value: [UInt8], to writer: inout ByteWriter) {
        // The server has it already: it is found by all of its identifier.
        append(encounter, value, nil, to: &writer)
    }

    private func append(
        _ head: Range<Int>, _ value: [UInt8], _ digest: Digest256?, to writer: inout ByteWriter
    ) {
        writer.append(heads.view(head))
        writer.appendReferred(value, digest)
        writer.append("\"}")
    }
}
