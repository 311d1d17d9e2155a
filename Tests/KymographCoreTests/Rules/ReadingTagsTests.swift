import KymographCore
import Testing

/// Tags of readings.
@Suite struct ReadingTagsTests {
    private func union(_ one: [String], _ other: [String]) -> [String] {
        var writer = ByteWriter()
        ReadingTags.list(one).withByteView { mine in
            ReadingTags.list(other).withByteView { ReadingTags.appendUnion(mine, $0, to: &writer) }
        }
        return ReadingTags.texts(writer.view)
    }

    /// Sorted by their bytes, each once, whichever comes first.
    @Test(
        arguments: [
            ([], [], []), (["a"], [], ["a"]), (["b", "a", "b"], ["c"], ["a", "b", "c"]),
            (["a", "c"], ["b", "c"], ["a", "b", "c"]),
            (["a"], ["ab"], ["a", "ab"]), (["urn:x|b"], ["urn:x|a", "zz"], ["urn:x|a", "urn:x|b", "zz"]),
        ] as [([String], [String], [String])])
    func unions(_ one: [String], _ other: [String], _ all: [String]) {
        #expect(union(one, other) == all && union(other, one) == all)
        #expect(union(all, one) == all && union(all, all) == all)
    }

    /// Behind all values of a reading, and in their place when they change.
    @Test func theyAreBehindTheValues() {
        var payload = ByteWriter()
        Array("text".utf8).withByteView { ValueRecord.append(slot: 7, text: $0, to: &payload) }
        var first = ByteWriter()
        ReadingTags.list(["b"]).withByteView { ReadingTags.append(payload.view, adding: $0, to: &first) }
        var second = ByteWriter()
        ReadingTags.list(["a"]).withByteView { ReadingTags.append(first.view, adding: $0, to: &second) }
        #expect(ReadingTags.texts(ReadingTags.list(in: second.view)) == ["a", "b"])
        #expect(ValueRecord.find(7, in: second.view).map { second.view[$0.bytes].string } == "text")
        var none = ByteWriter()
        ReadingTags.append(second.view, with: ByteView(""), to: &none)
        #expect(none.view.array == payload.view.array)
        #expect(ReadingTags.list(in: payload.view).count == 0)
    }
}
