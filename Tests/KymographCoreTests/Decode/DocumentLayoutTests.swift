import KymographTestKit
import Testing

@testable import KymographCore

/// A document has a known layout if it is that document but for values, which are of as many bytes and the same kind.
@Suite struct DocumentLayoutTests {
    private static let line =
        #"{"device":"dev-00045","ts":1767225600000,"note":"","value":16.8,"zero":0.5,"n":7,"b":11}"#

    /// The document on `line`, whose values are the texts and numbers behind colons.
    private struct Document: ~Copyable {
        var bytes: [UInt8]
        var end: Int
        var values = RawArray<ShapeTree.Value>()
        var count: Int { values.count }

        init(_ line: String, end: String = "\n") {
            bytes = Array((line + end).utf8)
            self.end = line.utf8.count
            var place = 0
            while let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) {
                let isText = bytes[colon + 1] == UInt8(ascii: "\"")
                let start = colon + (isText ? 2 : 1)
                let ends = isText ? "\"" : ",}"
                let stop = bytes[start...].firstIndex { ends.utf8.contains($0) } ?? bytes.count
                let point = isText ? nil : bytes[start..<stop].firstIndex(of: UInt8(ascii: "."))
                values.append(
                    ShapeTree.Value(start: UInt32(start), end: UInt32(stop), point: UInt32(point ?? 0)))
                place = stop
            }
        }
    }

    private func learn(
        _ document: borrowing Document, shape: Int, into layouts: inout DocumentLayouts,
        fork: ShapeTree.ForkPlace = ShapeTree.ForkPlace(), _ ending: DocumentEnding = .space
    ) {
        let storage = PaddedBytes(copying: document.bytes)
        layouts.learn(
            storage.view, line: ending.lineLength(storage.view, limit: DocumentLayouts.longest), shape: shape,
            end: document.end, values: document.values, count: document.count,
            fork: fork)
    }

    private func find(
        _ bytes: [UInt8], in layouts: inout DocumentLayouts, _ ending: DocumentEnding = .space
    ) -> Int {
        let storage = PaddedBytes(copying: bytes)
        return find(storage.view, in: &layouts, ending)
    }

    private func find(_ bytes: ByteView, in layouts: inout DocumentLayouts, _ ending: DocumentEnding) -> Int {
        let line = ending.lineLength(bytes, limit: DocumentLayouts.longest)
        return layouts.find(bytes, line: line, mayBeCut: ending == .newline && line >= bytes.count)
    }

    /// Whether `byte` may be at `place` of a document with the layout of `document`, told byte by byte.
    private func isAllowed(_ byte: UInt8, at place: Int, in document: borrowing Document) -> Bool {
        for index in 0..<document.count {
            let value = document.values[index]
            guard value.range.contains(place), place != Int(value.point) else { continue }
            if document.bytes[Int(value.start) - 1] == UInt8(ascii: "\"") {
                return (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
            let integerEnd = value.point > 0 ? Int(value.point) : Int(value.end)
            let mayBeZero = place > Int(value.start) || integerEnd - Int(value.start) == 1
            return (UInt8(ascii: mayBeZero ? "0" : "1")...UInt8(ascii: "9")).contains(byte)
        }
        return byte == document.bytes[place]
    }

    @Test func eachByteIsLookedAt() {
        let document = Document(DocumentLayoutTests.line)
        for place in 0..<document.end {
            var layouts = DocumentLayouts()
            learn(document, shape: 3, into: &layouts)
            for byte in UInt8(0)...255 {
                var bytes = document.bytes
                bytes[place] = byte
                let expected = isAllowed(byte, at: place, in: document) ? 3 : -1
                #expect(find(bytes, in: &layouts) == expected, "byte \(byte) at \(place)")
            }
        }
    }

    @Test func valuesAreWhereTheyWere() {
        let document = Document(DocumentLayoutTests.line)
        var layouts = DocumentLayouts()
        learn(document, shape: 3, into: &layouts)
        let other = #"{"device":"~ev 12345","ts":9999999999999,"note":"","value":90.0,"zero":9.9,"n":0,"b":99}"#
        #expect(find(Array(other.utf8), in: &layouts) == 3)
        #expect(layouts.end == document.end)
        for place in 0..<document.count {
            #expect(layouts.followed[place].range == document.values[place].range)
            #expect(layouts.followed[place].point == document.values[place].point)
        }
    }

    @Test func theLineMustBeAsLong() {
        let document = Document(DocumentLayoutTests.line)
        var layouts = DocumentLayouts()
        learn(document, shape: 3, into: &layouts)
        for end in ["\r\n", " \n", "}\n", " "] {
            #expect(find(Array((DocumentLayoutTests.line + end).utf8), in: &layouts) == -1)
        }
        #expect(find(Array((DocumentLayoutTests.line + "\n{\"other\":1}").utf8), in: &layouts) == 3)
        #expect(find(Array(DocumentLayoutTests.line.utf8.dropLast()), in: &layouts) == -1)
        #expect(find([], in: &layouts) == -1)
    }

    @Test func linesOfTheSameLengthTakeTurns() {
        let (one, other) = (#"{"a":12,"b":3}"#, #"{"a":1,"b":23}"#)
        var layouts = DocumentLayouts()
        learn(Document(one), shape: 1, into: &layouts)
        learn(Document(other), shape: 1, into: &layouts)
        for _ in 0..<5 {
            #expect(find(Array(one.utf8), in: &layouts) == 1)
            #expect(layouts.followed[0].range == 5..<7)
            #expect(find(Array(other.utf8), in: &layouts) == 1)
            #expect(layouts.followed[0].range == 5..<6)
        }
    }

    @Test func whatToldShapesApartTellsLayoutsApart() {
        let kinds = ["hr", "bp", "sp", "rr"].map { "{\"type\":\"\($0)\",\"value\":72}" }
        var layouts = DocumentLayouts()
        // What was learnt before the shapes were told apart is learnt again.
        learn(Document(kinds[0]), shape: 0, into: &layouts)
        let fork = ShapeTree.ForkPlace(offset: 9, mask: 0xFFFF)
        for (shape, kind) in kinds.enumerated() {
            var document = Document(kind)
            // The type is part of the shape.
            let value = document.values[1]
            document.values.removeAll()
            document.values.append(value)
            learn(document, shape: shape, into: &layouts, fork: fork)
        }
        for (shape, kind) in kinds.enumerated() { #expect(find(Array(kind.utf8), in: &layouts) == shape) }
    }

    @Test func whatIsTooLongIsNotLearnt() {
        let long = Document(#"{"device":""# + String(repeating: "d", count: 300) + #"","value":1}"#)
        let many = Document("{" + (0..<17).map { "\"\($0)\":\($0)" }.joined(separator: ",") + "}")
        var layouts = DocumentLayouts()
        learn(long, shape: 1, into: &layouts)
        learn(many, shape: 2, into: &layouts)
        #expect(find(long.bytes, in: &layouts) == -1)
        #expect(find(many.bytes, in: &layouts) == -1)
    }

    @Test func nobodyLooksWhereMostHaveNone() {
        let document = Document(DocumentLayoutTests.line)
        var layouts = DocumentLayouts()
        learn(document, shape: 3, into: &layouts)
        var looks = 0
        while layouts.looks(), looks < 10_000 {
            looks += 1
            _ = find(Array("{}".utf8), in: &layouts)
        }
        #expect(looks > 100 && looks < 1_000)
        var rests = 1
        while !layouts.looks(), rests < 100_000 { rests += 1 }
        #expect(rests > 10_000 && rests < 100_000)
        #expect(find(document.bytes, in: &layouts) == -1)
        learn(document, shape: 4, into: &layouts)
        #expect(find(document.bytes, in: &layouts) == 4)
    }

    /// A device may send each line in pieces.
    @Test func whatIsCutOffSaysNothing() {
        let document = Document(DocumentLayoutTests.line)
        var layouts = DocumentLayouts()
        learn(document, shape: 3, into: &layouts)
        for count in (0..<document.end).flatMap({ count in (0..<20).map { _ in count } }) {
            let looks = layouts.looks()
            #expect(looks)
            #expect(find(Array(document.bytes[..<count]), in: &layouts, .newline) == -1)
        }
        #expect(find(document.bytes, in: &layouts, .newline) == 3)
    }

    /// Elements of an array follow each other without newlines; what is behind the bytes at hand is none of them.
    @Test func elementsEndWithTheirBrace() {
        let document = Document(DocumentLayoutTests.line)
        var layouts = DocumentLayouts()
        learn(document, shape: 3, into: &layouts, .element)
        let element = Array(DocumentLayoutTests.line.utf8)
        #expect(find(element + Array(",\(DocumentLayoutTests.line)]\n".utf8), in: &layouts, .element) == 3)
        #expect(find(element + Array("]".utf8), in: &layouts, .element) == 3)
        let storage = PaddedBytes(copying: element + Array("]".utf8))
        for count in 0..<element.count {
            let found = find(storage.view[0..<count], in: &layouts, .element)
            #expect(found == -1, "of \(count) bytes")
        }
        #expect(find(storage.view[0..<element.count], in: &layouts, .element) == 3)
    }

    @Test func moreThanAreKeptAreFollowed() {
        var layouts = DocumentLayouts()
        let lines = (1...100).map { "{\"n\":1" + String(repeating: "0", count: $0) + "}" }
        for (shape, line) in lines.enumerated() { learn(Document(line), shape: shape, into: &layouts) }
        let found = lines.indices.filter { find(Array(lines[$0].utf8), in: &layouts) == $0 }
        #expect(found.count > 32 && found.count <= DocumentLayouts.most)
    }
}
