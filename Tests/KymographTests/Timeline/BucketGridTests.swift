import Foundation
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// Buckets are those of a wall clock.
@Suite struct BucketGridTests {
    private static let zones = [
        "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Auckland",
        "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Africa/Casablanca", "Europe/Dublin",
    ]

    /// Of 1990 to 2037: the reader of zones goes on by rules where Foundation may stop.
    private func time(_ random: inout SeededGenerator) -> Int64 {
        Int64.random(in: 631_152_000..<2_145_916_800, using: &random)
    }

    /// Each instant is in one bucket, and the next one begins where it ends.
    @Test(arguments: Trials.seeds(40)) func bucketsDivideTime(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for name in Self.zones {
            let zone = try #require(TimeZoneText.zone(name))
            for bucket in TimelineBucket.allCases {
                let grid = BucketGrid(bucket: bucket, zone: zone)
                let time = time(&random)
                let start = grid.start(around: time)
                let next = grid.next(after: start)
                let place = "seed \(seed), \(name), \(bucket), \(time)"
                #expect(start <= time && time < next, "\(place): \(start) \(next)")
                #expect(grid.start(around: start) == start && grid.start(around: next) == next, "\(place)")
                #expect(grid.start(around: next - 1) == start, "\(place)")
                let later = time + Int64.random(in: 0..<(next - start) * 20, using: &random)
                let list = grid.boundaries(from: time, to: later, limit: 1_000)
                #expect(list.first == start && (list.last ?? 0) >= later, "\(place)")
                for (one, other) in zip(list, list.dropFirst()) { #expect(grid.next(after: one) == other, "\(place)") }
            }
        }
    }

    /// Days, ISO weeks, months and years are those of Foundation's calendar; hours and less begin at round times of the
    /// clock, or where it is changed.
    @Test(arguments: Trials.seeds(40, from: 1_000)) func bucketsAreThoseOfTheCalendar(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for name in Self.zones {
            let zone = try #require(TimeZoneText.zone(name))
            let place = try #require(TimeZone(identifier: name))
            var calendar = Calendar(identifier: .iso8601)
            calendar.timeZone = place
            for (bucket, unit) in Self.units {
                let time = time(&random)
                let date = Date(timeIntervalSince1970: Double(time))
                let interval = try #require(calendar.dateInterval(of: unit, for: date))
                let start = BucketGrid(bucket: bucket, zone: zone).start(around: time)
                #expect(
                    start == Int64(interval.start.timeIntervalSince1970), "seed \(seed), \(name), \(bucket), \(time)")
            }
            for bucket in [TimelineBucket.second, .minute, .hour] {
                let start = BucketGrid(bucket: bucket, zone: zone).start(around: time(&random))
                let offset = place.secondsFromGMT(for: Date(timeIntervalSince1970: Double(start)))
                let isRound = (start + Int64(offset)) % (bucket.seconds ?? 1) == 0
                let former = place.secondsFromGMT(for: Date(timeIntervalSince1970: Double(start - 1)))
                #expect(isRound || former != offset, "seed \(seed), \(name), \(bucket), \(start)")
            }
        }
    }

    private static let units: [(TimelineBucket, Calendar.Component)] = [
        (.day, .day), (.week, .weekOfYear), (.month, .month), (.year, .year),
    ]

    /// The days on which clocks are changed, and the weeks at the ends of years.
    @Test func knownDays() throws {
        let berlin = try #require(TimeZoneText.zone("Europe/Berlin"))
        func lengths(_ bucket: TimelineBucket, _ from: String, count: Int, _ zone: LocalTimeZone) throws -> [Int64] {
            let start = try #require(TimestampReader.instant(from)).nanoseconds / 1_000_000_000
            var list = [BucketGrid(bucket: bucket, zone: zone).start(around: start)]
            for _ in 0..<count { list.append(BucketGrid(bucket: bucket, zone: zone).next(after: list[list.count - 1])) }
            return zip(list, list.dropFirst()).map { ($1 - $0) / 3_600 }
        }
        #expect(try lengths(.day, "2026-03-28T12:00:00Z", count: 3, berlin) == [24, 23, 24])
        #expect(try lengths(.day, "2026-10-24T12:00:00Z", count: 3, berlin) == [24, 25, 24])
        #expect(try lengths(.week, "2026-10-20T12:00:00Z", count: 2, berlin) == [169, 168])
        #expect(try lengths(.month, "2026-02-10T12:00:00Z", count: 2, berlin) == [672, 743])
        #expect(try lengths(.year, "2024-02-10T12:00:00Z", count: 2, berlin) == [8_784, 8_760])
        // Half an hour that is shown twice is a bucket of its own.
        let island = try #require(TimeZoneText.zone("Australia/Lord_Howe"))
        let grid = BucketGrid(bucket: .hour, zone: island)
        let change = try #require(TimestampReader.instant("2026-04-04T15:00:00Z")).nanoseconds / 1_000_000_000
        #expect(grid.start(around: change) == change && grid.next(after: change) == change + 1_800)
        // Samoa has left out the 30th of December 2011.
        let samoa = try #require(TimeZoneText.zone("Pacific/Apia"))
        #expect(try lengths(.day, "2011-12-29T12:00:00Z", count: 3, samoa) == [24, 24, 24])
        // 2020 has 53 weeks; its last one begins on Monday the 28th.
        let utc = LocalTimeZone(name: "UTC", minutes: 0)
        let monday = try #require(TimestampReader.instant("2020-12-28T00:00:00Z")).nanoseconds / 1_000_000_000
        let sunday = try #require(TimestampReader.instant("2021-01-03T23:59:59Z")).nanoseconds / 1_000_000_000
        #expect(BucketGrid(bucket: .week, zone: utc).start(around: sunday) == monday)
        #expect(BucketGrid(bucket: .week, zone: utc).next(after: monday) == sunday + 1)
    }
}
