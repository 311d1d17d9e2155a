import KymographCore

/// Shows the resources of blocks to taps, on a shard's thread.
struct ResourceTap {
    let taps: [OpenTap]
    /// Types of the mappings in use.
    let types: [MeasurementType]
    /// When the blocks were handed on.
    let now: Instant

    /// Of `taps`, those that show resources.
    init(_ taps: [OpenTap], _ types: [MeasurementType], now: Instant) {
        self.taps = taps.filter { $0.request.stage == .observation }
        (self.types, self.now) = (types, now)
    }

    /// Shows what is in `blocks`.
    func show(_ blocks: [ShardUnit.Block]) {
        var index = EntryIndex()
        for block in blocks {
            block.bytes.withByteView { bytes in
                guard let entries = index.read(bytes) else { return }
                for number in 0..<entries.count { show(entries[number], of: entries) }
            }
        }
    }

    private func show(_ entry: Entry, of block: EntryBlock) {
        // Patients and Devices that are there to be referred to are no news.
        guard !entry.kind.isBare, !entry.isUnwritten, entry.kind != .event else { return }
        let device = entry.device.map { block[$0].identifier }
        for tap in taps where tap.wants(device: device) {
            if let type = tap.type, !entry.isOf(type: type) { continue }
            tap.offer { .observation(resource(entry, of: block)) }
        }
    }

    private func resource(_ entry: Entry, of block: EntryBlock) -> TappedResource {
        var body = ByteWriter(capacity: 1_024)
        if entry.body.count <= TappedResource.mostBytes {
            var form = block.form
            form.format = .ndjson
            block.append(resource: entry, as: form, to: &body)
        }
        return TappedResource(
            time: now, type: type(of: entry), resourceType: entry.type.string,
            device: entry.device.map { block[$0].identifier.array },
            patient: entry.patient.map { block[$0].identifier.array }, size: entry.body.count, body: body.view.array)
    }

    /// The type of the readings of `entry`: the longest name that fits.
    private func type(of entry: Entry) -> String? {
        types.map(\.name).filter { entry.isOf(type: Array($0.utf8)) }.max { $0.utf8.count < $1.utf8.count }
    }
}

extension Entry {
    /// What it is found by, in full.
    fileprivate var identifier: ByteView { whole.count > 0 ? whole : value }

    /// Whether its readings are of the type called `name`, the third part of the identity of an Observation
    /// (docs/identity.md).
    fileprivate func isOf(type name: [UInt8]) -> Bool {
        guard kind != .describedDevice else { return false }
        let identity = identifier.array
        let dot = UInt8(ascii: ".")
        guard let first = identity.firstIndex(of: dot), let second = identity[(first + 1)...].firstIndex(of: dot) else {
            return false
        }
        let rest = identity[(second + 1)...]
        var escaped = ByteWriter(capacity: 64)
        escaped.appendIdentityPart(name)
        return rest.starts(with: escaped.view.array + [dot]) || rest.starts(with: name + [dot])
    }
}
