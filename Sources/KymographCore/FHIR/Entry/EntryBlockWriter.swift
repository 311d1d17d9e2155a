/// Writes entries one behind the other (``EntryLayout``). Keeps its memory from block to block.
struct EntryBlockWriter: ~Copyable, Sendable {
    /// The block as far as it is written; parts are appended here.
    var bytes = ByteWriter(capacity: 1 << 16)
    /// Entries so far.
    private(set) var count = 0
    /// Where the present entry begins, and where its present part does.
    private var start = 0
    private var mark = 0
    private var bodyCount = 0
    /// Bytes of texts and number of References of all entries, those that were taken back included.
    private var texts = 0
    private var longest = 0
    private var references = 0
    private let form: BundleForm

    init(form: BundleForm) {
        self.form = form
        _ = bytes.extend(by: EntryLayout.blockHead)
    }

    /// Forgets the entries.
    mutating func removeAll() {
        bytes.truncate(to: EntryLayout.blockHead)
        (count, texts, longest, references) = (0, 0, 0, 0)
    }

    /// What the bytes of a bundle depend on.
    @inline(__always)
    var size: EntryBlockSize {
        EntryBlockSize(entries: count, bytes: bytes.count, texts: texts, longest: longest, references: references)
    }

    /// The block; valid until the next change.
    mutating func finish() -> ByteView {
        bytes.store(half: EntryLayout.magic, at: 0)
        bytes.store(half: EntryLayout.code(of: form), at: 4)
        bytes.store(half: UInt32(count), at: 8)
        bytes.store(half: UInt32(bytes.count), at: 12)
        return bytes.view
    }

    /// Begins an entry, with its body.
    @inline(__always)
    mutating func begin() {
        start = bytes.extend(by: EntryLayout.entryHead)
        mark = bytes.count
    }

    /// Where the body of the present entry begins.
    @inline(__always)
    var bodyStart: Int { start + EntryLayout.entryHead }

    /// Ends the body.
    @inline(__always)
    mutating func endBody() {
        bodyCount = bytes.count &- mark
        end(.body)
    }

    /// Ends a part, which is what was appended since the one before.
    @inline(__always)
    mutating func end(_ part: EntryPart) {
        bytes.store(half: UInt32(truncatingIfNeeded: bytes.count &- mark), at: start &+ part.length)
        mark = bytes.count
    }

    /// Ends the entry. The targets of its ``EntryHoles`` follow from `parties` and, of members, `firstMember`.
    @inline(__always)
    mutating func end(
        _ kind: EntryKind, flags: UInt8 = 0, holes: borrowing EntryHoles, parties: EntryParties = EntryParties(),
        firstMember: Int = 0
    ) {
        precondition(holes.count <= Int(UInt16.max) && bytes.count - start <= Int(UInt32.max) >> 1)
        for index in 0..<holes.count {
            let target = parties.target(of: holes[index], firstMember: firstMember)
            let place = UInt64(UInt32(truncatingIfNeeded: holes[index].place))
            bytes.append(word: place | UInt64(holes[index].role.rawValue) << 32)
            bytes.append(word: UInt64(target), bytes: 4)
        }
        let about = UInt32(kind.rawValue) | UInt32(flags) << 8 | UInt32(holes.count) << 16
        let size = UInt64(bytes.count &- start)
        bytes.store(word: size | UInt64(about) << 32, at: start)
        bytes.store(half: UInt32(truncatingIfNeeded: holes.idPlace), at: start &+ EntryLayout.idPlace)
        store(parties, at: start)
        count(texts: bytes.count &- bodyStart &- bodyCount, holes.count)
    }

    /// Counts an entry.
    @inline(__always)
    private mutating func count(texts: Int, _ references: Int) {
        self.texts &+= texts
        longest = max(longest, texts)
        self.references &+= references
        count &+= 1
    }

    @inline(__always)
    private mutating func store(_ parties: EntryParties, at entry: Int) {
        bytes.store(half: parties.patient, at: entry &+ EntryLayout.patient)
        bytes.store(half: parties.device, at: entry &+ EntryLayout.device)
        bytes.store(half: parties.gateway, at: entry &+ EntryLayout.gateway)
    }

    /// Appends the record of a Patient or Device, which refers to nothing.
    @inline(__always)
    mutating func append(party record: ByteView) {
        bytes.append(record)
        count(texts: record.count &- EntryLayout.entryHead &- Entry(record).body.count, 0)
    }

