/// Writes what all resources have of a content, whatever their programs say: what they are known by, what they refer
/// to, and their times.
struct HeadWriter: ~Copyable, Sendable {
    /// Constant bytes of all programs, padded.
    let constants: ByteWriter
    /// Whether Observations carry an id of ours.
    let writesID: Bool
    var identity: IdentityWriter
    var references: ReferenceWriter
    var times: TimeWriter

    init(_ constants: consuming ByteWriter, _ options: ObservationOptions, _ digest: Digest256) {
        self.constants = constants
        writesID = options.writesID
        identity = IdentityWriter(digest)
        references = ReferenceWriter(options, digest)
        times = TimeWriter(options.timePrecision)
    }

    // MARK: Identities

    /// Takes the identity of an Observation.
    mutating func takeIdentity(of content: borrowing WindowContent, _ program: TypeProgram) {
        let name = constants.view(program.nameStart..<program.nameEnd)
        guard program.isCompatible else {
            return identity.take(
                content, program, name: name, in: references.systems.observation.plain,
                isReference: references.isReference, times: &times.texts)
        }
        takeReferenceIdentity(of: content, program, name: name)
    }

    @inline(never)
    private mutating func takeReferenceIdentity(
        of content: borrowing WindowContent, _ program: TypeProgram, name: ByteView
    ) {
        let subject = references.referenceSystems.subject(of: content.series)
        let device = references.referenceSystems.device(of: content.series)
        identity.takeReference(
            content, program, name: name, in: references.referenceSystems.observation.plain, subject: subject,
            device: device, times: &times.texts)
    }

    /// Takes the identity of a resource that is no Observation.
    @inline(never)
    mutating func takeIdentity(
        of resource: ResourceProgram, _ content: borrowing WindowContent, _ program: TypeProgram
    ) {
        if resource.identity == .device {
            return identity.take(
                device: content.series.device, in: references.ownSystems.device.plain,
                isReference: references.isReference)
        }
        identity.take(
            content, program, name: constants.view(program.nameStart..<program.nameEnd),
            in: references.systems.resource.plain, isReference: references.isReference, times: &times.texts)
    }

    /// Takes the identity that an Observation called `name` has, which is among the constants.
    @inline(never)
    mutating func takeIdentity(of content: borrowing WindowContent, _ program: TypeProgram, name: TableRange) {
        identity.take(
            content, program, name: constants.view(name.places), in: references.ownSystems.observation.plain,
            isReference: references.isReference, times: &times.texts)
    }

    /// Takes the identity of an attachment of the content's Observation: `name` is among the constants.
    @inline(never)
    mutating func takeIdentity(
        ofAttachment name: TableRange, _ content: borrowing WindowContent, _ program: TypeProgram
    ) {
        identity.take(
            content, program, name: constants.view(name.places), in: references.systems.resource.plain,
            isReference: references.isReference, times: &times.texts)
    }

    /// Writes the member `id`, if the resource `hasID`, with a comma before it; or leaves room for it.
    @inline(__always)
    mutating func writeID(_ hasID: Bool, _ writer: inout ByteWriter) {
        if references.form == .left { return references.holes.leaveID(at: writer.count) }
        guard hasID else { return }
        writer.append(",\"id\":\"")
        writer.appendHex(identity.id)
        writer.append("\"")
    }

    /// Writes the Identifier of `resource`, which is no Observation.
    mutating func writeIdentity(of resource: ResourceProgram, _ writer: inout ByteWriter) {
        if resource.identity == .device {
            writer.appendHead(of: references.ownSystems.device)
            identity.append(to: &writer)
            return writer.append("\"}")
        }
        identity.append(in: references.systems.resource, to: &writer)
    }
}
