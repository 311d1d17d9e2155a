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

    /// The first of both, and whether that is all: what a union of many lists costs does not grow with them.
    @Test func firstOfUnions() {
        let tags = (0..<40).map { "t\(100 + $0)" }
        for most in [0, 1, 7, 39, 40, 41] {
            var all = ByteWriter()
            var isAll = true
            for number in 0..<40 {
                var next = ByteWriter()
                ReadingTags.list([tags[number * 7 % 40], tags[39 - number]]).withByteView {
                    if !ReadingTags.appendUnion(all.view, $0, most: most, to: &next) { isAll = false }
                }
                swap(&all, &next)
                #expect(ReadingTags.texts(all.view).count <= most)
            }
            #expect(ReadingTags.texts(all.view) == Array(tags.prefix(most)) && isAll == (most >= 40))
        }
    }

    /// Behind all values of a reading, and in their place when they change.
    @Test func theyAreBehindTheValues() {
        var payload = ByteWriter()
        Array("text".utf8).withByteView { ValueRecord.append(slot: 7, text: $0, to: &payload) }
        var first = ByteWriter()
        ReadingTags.list(["b"]).withByteView { _ = ReadingTags.append(payload.view, adding: $0, to: &first) }
        var second = ByteWriter()
        ReadingTags.list(["a"]).withByteView { _ = ReadingTags.append(first.view, adding: $0, to: &second) }
        #expect(ReadingTags.texts(ReadingTags.list(in: second.view)) == ["a", "b"])
        #expect(ValueRecord.find(7, in: second.view).map { second.view[$0.bytes].string } == "text")
        var none = ByteWriter()
        ReadingTags.append(second.view, with: ByteView(""), to: &none)
        #expect(none.view.array == payload.view.array)
        #expect(ReadingTags.list(in: payload.view).count == 0)
    }

    /// Eight long tags that no other number has.
    private static func tags(_ number: Int) -> [UInt8] {
        ReadingTags.list((0..<8).map { "\(100 + number)-\($0)-" + String(repeating: "x", count: 194) })
    }

    @Test func unionsHaveABound() {
        var payload = ByteWriter()
        for number in 0..<64 {
            var next = ByteWriter()
            var isAdded = false
            Self.tags(number).withByteView { isAdded = ReadingTags.append(payload.view, adding: $0, to: &next) }
            let count = next.count
            #expect(isAdded == (number < 2) && isAdded == (count > 0))
            if isAdded { swap(&payload, &next) }
        }
        #expect(ReadingTags.texts(ReadingTags.list(in: payload.view)).count == 16)
    }

    /// However often a reading is corrected, moved or sent again with other tags, those stay that it had first.
    @Test(arguments: [(SameInstant.latest, false), (.keep, true), (.merge, false)])
    func correctionsHaveABound(_ mode: SameInstant, moves: Bool) throws {
        var run = WindowRun(sameInstant: mode, idSlot: moves ? 9 : nil)
        for number in 0..<64 {
            let at = moves ? Int64(number % 2) * second : 0
            var reading = TestReading(instant: at, received: Int64(number) * second)
            reading.values[0] = .number(mode == .merge ? 1 : Int64(number), 0)
            if moves { reading.values[9] = .text("a") }
            reading.values[ReadingTags.slot] = .text(String(decoding: Self.tags(number), as: UTF8.self))
            let outcome = run.add(reading)
            #expect(number == 0 ? outcome == .accepted : outcome == (mode == .merge ? .duplicate : .replaced))
        }
        run.machine.drain()
        var found: [[String]] = []
        while let emission = run.machine.nextEmission() {
            let content = run.machine.content(of: emission)
            for index in 0..<content.readings.count {
                found.append(ReadingTags.texts(ReadingTags.list(in: content.readings.payload(index))))
            }
            run.machine.settle(emission)
        }
        #expect(found == [(0..<2).flatMap { number in Self.tags(number).withByteView { ReadingTags.texts($0) } }])
    }
}