    /// Appends entries of another block as they are; their Patient, Device and gateway are `parties` here. `first` was
    /// the number of the first of them, which members of a panel go by.
    mutating func append(moved entries: ByteView, first: Int, parties: EntryParties) {
        let new = count
        var place = 0
        while place < entries.count {
            let entry = Entry(entries[place..<place + Int(entries.half(at: place))])
            let start = bytes.count
            bytes.append(entry.record)
            store(parties.of(entry), at: start)
            for index in 0..<entry.referenceCount {
                let reference = entry.reference(index)
                let target =
                    reference.role == .member
                    ? UInt32(reference.target - first + new) : parties.target(of: reference, firstMember: 0)
                bytes.store(half: target, at: bytes.count - EntryLayout.reference * (entry.referenceCount - index) + 8)
            }
            count(texts: entry.record.count - entry.body.count, entry.referenceCount)
            place += entry.record.count
        }
    }

    /// Appends `entry` of another block with other flags; `number` gives the numbers that entries have here.
    mutating func append(copy entry: Entry, flags: UInt8, number: (Int) -> UInt32) {
        let start = bytes.count
        bytes.append(entry.record)
        bytes[start + 5] = flags
        func renumbered(_ party: Int?) -> UInt32 { party.map(number) ?? EntryLayout.none }
        store(
            EntryParties(
                patient: renumbered(entry.patient), device: renumbered(entry.device),
                gateway: renumbered(entry.gateway)), at: start)
        for index in 0..<entry.referenceCount {
            let reference = entry.reference(index)
            guard reference.role != .encounter else { continue }
            let place = bytes.count - EntryLayout.reference * (entry.referenceCount - index) + 8
            bytes.store(half: number(reference.target), at: place)
        }
        count(texts: entry.record.count - entry.body.count, entry.referenceCount)
    }

    /// Takes back everything from `place` on, where an entry began that was to be number `count`.
    mutating func truncate(to place: Int, count: Int) {
        bytes.truncate(to: place)
        self.count = count
    }
}

/// Numbers of the entries that are Patient, Device and gateway of others; all ones for none.
struct EntryParties: BitwiseCopyable {
    var patient = EntryLayout.none
    var device = EntryLayout.none
    var gateway = EntryLayout.none

    /// What `reference` names; a target of a member counts from `firstMember`.
    @inline(__always)
    func target(of reference: EntryReference, firstMember: Int) -> UInt32 {
        switch reference.role {
        case .patient: patient
        case .device: device
        case .gateway: gateway
        case .encounter: 0
        case .member: UInt32(truncatingIfNeeded: reference.target &+ firstMember)
        }
    }

    /// Those of them that `entry` has.
    func of(_ entry: Entry) -> EntryParties {
        EntryParties(
            patient: entry.patient == nil ? EntryLayout.none : patient,
            device: entry.device == nil ? EntryLayout.none : device,
            gateway: entry.gateway == nil ? EntryLayout.none : gateway)
    }
}

/// The holes of the body that is being written.
struct EntryHoles: ~Copyable, Sendable {
    private var references = RawArray<EntryReference>(capacity: 16)
    /// Where the body begins.
    private var start = 0
    /// Where the id belongs.
    private(set) var idPlace = 0

    init() {}

    /// Forgets those of the body before; the next one begins at `start`.
    @inline(__always)
    mutating func begin(at start: Int) {
        references.removeAll()
        (self.start, idPlace) = (start, 0)
    }

    /// Leaves room for the id.
    @inline(__always)
    mutating func leaveID(at place: Int) { idPlace = place &- start }

    /// Leaves room for the members of a Reference; `member` is the number of a panel's member.
    @inline(__always)
    mutating func leave(_ role: EntryReference.Role, at place: Int, member: Int = 0) {
        references.append(EntryReference(place: place &- start, role: role, target: member))
    }

    /// Takes those back that are not before `place`, with what was written there.
    mutating func takeBack(to place: Int) {
        while references.count > 0, references[references.count - 1].place >= place - start { _ = references.popLast() }
    }

    /// How many References there are.
    @inline(__always)
    var count: Int { references.count }

    /// Reference `index`, in the order of their places.
    @inline(__always)
    subscript(index: Int) -> EntryReference { references[index] }
}

/// What the bytes of a bundle depend on.
struct EntryBlockSize: BitwiseCopyable {
    var entries = 0
    var bytes = 0
    /// Bytes of all texts besides bodies, and of the longest entry's.
    var texts = 0
    var longest = 0
    var references = 0
}
