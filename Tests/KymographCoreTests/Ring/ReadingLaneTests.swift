import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// What a lane puts into its rings, whichever of its ways a reading takes: staged with others, or at once.
@Suite struct ReadingLaneTests {
    /// Empties rings when they are full, and keeps what was in them.
    private final class Rings: LaneEvents {
        let rings: [Ring]
        private var consumers: [Int: [SeriesIdentity]] = [:]
        /// For each shard, in the order of its ring: who sent what when.
        private(set) var readings: [[String]]
        private(set) var refused: [String] = []
        private(set) var received = 0
        /// What was received, by the numbers of sources.
        private(set) var bySource: [Int: Int] = [:]
        private(set) var routed = 0
        /// Records taken out of the rings before they were reported as put in.
        private(set) var early = 0
        private(set) var waits = 0
        /// Numbers of the counts that have ended, for each shard.
        private(set) var counts: [[Int]]
        /// Readings that were shown to a tap.
        private(set) var tapped: [String] = []

        init(shards: Int) {
            rings = (0..<shards).map { _ in Ring(capacity: 512) }
            readings = Array(repeating: [], count: shards)
            counts = Array(repeating: [], count: shards)
        }

        func drain(_ shard: Int) {
            var consumer = RingConsumer(rings[shard])
            while let record = consumer.next() {
                if record.kind == RecordKind.definition.rawValue {
                    consumers[shard, default: []].append(SeriesKey.identity(consumer.payload(of: record)))
                    continue
                }
                if record.kind == RecordKind.mappings.rawValue { continue }
                if record.kind == RecordKind.countEnd.rawValue {
                    counts[shard].append(Int(record.received.nanoseconds))
                    continue
                }
                let identity = consumers[shard, default: []][Int(record.series)]
                readings[shard].append(Rings.text(record, consumer.payload(of: record), identity))
            }
            consumer.release()
            if readings.map(\.count).reduce(0, +) > routed { early += 1 }
        }

        private static func text(_ record: Measurement, _ payload: ByteView, _ identity: SeriesIdentity) -> String {
            let value = record.inline(0).map { "\($0.mantissa)" } ?? payload.string.suffix(4)
            let device = String(decoding: identity.device, as: UTF8.self)
            return "\(record.instant.nanoseconds / 1_000_000) \(device) \(value)"
        }

        func tapped(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int) {
            tapped.append(Rings.text(measurement, payload, SeriesKey.identity(key)))
        }

        func rejected(
            _ reason: Rejection, bytes: ByteView, source: Int, received: Instant, lead: Int64, detail: RejectionDetail
        ) {
            refused.append("\(reason) \(bytes.string)")
        }
        func received(_ count: Int, source: Int) {
            received += count
            bySource[source, default: 0] += count
        }
        func noted(_ notes: MappingNotes, source: Int) {}
        func routed(_ count: Int) { routed += count }
        func wake(shard: Int) {}
        func waitForRoom(shard: Int) -> Bool {
            waits += 1
            drain(shard)
            return true
        }
    }

    private static func mapping() throws -> MappingRun {
        let template = { (name: String, value: String) in
            """
            {"templateType":"JsonPathContent","template":{"typeName":"\(name)","typeMatchExpression":"$..[?(@.\(value))]",
            "deviceIdExpression":"$.device","timestampExpression":"$.ts","timestampFormat":"epoch-ms",
            "values":[{"valueName":"x","valueExpression":"$.\(value)","required":true}]}}
            """
        }
        let fhir = { (name: String, type: String) in
            """
            {"templateType":"CodeValueFhir","template":{"typeName":"\(name)","codes":[{"code":"c"}],
            "value":{"valueType":"\(type)","valueName":"x"}}}
            """
        }
        return try MappingRun(
            device: """
                {"templateType":"CollectionContent","template":[\(template("rate", "rate")),\(template("note", "note"))]}
                """,
            fhir: """
                {"templateType":"CollectionFhir","template":[\(fhir("rate", "Quantity")),\(fhir("note", "String"))]}
                """)
    }

    /// Readings of devices whose names are 1 to 60 bytes long: the keys of some are short, those of others are not.
    private struct Line {
        let number: Int
        let device: String
        let value: String
        let isText: Bool

