/// Documents by shape: what remains of a document when its numbers, times and identifiers are taken out.
struct DocumentShapes {
    /// The documents of each shape, in their order; frequent shapes first.
    private let groups: [[[UInt8]]]

    init(_ documents: [[UInt8]]) {
        var places: [[UInt8]: Int] = [:]
        var groups: [[[UInt8]]] = []
        for document in documents {
            let shape = DocumentShapes.shape(of: document)
            if let place = places[shape] {
                groups[place].append(document)
            } else {
                places[shape] = groups.count
                groups.append([document])
            }
        }
        // Equal counts keep their order, so that equal documents give equal dictionaries.
        self.groups = groups.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
            .map(\.element)
    }

    /// Whole documents of at most `maxBytes`: the first of every shape, then the second, and so on. The most frequent
    /// ones are at the end, where distances to them are short.
    func content(maxBytes: Int) -> [UInt8] {
        var chosen: [[[UInt8]]] = groups.map { _ in [] }
        var room = maxBytes
        for turn in 0..<16 {
            for (place, group) in groups.enumerated() where turn < group.count && group[turn].count <= room {
                chosen[place].append(group[turn])
                room -= group[turn].count
            }
        }
        return Array(chosen.reversed().joined().joined())
    }

    /// The document with each run of words that hold a digit, or are one letter, as one mark.
    static func shape(of document: [UInt8]) -> [UInt8] {
        var shape: [UInt8] = []
        var index = 0
        while index < document.count {
            let start = index
            while index < document.count, isWord(document[index]) { index += 1 }
            let word = document[start..<index]
            if word.count == 1 || word.contains(where: { (48...57).contains($0) }) {
                while let last = shape.last, " .:-+#".utf8.contains(last) { shape.removeLast() }
                shape.append(UInt8(ascii: "#"))
            } else {
                shape += word
            }
            if index < document.count, !isWord(document[index]) {
                shape.append(document[index])
                index += 1
            }
        }
        return shape
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte >= 0x80
    }
}
