/// Encodes windows as entries of a block, with the Patients and Devices that they refer to.
///
/// A block is what one bundle of files holds: it ends before it would have more entries or bytes than
/// ``BundleLimits`` allow, or two of one identity, which a server must refuse in one transaction. A content is encoded
/// and added first; if the block is overfull with it, ``finish(isOverfull:)`` gives the block without it, and
/// ``begin(with:)`` moves it into the next one. The writer keeps its memory.
package struct EntryWriter: ~Copyable, Sendable {
    /// What became of a content.
    package enum AddOutcome: Hashable, Sendable {
        /// It is in the block.
        case added(Addition)
        /// There is nothing to write, and why.
        case skipped(Rejection)
    }

    /// A content that is in the block.
    package struct Addition: Hashable, Sendable {
        /// Its Observations or other resources.
        package var contents: Int
        /// Whether it is no Observation.
        package var isResource: Bool
        /// Readings that its series are condensed by (``EncodeOutcome/written``).
        package var condensedValues: Int
        /// What its Observation does not say of its readings.
        package var losses: ObservationLosses
        /// Whether the block must end before it: ``EntryWriter/finish(isOverfull:)``, then
        /// ``EntryWriter/begin(with:)``.
        package var isOverfull: Bool
    }

    var encoder: ObservationEncoder
    /// By which patches of the templates that were given ``encoder`` writes.
    private var variant = PatchSelection()
    /// Encoders of other variants.
    private var others = OwnedList<ObservationEncoder>(count: 0) { _ in preconditionFailure("there are none yet") }
    private var variants: [PatchSelection] = []
    private let limits: BundleLimits
    let form: BundleForm
    let namesGateway: Bool
    /// Whether samples may leave their Observations.
    let attaches: Bool
    /// Whether servers that delete what was an error keep the content that is being added.
    var isKept = false
    var block: EntryBlockWriter
    private var size: BundleSize
    var scratch = ByteWriter(capacity: 256)
    var parties = PartyTable()
    private var identities = KeyTable()
    /// The content that was added last.
    private var last = LastContent()
    /// Observations and other resources of readings so far.
    package internal(set) var contentCount = 0
    /// Attachments of them in the block.
    var attachmentCount = 0

    /// Where the content that was added last begins, and what it is known by.
    private struct LastContent {
        /// Before its Patients and Devices.
        var start = 0
        var entriesBefore = 0
        var contentsBefore = 0
        var attachmentsBefore = 0
        /// Behind them.
        var ownStart = 0
        var ownNumber = 0
        var digest = Digest256.Bytes(repeating: 0)
        /// Whether the block has its identity, or its Device, already.
        var isRepeated = false
    }

    /// Writes with `encoder`; blocks hold what bundles within `limits` may, but always one content, however large.
    package init(_ encoder: consuming ObservationEncoder, limits: BundleLimits = BundleLimits()) {
        form = encoder.options.form
        namesGateway = encoder.options.namesGateway
        attaches = encoder.options.attachOver > 0
        block = EntryBlockWriter(form: form)
        size = BundleSize(form: form, limit: limits.bytes)
        self.encoder = encoder
        self.limits = limits
    }

    /// Writes with newer templates from here on; what is in the block stays as it is.
    mutating func adopt(types: [MeasurementType], templates: [FHIRTemplate?]) {
        encoder = encoder.encoder(types: types, templates: templates)
        forgetVariants()
    }

    private mutating func forgetVariants() {
        others = OwnedList(count: 0) { _ in preconditionFailure("there are none yet") }
        (variant, variants) = (PatchSelection(), [])
    }

    /// Most variants of the templates that are kept compiled.
    private static let mostVariants = 16

    /// Writes the contents to come by the templates with `patches`, which `templates` makes when they are new.
    @inline(never)
    mutating func use(
        _ patches: PatchSelection, types: [MeasurementType], templates: (PatchSelection) -> [FHIRTemplate?]
    ) {
        guard patches != variant else { return }
        if let place = variants.firstIndex(of: patches) {
            swap(&encoder, &others[place])
            (variants[place], variant) = (variant, patches)
            return
        }
        var new = encoder.encoder(types: types, templates: templates(patches))
        swap(&encoder, &new)
        if variants.count < EntryWriter.mostVariants {
            others.append(new)
            variants.append(variant)
        } else {
            // Conditions look at what is written without patches, whatever other variants there are.
            if !variant.isEmpty, let place = variants.firstIndex(where: \.isEmpty) { swap(&new, &others[place]) }
            others = OwnedList(count: 0) { _ in preconditionFailure("there are none yet") }
            others.append(new)
            variants = [PatchSelection()]
        }
        variant = patches
    }

    /// Appends the resource of `content`, by the variant in use and with references by identifier; false when there is
    /// none.
    mutating func describe(_ content: borrowing WindowContent, into writer: inout ByteWriter) -> Bool {
        if attaches { encoder.attachments.begin(limit: nil) }
        let outcome = encoder.encode(content, into: &writer)
        _ = encoder.takeResource()
        if case .written = outcome { return true }
        return false
    }

    /// An empty writer with the same options and limits, for the newest templates.
    func another(types: [MeasurementType], templates: [FHIRTemplate?]) -> EntryWriter {
        EntryWriter(encoder.encoder(types: types, templates: templates), limits: limits)
    }

    // MARK: Contents

    /// Adds the entries of `content`, which has at least one reading. Where `isKept`, no server deletes what they say
    /// was an error: it stays with that status.
    package mutating func add(_ content: borrowing WindowContent, isKept: Bool = false) -> AddOutcome {
        self.isKept = isKept
        if let rejection = encoder.prepare(content) { return .skipped(rejection) }
        last.start = block.bytes.count
        (last.entriesBefore, last.contentsBefore) = (block.count, contentCount)
        last.attachmentsBefore = attachmentCount
        last.digest = encoder.head.identity.id
        last.isRepeated = !claimIdentity()
        let parties = requireParties(of: content)
        (last.ownStart, last.ownNumber) = (block.bytes.count, block.count)
        let condensed: Int
        if encoder.isObservation(content.series.type) {
            condensed = addObservation(content, parties)
        } else {
            condensed = 0
            addOther(content, parties)
        }
        return .added(
            Addition(
                contents: contentCount - last.contentsBefore, isResource: encoder.takeResource(),
                condensedValues: condensed, losses: encoder.losses, isOverfull: isOverfull()))
    }

    /// Whether the block must end before the content that was added last.
    @inline(__always)
    private mutating func isOverfull() -> Bool {
        guard last.contentsBefore > 0 else { return false }
        if last.isRepeated || entriesOfBundle > limits.entries { return true }
        return size.mayExceed(block.size) && size.exceeds(&block)
    }

    /// Notes that the block has what the content that is being added describes already.
    mutating func noteRepeated() { last.isRepeated = true }

    /// Entries of the bundle, or lines.
    private var entriesOfBundle: Int { form.format == .ndjson ? contentCount + attachmentCount : block.count }

    /// Completes the block; empty when nothing was added. One that is overfull ends before the last content, which
    /// ``begin(with:)`` must have next. Valid until then.
    package mutating func finish(isOverfull: Bool = false) -> ByteView {
        if isOverfull {
            moved.removeAll()
            moved.append(block.bytes.view(last.ownStart..<block.bytes.count))
            block.truncate(to: last.start, count: last.entriesBefore)
        }
        return block.count == 0 ? ByteView("") : block.finish()
    }

    /// Forgets the entries.
    package mutating func reset() {
        block.removeAll()
        parties.beginBlock()
        identities.removeAll()
        size.reset()
        (contentCount, attachmentCount) = (0, 0)
        last = LastContent()
    }

    /// Entries that wait for the next block.
    private var moved = ByteWriter(capacity: 1_024)

    /// Begins the next block with `content`, which the one before could not hold: ``finish(isOverfull:)`` has set its
    /// entries aside.
    package mutating func begin(with content: borrowing WindowContent) {
        precondition(moved.count > 0, "nothing was set aside")
        let (number, contents, digest) = (last.ownNumber, contentCount - last.contentsBefore, last.digest)
        let attachments = attachmentCount - last.attachmentsBefore
        reset()
        (last.digest, contentCount, attachmentCount) = (digest, contents, attachments)
        _ = claimIdentity()
        let parties = requireParties(of: content)
        block.append(moved: moved.view, first: number, parties: parties)
        moved.removeAll()
    }

    /// Notes the identity of the present content; false when the block has it already. Lines may repeat each other.
    @inline(__always)
    private mutating func claimIdentity() -> Bool {
        if form.format == .ndjson { return true }
        scratch.removeAll()
        scratch.append(last.digest)
        // What is a digest needs no other hash.
        return identities.add(scratch.view, hash: DigestWords(last.digest)[0], number: 0)
    }

    /// Adds the prepared Observation of `content`; gives the number of condensed readings.
    @inline(__always)
    private mutating func addObservation(_ content: borrowing WindowContent, _ parties: EntryParties) -> Int {
        block.begin()
        encoder.head.references.holes.begin(at: block.bodyStart)
        if attaches { encoder.attachments.begin(limit: encoder.options.attachOver) }
        let condensed = encoder.write(content, references: .left, into: &block.bytes)
        endObservation(content, parties)
        contentCount += 1
        if attaches { addAttachments(of: content, parties) }
        return condensed
    }

    /// Ends the entry of the Observation whose identity was taken last.
    @inline(__always)
    mutating func endObservation(
        _ content: borrowing WindowContent, _ parties: EntryParties, flags: UInt8 = 0, firstMember: Int = 0
    ) {
        block.endBody()
        block.bytes.append("Observation")
        block.end(.type)
        block.bytes.appendHex(encoder.head.identity.id)
        block.end(.id)
        block.end(.fullURL)
        block.bytes.append(encoder.head.references.entries[kinds.observation])
        endIdentifier()
        endEncounter(of: content)
        // As the reference writes it, it has values that others have added on the server.
        let isEmptied = content.status == .enteredInError && !isKept && !encoder.head.references.isReference
        let emptied = isEmptied ? EntryLayout.isEmptied : 0
        block.end(
            .observation, flags: flags | emptied, holes: encoder.head.references.holes, parties: parties,
            firstMember: firstMember)
    }

    /// Systems and texts of the prepared content.
    @inline(__always)
    var kinds: ResourceEntries.Kinds { encoder.head.references.kinds }

    /// Ends the system of the prepared identity's identifier, and adds its value.
    @inline(__always)
    mutating func endIdentifier() {
        block.end(.system)
        block.bytes.append(encoder.head.identity.value)
        block.end(.value)
        if encoder.head.identity.isLong { block.bytes.append(encoder.head.identity.wholeValue) }
        block.end(.whole)
    }

    /// Adds the encounter of `content`, if it has one.
    @inline(__always)
    mutating func endEncounter(of content: borrowing WindowContent) {
        if let encounter = content.series.encounter, !encounter.isEmpty {
            let system = encoder.head.references.entries[kinds.encounter]
            block.bytes.append(word: UInt64(system.count), bytes: 4)
            block.bytes.append(system)
            block.bytes.append(encounter)
        }
        block.end(.encounter)
    }
}
