import FoundationEssentials
@testable import Kymograph
@testable import KymographCore

/// What a store has, behind right checksums: damage that they do not tell.
extension FuzzTarget {
    static let storage = [
        FuzzTarget(name: "window-block", longest: 1_024, run: windowBlock),
        FuzzTarget(name: "journal-block", longest: 1_024, run: journalBlock),
        FuzzTarget(name: "entry-block", longest: 1_024, run: entryBlock),
        FuzzTarget(name: "stored-body", longest: 1_024, run: storedBody),
    ]

    /// A block that is whole opens a window, whose own block has the same readings.
    private static func windowBlock(_ bytes: [UInt8]) {
        let checksum = bytes.withByteView(WindowBlockFormat.checksum)
        let block = bytes + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> UInt32($0 * 8)) }
        let readings = decode(block)
        var table = WindowTable(settings: WindowSettings())
        table.append(MeasurementType(name: "type", valueNames: [], grouping: .correlation, isNumeric: []))
        guard let window = block.withByteView({ table.restore(series: 0, span: .always, block: $0) }) else {
            demand(table.windows.count == 0 && table.runs.count == 0, "something is left of a window")
            return
        }
        demand(readings != nil, "a block that cannot be decoded opens a window")
        var writer = ByteWriter()
        table.pack(window, into: &writer)
        let packed = decode(writer.view.array)
        demand(packed?.count == readings?.count, "\(readings?.count ?? -1) readings become \(packed?.count ?? -1)")
    }

    private static func decode(_ block: [UInt8]) -> [Measurement]? {
        block.withByteView { view in
            guard var decoder = WindowBlockDecoder(view) else { return nil }
            var readings: [Measurement] = []
            while let reading = decoder.next() {
                demand(decoder.payload.count <= block.count, "a payload is longer than the block")
                readings.append(reading)
            }
            return decoder.isComplete ? readings : nil
        }
    }

    private static func journalBlock(_ bytes: [UInt8]) {
        bytes.withByteView { view in
            guard var reader = JournalReader(view) else { return }
            var count = 0
            while let record = reader.next() {
                demand(record.series >= 0 && record.payload.count <= bytes.count, "series \(record.series)")
                count += 1
            }
            demand(count <= reader.count, "\(count) readings of \(reader.count)")
        }
    }

    /// The entries of a block lie in it, and refer to entries of it.
    private static func entryBlock(_ bytes: [UInt8]) {
        var block = bytes
        // The right number of bytes, so that an input may have any.
        if block.count >= EntryLayout.blockHead {
            for place in 0..<4 { block[12 + place] = UInt8(truncatingIfNeeded: block.count >> (8 * place)) }
        }
        block.withByteView { view in
            var index = EntryIndex()
            guard let entries = index.read(view) else { return }
            var sum = 0
            for number in 0..<entries.count {
                let entry = entries[number]
                for part in [entry.body, entry.type, entry.id, entry.fullURL, entry.system, entry.value, entry.whole] {
                    sum += part.array.count
                }
                sum += entry.encounter.map { $0.system.array.count + $0.value.array.count } ?? 0
                for place in 0..<entry.referenceCount {
                    let reference = entry.reference(place)
                    demand(reference.place <= entry.body.count, "a Reference at \(reference.place)")
                    demand(
                        reference.role == .encounter || (0..<entries.count).contains(reference.target),
                        "a Reference to entry \(reference.target)")
                }
                for other in [entry.patient, entry.device, entry.gateway] {
                    demand(other.map { (0..<entries.count).contains($0) } ?? true, "entry \(other ?? 0)")
                }
            }
            demand(sum <= block.count, "\(sum) bytes of \(block.count)")
        }
    }

    /// A body of either codec behind its right checksum, which is read in both ways alike.
    private static func storedBody(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let codec = input.choice(3)
        let data = Data(input.rest)
        let checksum = Int64(BodyCompressor.checksum(data))
        let content = StoredBody.content(codec: codec, key: 0, checksum: checksum, bytes: data)
        var writer = ByteWriter()
        let isAppended = input.rest.withByteView {
            StoredBody.append(codec: codec, key: 0, checksum: checksum, bytes: $0, to: &writer)
        }
        demand(isAppended == (content != nil) && (content ?? []) == writer.view.array, "the two ways differ")
    }
}
