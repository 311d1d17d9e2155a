/// One entry of a block: a resource, and what whoever puts entries together must know of it.
package struct Entry: BitwiseCopyable {
    /// Head, parts and References.
    let record: ByteView

    /// Looks at an entry whose lengths were checked.
    @inline(__always)
    init(_ record: ByteView) { self.record = record }

    /// What it is.
    @inline(__always)
    package var kind: EntryKind { EntryKind(rawValue: record[EntryLayout.kind]) ?? .resource }

    /// Whether it belongs together with the entry before: both are of one window.
    @inline(__always)
    package var isJoined: Bool { record[5] & EntryLayout.isJoined != 0 }

    /// Whether it is a panel or a member of one: only those are several of one window.
    var isInPanel: Bool { kind == .observation && record[5] & (EntryLayout.isJoined | EntryLayout.beginsPanel) != 0 }

    /// Whether it stands for a Device that another entry describes, which is not here.
    @inline(__always)
    package var isStandIn: Bool { record[5] & EntryLayout.isStandIn != 0 }

    /// Whether bundles do not have it: References name it, and that is all.
    @inline(__always)
    package var isUnwritten: Bool { record[5] & EntryLayout.isUnwritten != 0 }

    /// Whether it says that an Observation was an error: all readings of its window have gone elsewhere, or its reading
    /// has.
    @inline(__always)
    package var isEmptied: Bool { record[5] & EntryLayout.isEmptied != 0 }

    // MARK: Parts

    @inline(__always)
    private func length(_ part: EntryPart) -> Int { Int(record.half(at: part.length)) }

    @inline(__always)
    private func part(_ part: EntryPart) -> ByteView {
        var start = EntryLayout.entryHead
        for before in 0..<part.rawValue { start += Int(record.half(at: EntryLayout.lengths + 4 * before)) }
        return record[start..<start + length(part)]
    }

    /// The resource's JSON, without its id, and with holes for References.
    @inline(__always)
    package var body: ByteView { record[EntryLayout.entryHead..<EntryLayout.entryHead + length(.body)] }

    /// Type of the resource.
    @inline(__always)
    package var type: ByteView {
        let start = EntryLayout.entryHead + length(.body)
        return record[start..<start + length(.type)]
    }

    /// The id that we give it; empty for bare entries.
    @inline(__always)
    package var id: ByteView {
        let start = EntryLayout.entryHead + length(.body) + length(.type)
        return record[start..<start + length(.id)]
    }

    /// What References within a bundle say where it does not follow from the id; else empty.
    @inline(__always)
    package var fullURL: ByteView { part(.fullURL) }
    /// System of the identifier that it is searched by.
    @inline(__always)
    package var system: ByteView { part(.system) }
    /// Value of that, of a long one what stands for it.
    @inline(__always)
    package var value: ByteView { part(.value) }
    /// The whole of a long identifier; empty for others.
    package var whole: ByteView { part(.whole) }

    /// System and value of the encounter that it refers to; nil without one.
    package var encounter: (system: ByteView, value: ByteView)? {
        guard hasEncounter else { return nil }
        let text = part(.encounter)
        let end = 4 + Int(text.half(at: 0))
        return (text[4..<end], text[end..<text.count])
    }

    @inline(__always)
    var hasEncounter: Bool { length(.encounter) > 0 }

    /// Whether what it says of an encounter can be read.
    @inline(__always)
    var hasSoundEncounter: Bool {
        guard hasEncounter else { return true }
        let text = part(.encounter)
        return text.count >= 4 && Int(text.half(at: 0)) <= text.count - 4
    }

    // MARK: References

    /// Where in the body `,"id":"…"` belongs.
    @inline(__always)
    var idPlace: Int { Int(record.half(at: EntryLayout.idPlace)) }

    /// Number of References in the body.
    @inline(__always)
    package var referenceCount: Int { Int(record.half(at: 4) >> 16) }

    /// Reference `index` of the body, in their order.
    @inline(__always)
    package func reference(_ index: Int) -> EntryReference {
        checkedReference(index) ?? EntryReference(place: 0, role: .encounter, target: 0)
    }

    /// Reference `index`; nil when nobody knows what it names.
    @inline(__always)
    func checkedReference(_ index: Int) -> EntryReference? {
        let place = record.count &- EntryLayout.reference &* (referenceCount &- index)
        guard let role = EntryReference.Role(rawValue: record.half(at: place &+ 4)) else { return nil }
        return EntryReference(
            place: Int(record.half(at: place)), role: role, target: Int(record.half(at: place &+ 8)))
    }

    /// Number of the entry that is its Patient.
    package var patient: Int? { number(at: EntryLayout.patient) }
    /// Number of the entry that is its Device.
    package var device: Int? { number(at: EntryLayout.device) }
    /// Number of the entry that is the gateway.
    package var gateway: Int? { number(at: EntryLayout.gateway) }

    @inline(__always)
    func number(at place: Int) -> Int? {
        let number = record.half(at: place)
        return number == EntryLayout.none ? nil : Int(number)
    }
}
