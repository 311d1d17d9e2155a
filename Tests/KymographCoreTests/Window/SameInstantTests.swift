@testable import KymographCore
import Testing
import TrialSupport

/// Several readings of one instant, and readings that come again: what a window holds of them.
@Suite struct SameInstantTests {
    static let idSlot = 9

    /// A reading of one number, perhaps with a length in seconds and an id.
    static func reading(
        _ at: Int64, _ value: Int64, id: String? = nil, length: Int64? = nil, received: Int64 = 0
    ) -> TestReading {
        var values: [Int: TestValue] = [0: .number(value, 0)]
        if let length { values[2] = .number(length * second, 0) }
        if let id { values[idSlot] = .text(id) }
        return TestReading(instant: at * second, received: received * second, values: values)
    }

    static func run(
        _ sameInstant: SameInstant, _ grouping: Grouping = .tumbling(nanoseconds: minute)
    ) -> WindowRun {
        WindowRun(grouping, sameInstant: sameInstant, idSlot: idSlot)
    }

    /// Values of a window's content in its order.
    static func values(_ content: String?) -> [Int64] {
        (content ?? "").split(separator: "\n").compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("0=") }.flatMap { Int64($0.dropFirst(2).dropLast(2)) }
        }
    }

    /// Catches: a window that has one place per instant (50 and 7 gave 7).
    @Test func readingsOfOneEndAndOtherStartsAreAllThere() {
        var run = Self.run(.keep)
        run.play([Self.reading(10, 50, length: 60), Self.reading(10, 7, length: 30), Self.reading(10, 7, length: 30)])
        #expect(Self.values(run.last.values.first) == [50, 7])
        #expect(run.outcomes == [.accepted, .accepted, .duplicate])
    }

    /// Catches: an id that does not tell readings apart, or tells them apart from themselves.
    @Test func idsTellReadingsApart() {
        var run = Self.run(.keep)
        run.play([
            Self.reading(10, 5, id: "a"), Self.reading(10, 5, id: "b"), Self.reading(10, 5, id: "a"),
            Self.reading(10, 6, id: "b", received: 1),
        ])
        #expect(Self.values(run.last.values.first) == [5, 6])
        #expect(run.outcomes == [.accepted, .accepted, .duplicate, .replaced])
    }

    @Test(arguments: [SameInstant.keep, .latest, .reject]) func othersAreKeptReplacedOrRefused(_ mode: SameInstant) {
        var run = Self.run(mode)
        let readings = [Self.reading(10, 1, received: 1), Self.reading(10, 2, received: 2)]
        run.play(readings + [Self.reading(10, 2, received: 3)])
        let expected: [SameInstant: ([Int64], [ReadingOutcome])] = [
            .keep: ([1, 2], [.accepted, .accepted, .duplicate]),
            .latest: ([2], [.accepted, .replaced, .duplicate]),
            .reject: ([1], [.accepted, .rejected(.superseded), .rejected(.superseded)]),
        ]
        #expect(Self.values(run.last.values.first) == expected[mode]?.0)
        #expect(run.outcomes == expected[mode]?.1)
    }

    /// Catches: values of two payloads in one reading of an Observation.
    @Test func aReadingThatTakesThePlaceOfAnotherDoesSoAsAWhole() {
        var run = Self.run(.latest, .instance)
        var first = TestReading.at(10, 120, received: 1)
        first.values[1] = .number(80, 0)
        run.play([first, .at(10, 130, received: 2)])
        #expect(run.shown.last?.content == "10000000000 -32768 0=130e0")
        #expect(run.shown.map(\.status) == [.final, .amended])
        #expect(run.superseded == (120, 10))
    }

    @Test(arguments: [Grouping.instance, .correlation, .tumbling(nanoseconds: minute)])
    func whatIsUsual(_ grouping: Grouping) {
        #expect(SameInstant.usual(grouping, .iomtFHIR) == .latest)
        #expect(SameInstant.usual(grouping, .none) == (grouping == .instance ? .latest : .keep))
    }

    /// Catches: a part of a reading that counts as a further one, and one that hides what it is not a part of.
    @Test func whatSaysNothingElseIsAPart() {
        var run = Self.run(.keep)
        func of(_ slots: [Int: Int64]) -> TestReading {
            TestReading(instant: second, received: 0, values: slots.mapValues { .number($0, 0) })
        }
        run.play([of([0: 1]), of([1: 5]), of([1: 5]), of([0: 2]), of([0: 1, 1: 5]), of([0: 1, 1: 6])])
        let lines = (run.last.values.first ?? "").split(separator: "\n").map { String($0.dropFirst(18)) }
        #expect(Set(lines) == ["0=1e0 1=5e0", "0=2e0 1=6e0"] || Set(lines) == ["0=1e0 1=5e0", "0=2e0", "0=1e0 1=6e0"])
        #expect(run.outcomes.prefix(3) == [.accepted, .accepted, .duplicate])
    }

    /// Catches: a reading that stays in its old window, or whose old window is not written again.
    @Test func aReadingMovesToAnotherWindow() {
        var run = Self.run(.keep)
        run.play([Self.reading(10, 1, id: "a"), Self.reading(20, 2, id: "b"), Self.reading(130, 4, id: "c")])
        run.play([Self.reading(140, 8, id: "a", received: 1)])
        #expect(run.outcomes.last == .replaced && run.superseded == (1, 10))
        #expect(Self.values(run.last[WindowName(series: 0, start: 0)]) == [2])
        #expect(Self.values(run.last[WindowName(series: 0, start: 2 * minute)]) == [4, 8])
        #expect(run.statuses(0) == [.final, .amended])
    }

    /// Catches: an Observation of a window that has no reading any more, and stays as it was.
    @Test func anEmptiedWindowWasAnError() {
        var run = Self.run(.keep)
        run.play([Self.reading(10, 1, id: "a")])
        run.play([Self.reading(70, 1, id: "a", received: 1)])
        #expect(run.statuses(0) == [.final, .enteredInError])
        #expect(run.last[WindowName(series: 0, start: 0)]?.isEmpty == true)
        run.play([Self.reading(11, 3, id: "b", received: 2)])
        #expect(Self.values(run.last[WindowName(series: 0, start: 0)]) == [3])
    }

    /// Catches: an older version that comes late and takes the place of the newer.
    @Test func theOlderVersionIsRefused() {
        var run = Self.run(.keep)
        run.play([Self.reading(10, 1, id: "a", received: 5), Self.reading(70, 2, id: "a", received: 4)])
        #expect(run.outcomes.last == .rejected(.superseded))
        #expect(run.last.count == 1)
    }

    /// Catches: an Observation of one reading that a move leaves behind, or that says `final` twice.
    @Test func aReadingOfItsOwnMovesAndIsAmended() {
        var run = Self.run(.latest, .instance)
        run.play([Self.reading(10, 1, id: "a"), Self.reading(11, 1, id: "b")])
        run.play([Self.reading(900, 2, id: "a", received: 1)])
        #expect(run.shown.map(\.status) == [.final, .final, .amended])
        #expect(run.shown.last?.name.start == 900 * second)
    }

    /// What must be there in the end, kept in one list.
    struct Model {
        struct Entry: Equatable {
            var instant: Int64
            var value: Int64
            var length: Int64?
            var id: String?
            var received: Int64
        }

        let mode: SameInstant
        private(set) var entries: [Entry] = []
        private(set) var superseded = 0

        init(_ mode: SameInstant) { self.mode = mode }

        private func isSame(_ one: Entry, _ other: Entry) -> Bool {
            one.instant == other.instant && one.value == other.value && one.length == other.length
        }

        private mutating func settle(_ entry: Entry, over place: Int) {
            superseded += 1
            if entry.received >= entries[place].received { entries[place] = entry }
        }

        mutating func add(_ entry: Entry) {
            let rivals = entries.indices.filter { place in
                entry.id.map { $0 == entries[place].id }
                    ?? (entries[place].id == nil && entries[place].instant == entry.instant
                        && entries[place].length == entry.length)
            }
            if let same = rivals.first(where: { isSame(entries[$0], entry) }) {
                let received = [entries[same].received, entry.received]
                entries[same].received = (mode == .reject && entry.id == nil ? received.min() : received.max()) ?? 0
            } else if let rival = rivals.first, entry.id != nil || mode == .latest {
                settle(entry, over: rival)
            } else if let rival = rivals.first, mode == .reject {
                superseded += 1
                if entry.received < entries[rival].received { entries[rival] = entry }
            } else {
                entries.append(entry)
            }
        }

        /// Values by window.
        var contents: [Int64: [Int64]] {
            Dictionary(grouping: entries) { $0.instant / 60 * minute }.mapValues { $0.map(\.value).sorted() }
        }
    }

    /// Random readings with keys, times, values and ids, taken and archived now and then, against the list. Few and many:
    /// the long windows are packed.
    @Test(arguments: [SameInstant.keep, .latest, .reject]) func windowsHoldWhatTheListHolds(_ mode: SameInstant) {
        for seed in Trials.seeds(tenthOf: 400) {
            var random = WindowRandom(seed: seed)
            let (count, seconds) = seed % 20 == 0 ? (600, 59) : (random.int(2...40), 150)
            var settings = WindowSettings(lateness: 30 * second)
            if seed % 2 == 0 { settings.packingSizeClass = 4 }
            var run = WindowRun(settings: settings, sameInstant: mode, idSlot: Self.idSlot)
            var model = Model(mode)
            var superseded = 0
            for index in 0..<count {
                var entry = Model.Entry(
                    instant: Int64(random.int(0...seconds)), value: Int64(random.int(1...4)),
                    received: Int64(index + 10 * random.int(0...1)))
                if random.once(in: 3) { entry.id = "id \(random.int(0...9))" }
                if random.once(in: 3) { entry.length = Int64(random.int(1...2)) }
                model.add(entry)
                let outcome = run.add(
                    Self.reading(
                        entry.instant, entry.value, id: entry.id, length: entry.length, received: entry.received))
                if outcome == .replaced || outcome == .rejected(.superseded) { superseded += 1 }
                if random.once(in: 4) { run.take() }
                if random.once(in: 12) { run.finish() }
            }
            run.finish()
            let found = run.last.filter { !$0.value.isEmpty }.map { ($0.key.start, Self.values($0.value).sorted()) }
            #expect(Dictionary(uniqueKeysWithValues: found) == model.contents, "seed \(seed)")
            #expect(superseded == model.superseded, "seed \(seed)")
        }
    }
}
