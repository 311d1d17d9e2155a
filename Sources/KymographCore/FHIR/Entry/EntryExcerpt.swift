/// Single entries of a block, as blocks of their own.
extension EntryBlock {
    /// Entry `number` with the Patients and Devices that it refers to. A Device that another entry describes comes with
    /// its identifier only, and members of a panel are named and not there.
    package func excerpt(_ number: Int) -> [UInt8] {
        var writer = EntryBlockWriter(form: form)
        var numbers: [Int: UInt32] = [:]
        for other in targets(of: number) where other != number {
            numbers[other] = UInt32(writer.count)
            let entry = self[other]
            if entry.kind == .describedDevice {
                writer.append(standIn: entry)
            } else {
                // What it refers to is not needed where it is only named.
                writer.append(named: entry, isWritten: entry.kind.isBare && !entry.isUnwritten)
            }
        }
        numbers[number] = UInt32(writer.count)
        let entry = self[number]
        // A panel's members are not here; one of them keeps its `fullUrl`.
        let isMember = entry.isInPanel && !hasMembers(entry)
        let kept = entry.record[5] & (EntryLayout.isStandIn | EntryLayout.isEmptied)
        writer.append(copy: entry, flags: kept | (isMember ? EntryLayout.beginsPanel : 0)) {
            numbers[$0] ?? EntryLayout.none
        }
        return writer.finish().array
    }

    private func hasMembers(_ entry: Entry) -> Bool {
        (0..<entry.referenceCount).contains { entry.reference($0).role == .member }
    }

    /// Numbers of the entries that entry `number` refers to, in their order.
    private func targets(of number: Int) -> [Int] {
        let entry = self[number]
        let references = (0..<entry.referenceCount).map { entry.reference($0) }.filter { $0.role != .encounter }
        return Set(references.map(\.target)).sorted()
    }
}

extension EntryBlockWriter {
    /// Appends what is known of `entry` besides what it refers to.
    fileprivate mutating func append(named entry: Entry, isWritten: Bool) {
        let holes = EntryHoles()
        begin()
        bytes.append(isWritten ? entry.body : ByteView("{}"))
        endBody()
        appendNames(of: entry)
        let flags = entry.isStandIn ? EntryLayout.isStandIn : 0
        end(entry.kind, flags: isWritten ? flags : EntryLayout.isUnwritten, holes: holes)
    }

    /// Appends a Device with the identifier of the described one, and nothing else.
    fileprivate mutating func append(standIn entry: Entry) {
        let holes = EntryHoles()
        begin()
        bytes.append("{\"resourceType\":\"")
        bytes.append(entry.type)
        bytes.append("\",\"identifier\":[")
        bytes.appendIdentifier(system: entry.system, value: entry.value)
        bytes.append("]}")
        endBody()
        appendNames(of: entry)
        end(.device, flags: EntryLayout.isStandIn, holes: holes)
    }

    /// Appends the texts by which `entry` is found.
    private mutating func appendNames(of entry: Entry) {
        bytes.append(entry.type)
        end(.type)
        if !entry.kind.isBare, entry.kind != .describedDevice { bytes.append(entry.id) }
        end(.id)
        bytes.append(entry.fullURL)
        end(.fullURL)
        bytes.append(entry.system)
        end(.system)
        bytes.append(entry.value)
        end(.value)
        bytes.append(entry.whole)
        end(.whole)
        end(.encounter)
    }
}
