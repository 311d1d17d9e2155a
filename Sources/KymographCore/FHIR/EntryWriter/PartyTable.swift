/// The Patients and Devices that entries refer to: the number that each has in the present block, and its record as it
/// was written last, since to make one takes a digest. Keys are compared in full.
struct PartyTable: ~Copyable, Sendable {
    private var keys = KeyTable()
    private var parties = RawArray<Party>()
    private var records = ByteWriter()
    private var block = 1

    /// Bytes of keys and records after which all are forgotten at the next block: some thousands of parties.
    private static let mostBytes = 1 << 20

    /// The place of the party of `key`; valid until the next block.
    @inline(__always)
    mutating func place(of key: ByteView) -> Int {
        let hash = KeyTable.hash(key)
        if let place = keys.find(key, hash: hash) { return Int(place) }
        return add(key, hash: hash)
    }

    @inline(never)
    private mutating func add(_ key: ByteView, hash: UInt64) -> Int {
        _ = keys.add(key, hash: hash, number: UInt32(parties.count))
        parties.append(Party())
        return parties.count - 1
    }

    /// The number of the entry of the party at `place` in the present block; nil when the block has none.
    @inline(__always)
    func number(at place: Int) -> UInt32? {
        let party = parties[place]
        return party.block == block ? party.number : nil
    }

    /// Gives the party at `place` a number in the present block.
    @inline(__always)
    mutating func set(number: UInt32, at place: Int) {
        parties[place].block = block
        parties[place].number = number
    }

    /// The record that was kept for the party at `place`, nil where there is none of this kind: the gateway may be a
    /// device, too. Valid until the next ``keep(_:as:at:)``.
    @inline(__always)
    func record(at place: Int, as kind: EntryKind) -> ByteView? {
        let party = parties[place]
        return party.end > 0 && party.kind == kind ? records.view(party.start..<party.end) : nil
    }

    /// Keeps the record of the party at `place`, an entry of `kind`.
    mutating func keep(_ record: ByteView, as kind: EntryKind, at place: Int) {
        parties[place].kind = kind
        parties[place].start = records.count
        records.append(record)
        parties[place].end = records.count
    }

    /// Forgets all numbers.
    mutating func beginBlock() {
        block += 1
        let bytes = keys.byteCount + records.count + parties.count * MemoryLayout<Party>.stride
        if bytes > PartyTable.mostBytes { removeAll() }
    }

    private mutating func removeAll() {
        keys.removeAll()
        parties.removeAll()
        records.removeAll()
    }
}

/// One of a ``PartyTable``.
struct Party: BitwiseCopyable {
    /// The block that it has its number in.
    var block = 0
    var number: UInt32 = 0
    /// What its record is, and where.
    var kind = EntryKind.device
    var start = 0
    var end = 0
}
