/// Makes of each entry block what files get: a bundle in one line, or the lines of NDJSON. Keeps its memory.
///
/// The block is as large as a bundle may be: ``EntryWriter`` ends it there.
package struct BundleAssembler: ~Copyable, Sendable {
    private var index = EntryIndex()
    private var output = ByteWriter(capacity: 1 << 16)
    /// Elements of bundles of ``keptForm`` by the records of Patients and Devices.
    private var kept = KeptTexts()
    private var keptForm = BundleForm()

    /// Has nothing yet.
    package init() {}

    /// The bundle, or lines, of `block`, each with its line feed; nil when the block cannot be read. Valid until the
    /// next call.
    package mutating func text(of block: ByteView) -> ByteView? {
        guard let entries = index.read(block) else { return nil }
        output.removeAll()
        let form = entries.form
        form.format == .ndjson ? appendLines(entries, form) : appendBundle(entries, form)
        return output.view
    }

    private mutating func appendBundle(_ entries: EntryBlock, _ form: BundleForm) {
        if form != keptForm {
            kept.removeAll()
            keptForm = form
        }
        output.appendBundleHead(form.type)
        let head = output.count
        for number in 0..<entries.count {
            let entry = entries[number]
            if entry.isUnwritten { continue }
            if output.count > head { output.append(UInt8(ascii: ",")) }
            if entry.kind.isBare, entry.referenceCount == 0 {
                appendBare(entry, of: entries)
            } else {
                entries.append(entry, as: form, to: &output)
            }
        }
        output.append("]}\n")
    }

    /// Adds a Patient or Device that refers to nothing, as it was written before.
    private mutating func appendBare(_ entry: Entry, of entries: EntryBlock) {
        let hash = KeyTable.hash(entry.value)
        if let text = kept.text(of: entry.record, hash: hash) { return output.append(text) }
        let start = output.count
        entries.append(entry, as: keptForm, to: &output)
        kept.add(entry.record, hash: hash, output.view(start..<output.count))
    }

    private mutating func appendLines(_ entries: EntryBlock, _ form: BundleForm) {
        for number in 0..<entries.count where !entries[number].kind.isBare && !entries[number].isUnwritten {
            entries.append(resource: entries[number], as: form, to: &output)
            output.append(UInt8(ascii: "\n"))
        }
    }
}

extension ByteWriter {
    /// Writes a bundle up to its first entry.
    package mutating func appendBundleHead(_ type: ObservationOptions.BundleType) {
        switch type {
        case .transaction: append("{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[")
        case .batch: append("{\"resourceType\":\"Bundle\",\"type\":\"batch\",\"entry\":[")
        case .collection: append("{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[")
        }
    }
}
