/// Collects Observations into one bundle, or into lines of NDJSON, with the Patient and Device entries they need.
///
/// Call ``add(_:)`` until it answers ``AddOutcome/full`` or ``AddOutcome/repeated``; then send what ``finish()`` gives,
/// ``reset()``, and add the same content again. The writer keeps its memory.
public struct BundleWriter: ~Copyable, Sendable {
    /// What became of an addition.
    public enum AddOutcome: Hashable, Sendable {
        /// The Observation is in the bundle; some of its readings may be condensed (``EncodeOutcome/written``).
        case added(condensedValues: Int)
        /// There is nothing to write, and why.
        case skipped(Rejection)
        /// The bundle is as large as it may be: flush, then add the content again.
        case full
        /// The bundle has an Observation of this identity already, and a server must refuse two in one transaction:
        /// flush, then add the content again.
        case repeated
    }

    var encoder: ObservationEncoder
    private let maxEntries: Int
    private let maxBytes: Int
    var output: ByteWriter
    var scratch = ByteWriter(capacity: 256)
    var resources = KeyTable()
    var identities = KeyTable()
    private var isFull = false
    private var isFinished = false
    /// Entries (or lines) so far.
    public private(set) var entryCount = 0
    /// Observations and other resources of readings so far.
    public internal(set) var contentCount = 0
    /// What the Observation of the last addition does not say of its readings.
    public var losses: ObservationLosses { encoder.losses }

    /// Writes with `encoder`; a bundle ends before it has more than `maxEntries` entries (Patients and Devices count)
    /// or more than `maxBytes` bytes, but always takes one Observation, however large.
    public init(_ encoder: consuming ObservationEncoder, maxEntries: Int = 100, maxBytes: Int = 1 << 20) {
        self.encoder = encoder
        self.maxEntries = maxEntries
        self.maxBytes = maxBytes
        output = ByteWriter(capacity: 1 << 16)
    }

