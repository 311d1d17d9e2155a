/// How a resource names its Patient, its Device and others, and whether it says its id.
enum ObservationReferences {
    /// By identifier, and with the id where the options want it: the resource is whole.
    case byIdentifier
    /// Not at all: there are ``EntryHoles``, which whoever puts entries together fills.
    case left
}

/// Writes the members of References from the resource that is being written to others, without braces.
struct ReferenceWriter: ~Copyable, Sendable {
    let systems: IdentifierSystems
    /// Systems of types that have the reference's identities.
    let referenceSystems: IdentifierSystems
    /// What the entries of Patients and Devices have in common.
    let entries: ResourceEntries
    private let logical: LogicalReferences
    private let referenceLogical: LogicalReferences
    private let digest: Digest256
    /// How the resource that is being written names others.
    var form = ObservationReferences.byIdentifier
    /// Whether the prepared content has the reference's shape and identity.
    var isReference = false
    /// What was left open in the resource that is being written.
    var holes = EntryHoles()

    init(_ options: ObservationOptions, _ digest: Digest256) {
        self.digest = digest
        systems = IdentifierSystems(options)
        logical = LogicalReferences(systems, digest)
        referenceSystems = .reference(options)
        referenceLogical = LogicalReferences(referenceSystems, nil)
        entries = ResourceEntries(own: systems, reference: referenceSystems)
    }

    /// To whom the readings of `series` are about.
    @inline(__always)
    mutating func writeSubject(of series: borrowing SeriesIdentity, _ writer: inout ByteWriter) {
        if form == .left { return holes.leave(.patient, at: writer.count) }
        isReference
            ? referenceLogical.appendSubject(of: series, to: &writer)
            : logical.appendSubject(of: series, to: &writer)
    }

    /// To what took them.
    @inline(__always)
    mutating func writeDevice(of series: borrowing SeriesIdentity, _ writer: inout ByteWriter) {
        if form == .left { return holes.leave(.device, at: writer.count) }
        isReference
            ? referenceLogical.appendDevice(of: series, to: &writer)
            : logical.appendDevice(of: series, to: &writer)
    }

    /// To an encounter.
    @inline(__always)
    mutating func writeEncounter(_ encounter: [UInt8], _ writer: inout ByteWriter) {
        if form == .left { return holes.leave(.encounter, at: writer.count) }
        isReference
            ? referenceLogical.appendEncounter(encounter, to: &writer)
            : logical.appendEncounter(encounter, to: &writer)
    }

    /// To the gateway, as the Personal Health Devices guide has it.
    @inline(never)
    mutating func writeGateway(_ writer: inout ByteWriter) {
        if form == .left { return holes.leave(.gateway, at: writer.count) }
        if systems.version.hasReferenceType { writer.append("\"type\":\"Device\",") }
        writer.append("\"identifier\":")
        writeGatewayIdentifier(&writer)
    }

    /// To member number `member` of a panel, whose identifier has the value `identity`.
    mutating func writeMember(_ member: Int, _ identity: ByteView, _ writer: inout ByteWriter) {
        if form == .left { return holes.leave(.member, at: writer.count, member: member) }
        if systems.version.hasReferenceType { writer.append("\"type\":\"Observation\",") }
        writer.append("\"identifier\":{\"system\":\"")
        writer.append(ownSystems.observation.escaped)
        writer.append("\",\"value\":\"")
        // One Identifier, which a long one's whole text has no place in.
        writer.appendJSON(identity)
        writer.append("\"}")
    }

    // MARK: Identifiers

    /// Writes the Identifier of whom the readings of `series` are about.
    mutating func writeSubjectIdentifier(of series: borrowing SeriesIdentity, _ writer: inout ByteWriter) {
        writer.append(ownSystems.subject(of: series), ownDigest)
    }

    /// Writes the Identifier of what took them.
    mutating func writeDeviceIdentifier(of series: borrowing SeriesIdentity, _ writer: inout ByteWriter) {
        writer.append(ownSystems.device(of: series), ownDigest)
    }

    /// Writes the Identifier of an encounter.
    mutating func writeEncounterIdentifier(_ encounter: [UInt8], _ writer: inout ByteWriter) {
        writer.append(ResourceIdentifier(system: ownSystems.encounter, value: encounter), nil)
    }

    /// Writes the Identifier of the gateway.
    mutating func writeGatewayIdentifier(_ writer: inout ByteWriter) { writer.append(systems.gateway, digest) }

    /// Systems and texts of the prepared content's entries.
    @inline(__always)
    var kinds: ResourceEntries.Kinds { isReference ? entries.reference : entries.own }

    /// The systems of the prepared content's Patient, Device and Encounter.
    var ownSystems: IdentifierSystems { isReference ? referenceSystems : systems }

    /// What long identifiers of the prepared content's Patient and Device are digested with; nil where they are written
    /// as they are.
    private var ownDigest: Digest256? { isReference ? nil : digest }
}
