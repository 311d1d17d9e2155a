public import KymographCore

/// A FHIR resource that leaves the engine, whole, with what one needs to file it.
///
/// The same ``id`` comes again when readings change a window that was sent before: the later one replaces the earlier.
/// Entries of one device come in order.
public struct ResourceEntry: Sendable {
    /// Whose a resource is, or what it is called: a system, and a value that is unique in it. Equal only to the same
    /// bytes.
    public struct Identifier: Hashable, Sendable {
        /// The system, a URI; may be empty.
        public let system: IdentifierText
        /// The value, in full however long it is.
        public let value: IdentifierText
    }

    /// The type of the resource, such as `Observation`.
    public let resourceType: String
    /// The id that the resource has, made of its identity: the same in every run.
    public let id: String
    /// What the resource is found by.
    public let identifier: Identifier
    /// The device that took the readings; nil where the resource refers to none.
    public let device: Identifier?
    /// The patient, or the wearer of the device where readings name no patient; nil where the resource refers to none.
    public let patient: Identifier?
    /// The resource in JSON without layout, in UTF-8. It refers to others by identifier.
    public let json: [UInt8]
}

extension ResourceEntry {
    /// The resources of `block`; Patients and Devices that are there to be referred to are none.
    static func all(of block: EntryBlock) -> [ResourceEntry] {
        var form = block.form
        form.format = .ndjson
        var writer = ByteWriter(capacity: 4_096)
        var found: [ResourceEntry] = []
        for number in 0..<block.count where !block[number].kind.isBare && !block[number].isUnwritten {
            let entry = block[number]
            writer.removeAll()
            block.append(resource: entry, as: form, to: &writer)
            found.append(
                ResourceEntry(
                    resourceType: entry.type.string, id: entry.id.string, identifier: Identifier(entry),
                    device: entry.device.map { Identifier(block[$0]) },
                    patient: entry.patient.map { Identifier(block[$0]) }, json: writer.view.array))
        }
        return found
    }
}

extension ResourceEntry.Identifier {
    /// What `entry` is found by.
    init(_ entry: Entry) {
        system = IdentifierText(utf8: entry.system.array)
        value = IdentifierText(utf8: (entry.whole.count > 0 ? entry.whole : entry.value).array)
    }
}