        init(_ number: Int, _ random: inout SeededGenerator) {
            self.number = number
            // Few devices at first, so that many readings are staged before the limit is near.
            let length = Int.random(in: 1...(number < 5_000 ? 20 : 60), using: &random)
            device = String(repeating: "d", count: length)
            value = String(1_000 + number % 9_000)
            isText = Int.random(in: 0..<10, using: &random) == 0
        }

        var json: String {
            let content = isText ? #""note":"\#(value)""# : #""rate":\#(value)"#
            return #"{"device":"\#(device)","ts":\#(number),\#(content)}"#
        }
        var reading: String { "\(number) \(device) \(value)" }
        static func number(_ reading: String) -> Int { Int(reading.prefix { $0 != " " }) ?? -1 }
    }

    /// A source that may not wait: what finds the ring full is rejected, each once, and the others arrive as they came.
    @Test func whatFindsNoRoomIsDropped() throws {
        let run = try ReadingLaneTests.mapping()
        let rings = Rings(shards: 1)
        var input = LaneInput(templates: run.set.templates(of: ["m"]), context: run.context)
        input.dropsWhenFull = true
        var lane = ReadingLane(
            set: run.set, inputs: [input], limits: run.limits,
            router: ReadingRouter(rings: rings.rings, maxDevices: 40, maxSeries: 1_000), events: rings)
        var random = SeededGenerator(seed: Trials.seed(21))
        var lines: [Line] = []
        for number in 0..<5_000 {
            // Few devices, so that none is over a limit.
            let line = Line(number % 1_000, &random)
            lines.append(line)
            let storage = PaddedBytes(copying: Array(line.json.utf8))
            lane.line(storage.view, source: 0, received: run.received)
            if number % 1_500 == 0 {
                lane.batchEnd()
                rings.drain(0)
            }
        }
        lane.batchEnd()
        rings.drain(0)
        #expect(rings.waits == 0 && rings.received == lines.count)
        #expect(rings.refused.count > 1_000 && rings.readings[0].count > 1_000)
        #expect(rings.refused.count + rings.readings[0].count == lines.count)
        let dropped = "\(Rejection.bufferFull) "
        #expect(rings.refused.allSatisfy { $0.hasPrefix(dropped) })
        var rest = lines.map(\.json)[...]
        for refused in rings.refused {
            let place = try #require(rest.firstIndex(of: String(refused.dropFirst(dropped.count))))
            rest = rest[(place + 1)...]
        }
    }

    /// A count that finds a ring full as it begins waits for no room: nobody knows then what became of its readings, and
    /// of those of the next one they do again.
    @Test func aCountWaitsForNoOtherRing() throws {
        let run = try ReadingLaneTests.mapping()
        let rings = Rings(shards: 2)
        var input = LaneInput(templates: run.set.templates(of: ["m"]), context: run.context)
        input.dropsWhenFull = true
        var lane = ReadingLane(
            set: run.set, inputs: [input], limits: run.limits,
            router: ReadingRouter(rings: rings.rings, maxDevices: 40, maxSeries: 1_000), events: rings)
        let devices = (0..<2).map { shard in
            (0...).lazy.map { "d-\($0)" }.first {
                SeriesKey.encode(SeriesIdentity(type: 0, device: Array($0.utf8)))
                    .withByteView { ReadingRouter.shard(ofKey: $0, of: 2) } == shard
            }
        }
        var number = 0
        func take(_ shard: Int) throws {
            let json = #"{"device":"\#(try #require(devices[shard]))","ts":\#(number),"rate":1000}"#
            let storage = PaddedBytes(copying: Array(json.utf8))
            lane.line(storage.view, source: 0, received: run.received)
            number += 1
        }
        while rings.refused.isEmpty { try take(0) }
        lane.beginCount()
        try take(1)
        #expect(lane.endCount() == nil && rings.waits == 0)
        lane.batchEnd()
        for shard in 0..<2 { rings.drain(shard) }
        #expect(rings.counts.joined().allSatisfy { $0 == 0 } && rings.readings[1].count == 1)
        lane.beginCount()
        try take(1)
        #expect(lane.endCount() == 1)
        lane.beginCount()
        #expect(lane.endCount() == 0)
        lane.batchEnd()
        for shard in 0..<2 { rings.drain(shard) }
        // What came before is told to nobody; the ring that the count has not touched has nothing of it.
        #expect(rings.counts == [[0], [0, 1]] && rings.waits == 0)
    }

