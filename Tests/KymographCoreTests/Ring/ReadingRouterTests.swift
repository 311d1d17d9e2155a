import Testing

@testable import KymographCore

@Suite struct ReadingRouterTests {
    /// The byte form of a series, as the mapper writes it.
    private func key(type: UInt8 = 0, _ device: String, patient: String? = nil) -> [UInt8] {
        SeriesKey.encode(
            SeriesIdentity(type: Int(type), device: Array(device.utf8), patient: patient.map { Array($0.utf8) }))
    }

    private func route(_ router: inout ReadingRouter, _ key: [UInt8], _ number: Int64 = 0) -> ReadingRouter.Outcome {
        let reading = Measurement(instant: Instant(nanoseconds: number), received: Instant(nanoseconds: 0))
        return key.withByteView { router.route(reading, payload: ByteView(""), key: $0) }
    }

    private func isWritten(_ outcome: ReadingRouter.Outcome) -> Bool {
        if case .written = outcome { true } else { false }
    }

    /// Everything in a ring: definitions as `+number device`, readings as `number instant`.
    private func drain(_ ring: Ring) -> [String] {
        var consumer = RingConsumer(ring)
        var seen: [String] = []
        while let record = consumer.next() {
            if record.kind == RecordKind.definition.rawValue {
                let identity = SeriesKey.identity(consumer.payload(of: record))
                seen.append("+\(record.series) \(String(decoding: identity.device, as: UTF8.self))")
            } else {
                seen.append("\(record.series) \(record.instant.nanoseconds)")
            }
        }
        consumer.release()
        return seen
    }

    @Test func keysSayWhoseReadingsTheyAre() {
        let identities = [
            SeriesIdentity(type: 0, device: Array("d".utf8)),
            SeriesIdentity(
                type: 70_000, device: Array("d".utf8), patient: [], encounter: [1], correlation: Array("ü".utf8)),
            SeriesIdentity(type: 1, device: [UInt8](repeating: 65, count: 1_024), correlation: [2]),
        ]
        for identity in identities {
            #expect(SeriesKey.encode(identity).withByteView { SeriesKey.identity($0) } == identity)
        }
    }

    @Test func refusesWhatTheRingsCanNeverHold() {
        let small = Ring(capacity: 512)
        var router = ReadingRouter(rings: [small], maxDevices: 10, maxSeries: 10)
        for (length, fits) in [(255 * 64, true), (255 * 64 + 1, false), (4_095 * 64, false)] {
            let reading = RecordPlan.record(1, length: length)
            let outcome = RecordPlan.payload(1, length: length).withByteView { payload in
                key("a").withByteView { router.route(reading, payload: payload, key: $0) }
            }
            #expect(fits ? isWritten(outcome) : outcome == .refused(.tooManySamples), "\(length)")
        }
    }

    /// Templates of one payload may give more together than one of them may.
    @Test func takesTheLongestPayloadIntoALargeRing() {
        let ring = Ring(capacity: 65_536)
        var router = ReadingRouter(rings: [ring], maxDevices: 10, maxSeries: 10)
        let length = Measurement.mostPayloadBytes
        let outcome = RecordPlan.payload(1, length: length).withByteView { payload in
            key("a").withByteView { router.route(RecordPlan.record(1, length: length), payload: payload, key: $0) }
        }
        #expect(isWritten(outcome))
        router.publish { _ in }
        var consumer = RingConsumer(ring)
        _ = consumer.next()
        let record = consumer.next()
        #expect(record.map { consumer.payload(of: $0).array } == RecordPlan.payload(1, length: length))
    }

    @Test func introducesEachSeriesOnceBeforeItsFirstReading() {
        let ring = Ring()
        var router = ReadingRouter(rings: [ring], maxDevices: 10, maxSeries: 10)
        #expect(isWritten(route(&router, key("a"), 1)))
        #expect(isWritten(route(&router, key("b"), 2)))
        #expect(isWritten(route(&router, key("a"), 3)))
        #expect(isWritten(route(&router, key("a", patient: "p"), 4)))
        #expect(isWritten(route(&router, key(type: 1, "a"), 5)))
        var woken: [Int] = []
        router.publish { woken.append($0) }
        router.publish { woken.append($0) }
        #expect(woken == [0])
        #expect(drain(ring) == ["+0 a", "0 1", "+1 b", "1 2", "0 3", "+2 a", "2 4", "+3 a", "3 5"])
    }

