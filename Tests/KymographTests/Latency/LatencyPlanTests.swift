import Foundation
import KymographCore
import KymographTestKit
import Testing

/// What is measured from when.
@Suite struct LatencyPlanTests {
    private static let second: Int64 = 1_000_000_000
    private static let start = Instant(seconds: 1_800_000_000).advanced(by: 123_456_789)

    @Test func readingsSayWhenTheyAreDue() {
        let plan = LatencyPlan(devices: 3, readingsPerSecond: 7, duration: 2 * Self.second)
        #expect(plan.interval == 142_857_143 && plan.count == 20 && plan.measuredCount == 13)
        for index in 0..<plan.count {
            let reading = plan.reading(index, start: Self.start)
            #expect(reading.time == Self.start.advanced(by: Int64(index) * plan.interval))
            #expect(reading.device == index % 3 && plan.due(completing: reading.time) == reading.time)
        }
        let measured = (0..<plan.count).filter { plan.measures(plan.due($0, start: Self.start), start: Self.start) }
        #expect(measured.count == plan.measuredCount && measured.first == 7)
    }

    /// The reading that closes a window is the device's first one at or after its end.
    @Test func windowsAreMeasuredFromTheReadingThatClosesThem() {
        for (rate, window) in [(10.0, Self.second), (7, Self.second), (3, 2 * Self.second), (0.4, Self.second)] {
            let plan = LatencyPlan(
                devices: 5, readingsPerSecond: 5 * rate, duration: 20 * Self.second, window: window)
            let times = (0..<plan.count).map { (device: $0 % 5, time: plan.due($0, start: Self.start)) }
            for device in 0..<5 {
                let own = times.filter { $0.device == device }.map(\.time)
                let windows = Dictionary(grouping: own) { $0.nanoseconds / window }
                for (number, inside) in windows {
                    guard let last = inside.max(), let closing = own.first(where: { $0.nanoseconds / window > number })
                    else { continue }
                    #expect(plan.due(completing: last) == closing)
                }
            }
        }
    }

    @Test func anObservationThatIsReadLateCountsFromWhenItsReadingWasDue() {
        let plan = LatencyPlan(devices: 1, readingsPerSecond: 10, duration: Self.second)
        let meter = LatencyMeter(plan)
        meter.begin(Self.start)
        // All that were due in a second come out together at its end, as behind a pipeline that stood still.
        var output = ByteWriter(capacity: 4_096)
        for index in 0..<plan.count {
            output.append("{\"effectiveDateTime\":\"")
            TimestampText.append(plan.due(index, start: Self.start), to: &output)
            output.append("\"}\n")
        }
        meter.take(output.view.array[...], now: plan.due(plan.count, start: Self.start))
        #expect(meter.seen == plan.count && meter.figures.count == plan.measuredCount)
        let figures = meter.figures
        #expect(abs(figures.nanoseconds(within: 100) - Self.second) < Self.second / 500)
        #expect(abs(figures.nanoseconds(within: 50) - Self.second / 2) <= Self.second / 8)
        #expect(!meter.hasEnded)
        meter.end()
        #expect(meter.hasEnded)
    }

    @Test func figuresAreShownInMicroseconds() throws {
        var figures = LatencyFigures()
        #expect(figures.nanoseconds(within: 99) == 0)
        for value in 1...1_000 { figures.record(Int64(value) * 1_000) }
        figures.record(-5)
        let cells = figures.row("latency").split(separator: " ")
        #expect(cells.map(String.init).first == "latency" && cells.count == 6)
        #expect(cells[1].hasPrefix("500.") && cells[2].hasPrefix("900."))
        #expect(LatencyFigures.header.count == figures.row("latency").count)
        let members = try JSONTree(parsing: Array(try JSONEncoder().encode(figures)))
        for (name, cell) in zip(["p50", "p90", "p99", "p99.9", "max"], cells.dropFirst()) {
            guard case .number(let text)? = members[name] else {
                Issue.record("no \(name)")
                continue
            }
            #expect(Double(text) == Double(cell), "\(name)")
        }
    }
}
