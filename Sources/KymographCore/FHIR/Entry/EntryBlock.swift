/// The entries of a block, looked at in place. Valid as long as the bytes, and as the ``EntryIndex`` is not used anew.
package struct EntryBlock: BitwiseCopyable {
    /// All bytes.
    let bytes: ByteView
    fileprivate let starts: ElementList<Int>
    /// How the run that wrote the block puts entries together.
    package let form: BundleForm

    /// Number of entries.
    package var count: Int { starts.count - 1 }

    /// Entry `number`; traps when out of range.
    @inline(__always)
    package subscript(number: Int) -> Entry { Entry(bytes[starts[number]..<starts[number &+ 1]]) }

    /// The kind of entry `number`; traps when out of range.
    @inline(__always)
    fileprivate func kind(_ number: Int) -> EntryKind {
        EntryKind(rawValue: bytes[starts[number] &+ EntryLayout.kind]) ?? .resource
    }
}

/// Finds the entries of blocks, and checks that a block is whole. Keeps its memory from block to block.
package struct EntryIndex: ~Copyable, Sendable {
    /// Where entries begin, and where the last one ends.
    private var starts = RawArray<Int>(capacity: 128)

    private var form = BundleForm()

    /// Knows no block yet.
    package init() {}

    /// The block that was read last, whose bytes are now here.
    package func again(_ bytes: ByteView) -> EntryBlock {
        precondition(starts.count > 0 && starts[starts.count - 1] == bytes.count, "these are other bytes")
        return EntryBlock(bytes: bytes, starts: starts.list(0..<starts.count), form: form)
    }

    /// The entries of `bytes`; nil unless these are one whole block, whatever they are.
    package mutating func read(_ bytes: ByteView) -> EntryBlock? {
        guard bytes.count >= EntryLayout.blockHead, bytes.half(at: 0) == EntryLayout.magic,
            let form = EntryLayout.form(of: bytes.half(at: 4)), Int(bytes.half(at: 12)) == bytes.count
        else { return nil }
        starts.removeAll()
        var place = EntryLayout.blockHead
        while place < bytes.count {
            starts.append(place)
            guard let end = EntryIndex.end(ofEntryAt: place, bytes) else { return nil }
            place = end
        }
        guard Int(bytes.half(at: 8)) == starts.count else { return nil }
        starts.append(place)
        self.form = form
        let block = again(bytes)
        for number in 0..<block.count {
            guard EntryIndex.isSound(number, block) else { return nil }
        }
        return block
    }

    /// Where the entry at `place` ends; nil when its lengths do not fit each other or the block.
    @inline(__always)
    private static func end(ofEntryAt place: Int, _ bytes: ByteView) -> Int? {
        guard bytes.count - place >= EntryLayout.entryHead else { return nil }
        let size = Int(bytes.half(at: place))
        guard size <= bytes.count - place, EntryKind(rawValue: bytes[place + EntryLayout.kind]) != nil,
            bytes[place + 5] <= EntryLayout.flags
        else { return nil }
        var sum = EntryLayout.entryHead + EntryLayout.reference * Int(bytes.half(at: place + 4) >> 16)
        for part in 0..<EntryPart.count {
            sum += Int(bytes.half(at: place + EntryLayout.lengths + 4 * part))
        }
        return sum == size ? place + size : nil
    }

    /// Whether everything that the entry refers to is where it says.
    @inline(__always)
    private static func isSound(_ number: Int, _ block: EntryBlock) -> Bool {
        let entry = block[number]
        let bodyCount = entry.body.count
        guard entry.idPlace <= bodyCount, entry.hasSoundEncounter, number > 0 || !entry.isJoined,
            isOne(of: .patients, entry.patient, block), isOne(of: .devices, entry.device, block),
            isOne(of: .devices, entry.gateway, block)
        else { return false }
        var place = entry.idPlace
        for index in 0..<entry.referenceCount {
            guard let reference = entry.checkedReference(index), reference.place >= place,
                reference.place <= bodyCount
            else { return false }
            place = reference.place
            let isKnown =
                switch reference.role {
                // Nearly always those that were looked at above.
                case .patient: reference.target == entry.patient || isOne(of: .patients, reference.target, block)
                case .device: reference.target == entry.device || isOne(of: .devices, reference.target, block)
                case .gateway: reference.target == entry.gateway || isOne(of: .devices, reference.target, block)
                case .encounter: entry.hasEncounter
                case .member: isOne(of: .observations, reference.target, block)
                }
            guard isKnown else { return false }
        }
        return true
    }

    /// Whether entry `number`, if it is one, is there and of one of `kinds`.
    @inline(__always)
    private static func isOne(of kinds: EntryKinds, _ number: Int?, _ block: EntryBlock) -> Bool {
        guard let number else { return true }
        return number < block.count && kinds.contains(block.kind(number))
    }
}

/// A set of kinds.
private struct EntryKinds {
    private var bits: UInt8

    @inline(__always)
    static var patients: EntryKinds { EntryKinds(bits: bit(.patient)) }
    /// All Devices; the gateway may be one of those that take readings.
    @inline(__always)
    static var devices: EntryKinds { EntryKinds(bits: bit(.device) | bit(.describedDevice) | bit(.gateway)) }
    @inline(__always)
    static var observations: EntryKinds { EntryKinds(bits: bit(.observation)) }

    @inline(__always)
    private static func bit(_ kind: EntryKind) -> UInt8 { 1 &<< kind.rawValue }

    @inline(__always)
    func contains(_ kind: EntryKind) -> Bool { bits & EntryKinds.bit(kind) != 0 }
}