    @Test func capsDevicesAndSeriesWithoutHarmToKnownOnes() {
        let ring = Ring()
        var router = ReadingRouter(rings: [ring], maxDevices: 2, maxSeries: 3)
        #expect(isWritten(route(&router, key("a"))))
        #expect(isWritten(route(&router, key("b"))))
        #expect(route(&router, key("c")) == .refused(.tooManyDevices))
        #expect(isWritten(route(&router, key("a", patient: "p"))))
        #expect(route(&router, key("a", patient: "q")) == .refused(.tooManyDevices))
        for device in ["a", "b"] { #expect(isWritten(route(&router, key(device)))) }
        #expect(route(&router, key("c")) == .refused(.tooManyDevices))
    }

    /// What was met is told when it has changed, and what was refused since the limits are in use.
    @Test func tellsWhatItHasMet() {
        let ring = Ring()
        var router = ReadingRouter(rings: [ring], maxDevices: 2, maxSeries: 3)
        func told() -> [Int]? {
            router.takeIntroductions().map {
                [
                    $0.devices.met, $0.devices.limit, $0.devices.refuses ? 1 : 0, $0.series.met, $0.series.limit,
                    $0.series.refuses ? 1 : 0,
                ]
            }
        }
        #expect(told() == [0, 2, 0, 0, 3, 0] && told() == nil)
        for device in ["a", "b", "a"] { #expect(isWritten(route(&router, key(device)))) }
        #expect(told() == [2, 2, 0, 2, 3, 0])
        for device in ["a", "b"] { #expect(isWritten(route(&router, key(device)))) }
        #expect(told() == nil)
        #expect(route(&router, key("c")) == .refused(.tooManyDevices))
        #expect(told() == [2, 2, 1, 2, 3, 0])
        #expect(route(&router, key("d")) == .refused(.tooManyDevices) && told() == nil)
        #expect(isWritten(route(&router, key("a", patient: "p"))))
        #expect(route(&router, key("a", patient: "q")) == .refused(.tooManyDevices))
        #expect(told() == [2, 2, 1, 3, 3, 1])
        router.takeOver(DeviceLimits(devices: 3, series: 4))
        #expect(told() == [2, 3, 0, 3, 4, 0])
        #expect(isWritten(route(&router, key("c"))))
        #expect(told() == [3, 3, 0, 4, 4, 0])
    }

    @Test func aDeviceStaysOnItsShard() {
        let rings = (0..<4).map { _ in Ring(capacity: 65_536) }
        var router = ReadingRouter(rings: rings, maxDevices: 10_000, maxSeries: 100_000)
        for round in 0..<3 {
            for device in 0..<1_000 {
                #expect(isWritten(route(&router, key(type: UInt8(round), "device-\(device)"))))
            }
        }
        router.publish { _ in }
        let devices = rings.map { ring in
            drain(ring).filter { $0.hasPrefix("+") }.compactMap { $0.split(separator: " ").last }
        }
        for shard in 0..<4 {
            // Three series per device, all here, and no shard is left out.
            #expect(Set(devices[shard]).count * 3 == devices[shard].count)
            #expect(Set(devices[shard]).count > 150)
            for other in 0..<shard { #expect(Set(devices[shard]).isDisjoint(with: devices[other])) }
        }
        // Another lane sends the same device to the same shard.
        let others = (0..<4).map { _ in Ring(capacity: 65_536) }
        var second = ReadingRouter(rings: others, maxDevices: 10_000, maxSeries: 10_000)
        for device in (0..<1_000).reversed() { #expect(isWritten(route(&second, key("device-\(device)")))) }
        second.publish { _ in }
        for shard in 0..<4 {
            let found = drain(others[shard]).filter { $0.hasPrefix("+") }.compactMap { $0.split(separator: " ").last }
            #expect(Set(found) == Set(devices[shard]))
        }
    }

    @Test func aFullRingKeepsDefinitionAndReadingTogether() {
        let ring = Ring(capacity: 512)
        var router = ReadingRouter(rings: [ring], maxDevices: 10_000, maxSeries: 10_000)
        var expected: [String] = []
        var seen: [String] = []
        for device in 0..<2_000 {
            var outcome = route(&router, key("d\(device)"), Int64(device))
            while outcome == .full(shard: 0) {
                router.publish { _ in }
                seen += drain(ring)
                outcome = route(&router, key("d\(device)"), Int64(device))
            }
            #expect(isWritten(outcome))
            expected += ["+\(device) d\(device)", "\(device) \(device)"]
        }
        router.publish { _ in }
        seen += drain(ring)
        #expect(seen == expected)
    }
}