    /// Writes with newer templates from here on; what is in the bundle stays as it is.
    mutating func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        encoder = encoder.encoder(types: types, templates: templates)
    }

    /// An empty writer with the same options and limits, for the newest templates.
    func another(types: [MeasurementType], templates: [FHIRTemplate?]) -> BundleWriter {
        BundleWriter(
            encoder.encoder(types: types, templates: templates), maxEntries: maxEntries, maxBytes: maxBytes)
    }

    /// Adds the Observation of `content`, which has at least one reading.
    public mutating func add(_ content: borrowing WindowContent) -> AddOutcome {
        if isFull || isFinished { return .full }
        if let rejection = encoder.prepare(content) { return .skipped(rejection) }
        let mark = output.count
        let entries = entryCount
        let contents = contentCount
        let outcome = encoder.options.format == .ndjson ? addLine(content) : addEntries(content)
        // The closing bytes count too.
        if entryCount > maxEntries || output.count + 3 > maxBytes, contents > 0 {
            output.truncate(to: mark)
            entryCount = entries
            contentCount = contents
            isFull = true
            return .full
        }
        return outcome
    }

    /// Completes the bundle: one line with its line feed (NDJSON: all lines); empty when nothing was added. Valid until
    /// the next call.
    public mutating func finish() -> ByteView {
        if !isFinished && entryCount > 0 && encoder.options.format == .bundle { output.append("]}\n") }
        isFinished = true
        return output.view
    }

    /// Starts the next bundle.
    public mutating func reset() {
        output.removeAll()
        resources.removeAll()
        identities.removeAll()
        isFull = false
        isFinished = false
        entryCount = 0
        contentCount = 0
    }

    // MARK: Entries

    private mutating func addLine(_ content: borrowing WindowContent) -> AddOutcome {
        let condensed = encoder.write(content, references: .logical, into: &output)
        output.append("\n")
        let type = content.series.type
        let lines = encoder.isObservation(type) ? 1 : encoder.resourceCount(of: type)
        entryCount += lines
        contentCount += lines
        return .added(condensedValues: condensed)
    }

    private mutating func addEntries(_ content: borrowing WindowContent) -> AddOutcome {
        let digest = encoder.identityDigest
        scratch.removeAll()
        scratch.append(digest)
        // What is a digest needs no other hash.
        guard identities.add(scratch.view, hash: DigestWords(digest)[0], digest: digest) else { return .repeated }
        guard encoder.isObservation(content.series.type) else { return addOther(content) }
        let references = requireResources(content)
        openResource(digest)
        let condensed = encoder.write(content, references: references, into: &output)
        if encoder.options.bundleType == .collection { output.append("}") } else { writeRequest(closing: "\"}}") }
        contentCount += 1
        return .added(condensedValues: condensed)
    }

    /// Adds what is not one Observation.
    @inline(never)
    private mutating func addOther(_ content: borrowing WindowContent) -> AddOutcome {
        if let summary = encoder.summaryProgram(of: content.series.type) { return addSummary(summary, content) }
        guard let resource = encoder.resource(of: content.series.type) else { return .skipped(.noFHIRTemplate) }
        return addResource(resource, content)
    }

    /// Writes the entries of the Patient and the Device of prepared `content` unless the bundle has them; gives how the
    /// Observation refers to them.
    @inline(__always)
    mutating func requireResources(_ content: borrowing WindowContent) -> ObservationReferences {
        if encoder.isReference { return requireReferenceResources(content) }
        var references = ObservationReferences(toEntries: encoder.options.refersToEntries)
        references.subject = requireSubject(of: content.series)
        references.device = requireDevice(of: content.series)
        if encoder.options.namesGateway { references.gateway = requireGateway() }
        return references
    }

    /// Separates entries, and opens the bundle before the first.
    mutating func openEntry() {
        entryCount += 1
        guard output.count == 0 else { return output.append(",") }
        switch encoder.options.bundleType {
        case .transaction: output.append("{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[")
        case .batch: output.append("{\"resourceType\":\"Bundle\",\"type\":\"batch\",\"entry\":[")
        case .collection: output.append("{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[")
        }
    }

    /// Opens the entry of the Observation of `digest`, up to its resource.
    @inline(__always)
    private mutating func openResource(_ digest: Digest256.Bytes) {
        if output.count > 0, encoder.options.bundleType != .collection {
            entryCount += 1
            return output.append(",{\"resource\":")
        }
        openEntry()
        output.append("{")
        if encoder.options.bundleType == .collection { writeFullURL(digest) }
        output.append("\"resource\":")
    }

    /// Writes the `fullUrl` that references to the resource of `digest` have.
    mutating func writeFullURL(_ digest: Digest256.Bytes) {
        output.append("\"fullUrl\":\"urn:uuid:")
        output.appendUUID(digest)
        output.append("\",")
    }

    /// Writes how the server is to store the prepared Observation, and `closing`.
    @inline(__always)
    mutating func writeRequest(closing: StaticString = "\"}") {
        switch encoder.options.write {
        case .putByID:
            output.append(",\"request\":{\"method\":\"PUT\",\"url\":\"Observation/")
            output.appendHex(encoder.identityDigest)
        case .conditionalCreate:
            output.append(",\"request\":{\"method\":\"POST\",\"url\":\"Observation\",\"ifNoneExist\":\"")
            output.appendIdentifierSearch(system: observationSystem, value: encoder.identityValue)
        case .conditionalUpdate:
            output.append(",\"request\":{\"method\":\"PUT\",\"url\":\"Observation?")
            output.appendIdentifierQuery(system: observationSystem, value: encoder.identityValue)
        }
        output.append(closing)
    }

    /// The system of the identifier that the prepared Observation carries: what a server searches.
    private var observationSystem: SearchToken {
        (encoder.isReference ? encoder.referenceSystems : encoder.systems).observation.search
    }

    /// Writes the entry of the Patient that readings of `series` are about; as ``require(_:_:foot:)``.
    mutating func requireSubject(of series: borrowing SeriesIdentity) -> Digest256.Bytes {
        if let patient = series.patient, !patient.isEmpty {
            let kind = encoder.isReference ? encoder.entries.reference.patient : encoder.entries.own.patient
            return patient.withByteView { require(kind, $0) }
        }
        let kind = encoder.isReference ? encoder.entries.reference.deviceSubject : encoder.entries.own.deviceSubject
        return series.device.withByteView { require(kind, $0) }
    }

    /// Writes the entry of the Device that took readings of `series`; as ``require(_:_:foot:)``.
    mutating func requireDevice(of series: borrowing SeriesIdentity) -> Digest256.Bytes {
        let kind = deviceKind
        return series.device.withByteView { require(kind, $0) }
    }

    /// The Devices that the prepared content's Observation refers to.
    var deviceKind: ResourceEntries.Kind {
        encoder.isReference ? encoder.entries.reference.device : encoder.entries.own.device
    }

    /// Writes the entry of the resource that `value` identifies unless the bundle has it, with `foot` behind its
    /// identifiers; gives the digest that its UUID is made of (zero in batches, where nothing may refer to it).
    mutating func require(
        _ kind: ResourceEntries.Kind, _ value: ByteView, foot: StaticString = "}"
    ) -> Digest256.Bytes {
        setKey(kind, value)
        let hash = KeyTable.hash(value, seed: kind.seed)
        if let digest = resources.find(scratch.view, hash: hash) { return digest }
        let digest = addKey(hash)
        openEntry()
        output.append("{")
        if encoder.options.refersToEntries { writeFullURL(digest) }
        output.append(encoder.entries[kind.resource])
        encoder.isReference ? output.appendJSON(value) : output.appendIdentifier(value, encoder.digest)
        output.append("\"}]")
        output.append(foot)
        if encoder.options.bundleType != .collection { writeRequest(kind, value) }
        output.append("}")
        return digest
    }

    /// Adds the key in ``scratch``, which is not there yet; gives what ``require(_:_:foot:)`` gives.
    mutating func addKey(_ hash: UInt64) -> Digest256.Bytes {
        let digest =
            encoder.options.refersToEntries ? encoder.digest.of(scratch.view) : Digest256.Bytes(repeating: 0)
        _ = resources.add(scratch.view, hash: hash, digest: digest)
        return digest
    }

    /// Makes the key of a Patient or Device in ``scratch``.
    mutating func setKey(_ kind: ResourceEntries.Kind, _ value: ByteView) {
        scratch.removeAll()
        scratch.append(encoder.entries[kind.key])
        scratch.append(value)
    }

    private mutating func writeRequest(_ kind: ResourceEntries.Kind, _ value: ByteView) {
        output.append(encoder.entries[kind.request])
        if !encoder.isReference, LongIdentifier.isLong(value) {
            scratch.removeAll()
            scratch.appendDigest(of: value, encoder.digest)
            output.appendSearchValue(scratch.view, hasBackslash: kind.hasBackslash)
        } else {
            output.appendSearchValue(value, hasBackslash: kind.hasBackslash)
        }
        output.append("\"}")
    }

    /// Whether a resource that is no Observation was added since the last time of asking.
    mutating func takeResource() -> Bool { encoder.takeResource() }
}