    /// Items of bodies have numbers of their own, by which their bodies are told, and take none from other counts.
    @Test func itemsHaveTheirOwnNumbers() throws {
        let run = try ReadingLaneTests.mapping()
        let rings = Rings(shards: 1)
        var lane = ReadingLane(
            set: run.set, inputs: [LaneInput(templates: run.set.templates(of: ["m"]), context: run.context)],
            limits: run.limits, router: ReadingRouter(rings: rings.rings, maxDevices: 10, maxSeries: 10), events: rings)
        var time = 0
        func count(_ readings: Int, _ end: (inout ReadingLane) -> Int?) -> Int? {
            lane.beginCount()
            for _ in 0..<readings {
                let storage = PaddedBytes(copying: Array(#"{"device":"d","ts":\#(time),"rate":1000}"#.utf8))
                lane.line(storage.view, source: 0, received: run.received)
                time += 1
            }
            return end(&lane)
        }
        var numbers = [count(1) { $0.endCount() }]
        for items in [[1, 0, 2], [0], [3]] {
            lane.beginItems()
            numbers += items.map { count($0) { $0.endItem() } }
            numbers.append(count(1) { $0.endCount() })
        }
        lane.batchEnd()
        rings.drain(0)
        let items = numbers.compactMap { $0.flatMap(ItemNumber.init(count:)) }
        #expect(numbers.compactMap { $0 }.filter { $0 >= 0 } == [1, 0, 2, 0, 3, 4])
        #expect(items.map(\.body) == [1, 1, 3] && items.map(\.item) == [1, 2, 1])
        #expect(rings.counts == [numbers.compactMap { $0 }.filter { $0 != 0 }])
        // The numbers of the last item of a body, and of a body after very many.
        for (body, item) in [(1, ItemNumber.most), (1 << 40, 1)] {
            let number = try #require(ItemNumber(count: -(body << 10 | item)))
            #expect(number.body == body && number.item == item)
        }
        #expect(ItemNumber(count: 0) == nil && ItemNumber(count: 1) == nil)
    }

    /// Reloads that bring a source of another name each time: those that are gone keep nothing for mapping, what comes of
    /// them all the same is rejected and counted as theirs, and one that comes back is mapped again.
    @Test func sourcesThatAreGoneKeepNoMapper() throws {
        let run = try ReadingLaneTests.mapping()
        let rings = Rings(shards: 1)
        let present = LaneInput(templates: run.set.templates(of: ["m"]), context: run.context)
        let gone = LaneInput(templates: [], context: run.context)
        var lane = ReadingLane(
            set: run.set, inputs: [present], limits: run.limits,
            router: ReadingRouter(rings: rings.rings, maxDevices: 10, maxSeries: 10), events: rings)
        func take(_ source: Int, _ number: Int) {
            let storage = PaddedBytes(copying: Array(#"{"device":"d","ts":\#(number),"rate":1000}"#.utf8))
            if source % 2 == 0 {
                lane.line(storage.view, source: source, received: run.received)
            } else {
                lane.datagram(storage.view, source: source, received: run.received)
            }
            lane.batchEnd()
            rings.drain(0)
        }
        let names = 300
        for last in 1..<names {
            lane.adopt(
                run.set, generation: last,
                inputs: (0...last).map { $0 == 0 || $0 == last ? present : gone })
            lane.narrow(last, to: present.templates)
            take(last, last)
            lane.narrow(last, to: nil)
            take(0, names + last)
            #expect(lane.mapperCount <= 4, "after \(last) reloads")
        }
        #expect(rings.refused.isEmpty && rings.readings[0].count == 2 * (names - 1))
        take(1, 1_000)
        take(2, 1_000)
        #expect(rings.refused.count == 2 && rings.refused.allSatisfy { $0.hasPrefix("\(Rejection.noTemplate) ") })
        #expect(rings.bySource[1] == 2 && rings.bySource[2] == 2 && rings.bySource[3] == 1)
        // All but one are gone, and then that one comes back as it was.
        lane.adopt(run.set, generation: names, inputs: (0..<names).map { $0 == 7 ? present : gone })
        take(7, 2_000)
        take(0, 2_001)
        #expect(rings.readings[0].last == "2000 d 1000" && rings.refused.count == 3 && lane.mapperCount <= 4)
        lane.adopt(run.set, generation: names + 1, inputs: (0..<names).map { _ in gone })
        take(7, 2_002)
        #expect(rings.refused.count == 4 && rings.bySource.values.reduce(0, +) == rings.received)
    }

    /// A payload without a device has that of its sender, byte by byte; one that names another is rejected, by whichever
    /// way its readings go, and the next payload is of anybody again.
    @Test func payloadsOfOneSender() throws {
        let run = try ReadingLaneTests.mapping()
        let rings = Rings(shards: 1)
        let input = LaneInput(templates: run.set.templates(of: ["m"]), context: run.context)
        var lane = ReadingLane(
            set: run.set, inputs: [input], limits: run.limits,
            router: ReadingRouter(rings: rings.rings, maxDevices: 800, maxSeries: 1_000), events: rings)
        var expected: [String] = []
        var refused: [String] = []
        for number in 0..<200 {
            // Names of all lengths, those of short and of long keys; canonically equivalent ones are two.
            let own = String(repeating: "d", count: 1 + number) + (number % 2 == 0 ? "\u{E9}" : "e\u{301}")
            let other = String(repeating: "d", count: 1 + number) + (number % 2 == 0 ? "e\u{301}" : "\u{E9}")
            for (place, name) in ["", other, own, other].enumerated() {
                let member = name.isEmpty ? "" : #""device":"\#(name)","#
                let json = "{\(member)\"ts\":\(number * 4 + place),\"rate\":\(1_000 + place)}"
                let storage = PaddedBytes(copying: Array(json.utf8))
                if place == 3 {
                    lane.datagram(storage.view, source: 0, received: run.received)
                } else {
                    let owner = PayloadOwner(device: Array(own.utf8), patient: nil)
                    lane.payload(storage.view, isLine: number % 3 == 0, of: owner, source: 0, received: run.received)
                }
                if place == 1 { refused.append("deviceNotAllowed \(json)") }
                let device = name.isEmpty ? own : name
                if place != 1 { expected.append("\(number * 4 + place) \(device) \(1_000 + place)") }
            }
            lane.batchEnd()
            rings.drain(0)
        }
        #expect(rings.readings[0] == expected && rings.refused == refused)
        #expect(rings.received == 800)
    }

    @Test(arguments: [1, 3]) func readingsKeepTheirOrderAndTheirBytes(shards: Int) throws {
        let run = try ReadingLaneTests.mapping()
        let rings = Rings(shards: shards)
        let mostDevices = 40
        var lane = ReadingLane(
            set: run.set, inputs: [LaneInput(templates: run.set.templates(of: ["m"]), context: run.context)],
            limits: run.limits,
            router: ReadingRouter(rings: rings.rings, maxDevices: mostDevices, maxSeries: 1_000), events: rings)
        var random = SeededGenerator(seed: Trials.seed(20))
        var known: Set<String> = []
        var expected: [String] = []
        var refused: [String] = []
        for number in 0..<20_000 {
            let line = Line(number, &random)
            if known.count < mostDevices { known.insert(line.device) }
            if known.contains(line.device) {
                expected.append(line.reading)
            } else {
                refused.append("\(Rejection.tooManyDevices) \(line.json)")
            }
            let storage = PaddedBytes(copying: Array(line.json.utf8))
            if number == 5_000 || number == 12_000 { lane.isTapped.toggle() }
            lane.line(storage.view, source: 0, received: run.received)
            // Nobody takes anything for long enough to fill every ring, so that the lane must wait.
            if !(10_000..<15_000).contains(number), Int.random(in: 0..<200, using: &random) == 0 {
                lane.batchEnd()
                #expect(rings.received == number + 1)
                for shard in 0..<shards where Bool.random(using: &random) { rings.drain(shard) }
            }
        }
        lane.batchEnd()
        for shard in 0..<shards { rings.drain(shard) }
        #expect(rings.received == 20_000)
        #expect(rings.routed == expected.count)
        #expect(rings.early == 0)
        #expect(rings.waits > 0)
        #expect(rings.refused == refused)
        for shard in 0..<shards {
            let numbers = rings.readings[shard].map(Line.number)
            #expect(numbers == numbers.sorted())
        }
        let all = rings.readings.flatMap { $0 }
        #expect(all.sorted { Line.number($0) < Line.number($1) } == expected)
        // A tap sees each reading once, in order, and none that was refused.
        #expect(rings.tapped == expected.filter { (5_000..<12_000).contains(Line.number($0)) })
    }
}
