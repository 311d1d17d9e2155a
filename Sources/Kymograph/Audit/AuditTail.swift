import Glibc
import KymographCore

/// Reads a trail on from where it was read before. The chain is not checked: that is for ``AuditReader``.
struct AuditTail {
    /// A record, and the digest that names it.
    struct Item: Sendable {
        var record: AuditRecord
        var digest: String

        var head: AuditHead { AuditHead(sequence: record.sequence, digest: digest) }
    }

    /// Bytes that are read at a time, at least one line.
    private static let most = 1 << 20

    private let folder: AuditFolder
    /// Where the record was that was given last.
    private var place: Place?

    /// Behind a record in a file.
    private struct Place {
        var head: AuditHead
        var name: String
        var offset: Int
    }

    /// Of the trail in `dataDirectory`.
    init(dataDirectory: String) { folder = AuditFolder(dataDirectory: dataDirectory) }

    /// Some records behind `head`, in order; none at the end. Of a trail that has gone on without it, because its first
    /// files were taken away, the first there are; of one that was made from scratch since, those from the first on.
    /// Lines that are no records, such as a crash leaves, are passed over.
    ///
    /// - Throws: ``AuditError`` when a file cannot be read.
    mutating func records(after head: AuditHead) throws(AuditError) -> [Item] {
        guard let files = try folder.opened() else { return [] }
        defer { withExtendedLifetime(files) {} }
        // What is being written may be taken back.
        try files.lock()
        let names = try files.names()
        guard let earliest = names.first else { return [] }
        if try !isThere(head, names, files) { place = try find(head, names, files) }
        var start = place ?? Place(head: head, name: earliest.name, offset: 0)
        for (name, _) in names.drop(while: { $0.name != start.name }) {
            if name != start.name { start = Place(head: head, name: name, offset: 0) }
            let (items, end) = try read(start, files)
            guard let last = items.last else { continue }
            place = Place(head: last.head, name: name, offset: end)
            return items
        }
        return []
    }

    /// Whether ``place`` is behind `head`, in a file that is there and is as long as it was.
    private func isThere(
        _ head: AuditHead, _ names: [(name: String, first: Int)], _ files: AuditFiles
    ) throws(AuditError) -> Bool {
        guard let place, place.head == head, names.contains(where: { $0.name == place.name }) else { return false }
        return try files.open(place.name).size >= place.offset
    }

    /// The place behind `head`; nil where the trail does not have it.
    private func find(
        _ head: AuditHead, _ names: [(name: String, first: Int)], _ files: AuditFiles
    ) throws(AuditError) -> Place? {
        guard head.sequence > 0, let index = names.lastIndex(where: { $0.first <= head.sequence }) else { return nil }
        // A trail that was merged may have a number in several files.
        for (name, _) in names[index...] {
            var place = Place(head: head, name: name, offset: 0)
            while true {
                let (items, end) = try read(place, files) { $0 == head }
                guard let last = items.last else { break }
                place.offset = end
                if last.head == head { return place }
            }
        }
        return nil
    }

    /// The records from `place` on, up to one that `isLast`, and where they end.
    private func read(
        _ place: Place, _ files: AuditFiles, until isLast: (AuditHead) -> Bool = { _ in false }
    ) throws(AuditError) -> (items: [Item], end: Int) {
        let bytes = try files.lines(of: place.name, from: place.offset, most: Self.most)
        var (items, end) = ([Item](), place.offset)
        var start = bytes.startIndex
        while let stop = bytes[start...].firstIndex(of: 0x0A) {
            if let (record, digest) = AuditRecord.read(Array(bytes[start..<stop])) {
                items.append(Item(record: record, digest: digest))
                end = place.offset + stop + 1
                if isLast(items[items.count - 1].head) { break }
            }
            start = stop + 1
        }
        return (items, end)
    }
}
