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

    /// Records that are given at least, as far as there are so many: one, and those by which an outage is told from a
    /// record that fails for good.
    static let least = 9

    /// Bytes that are read at a time, at least one line.
    private let most: Int
    private let folder: AuditFolder
    /// Where the records are behind which it was asked for more, and those that it has given then.
    private var places: [Place] = []

    /// Behind a record in a file.
    private struct Place {
        var head: AuditHead
        var file: AuditFileMark
        var offset: Int
    }

    /// Of the trail in `dataDirectory`. Reads about `most` bytes at a time.
    init(dataDirectory: String, most: Int = 1 << 20) {
        folder = AuditFolder(dataDirectory: dataDirectory)
        self.most = most
    }

    /// Some records behind `head`, in order, ``least`` where there are so many; none at the end. Of a trail that has
    /// gone on without it, because its first files were taken away, the first there are; of one that was made
    /// from scratch since, those from the first on. Lines that are no records, such as a crash leaves, are passed over.
    ///
    /// - Throws: ``AuditError`` when a file cannot be read.
    mutating func records(after head: AuditHead) throws(AuditError) -> [Item] {
        guard let files = try folder.opened() else { return forget() }
        defer { withExtendedLifetime(files) {} }
        let marks = try files.marks()
        guard let earliest = marks.first else { return forget() }
        let known = places.first { place in
            place.head == head && marks.contains { $0.isSame(as: place.file) && $0.size >= place.offset }
        }
        var start = Place(head: head, file: earliest, offset: 0)
        if let known {
            start = known
        } else if let found = try find(head, marks, files) {
            start = found
        }
        places = [start]
        var given: [Item] = []
        for file in marks.drop(while: { !$0.isSame(as: start.file) }) {
            if !file.isSame(as: start.file) { start = Place(head: head, file: file, offset: 0) }
            while let found = try read(start, files) {
                places += found.items.map { Place(head: $0.item.head, file: file, offset: $0.end) }
                given += found.items.map(\.item)
                if given.count >= Self.least { return given }
                start.offset = found.end
            }
        }
        return given
    }

    private mutating func forget() -> [Item] {
        places = []
        return []
    }

    /// The place behind `head`; nil where the trail does not have it.
    private func find(
        _ head: AuditHead, _ marks: [AuditFileMark], _ files: AuditFiles
    ) throws(AuditError) -> Place? {
        guard head.sequence > 0, let index = marks.lastIndex(where: { $0.first <= head.sequence }) else { return nil }
        // A trail that was merged may have a number in several files.
        for file in marks[index...] {
            var place = Place(head: head, file: file, offset: 0)
            while let (items, end) = try read(place, files) {
                if let found = items.first(where: { $0.item.head == head }) {
                    return Place(head: head, file: file, offset: found.end)
                }
                place.offset = end
            }
        }
        return nil
    }

    /// The records of the next whole lines from `place` on, each with where it ends, and where all end; nil without any
    /// line.
    private func read(
        _ place: Place, _ files: AuditFiles
    ) throws(AuditError) -> (items: [(item: Item, end: Int)], end: Int)? {
        let bytes = try files.lines(of: place.file.name, from: place.offset, most: most)
        var items: [(item: Item, end: Int)] = []
        var start = bytes.startIndex
        while let stop = bytes[start...].firstIndex(of: 0x0A) {
            if let (record, digest) = AuditRecord.read(Array(bytes[start..<stop])) {
                items.append((Item(record: record, digest: digest), place.offset + stop + 1))
            }
            start = stop + 1
        }
        return start == 0 ? nil : (items, place.offset + start)
    }
}
