import Foundation
import KymographTestKit
import Testing

@testable import KymographCore
import TrialSupport

/// A zone of the system's tz database.
private func databaseZone(_ name: String) -> LocalTimeZone? {
    FileManager.default.contents(atPath: "/usr/share/zoneinfo/\(name)")
        .flatMap { LocalTimeZone(name: name, file: Array($0)) }
}

/// Times without an offset, by the wall clock of the source.
@Suite(.enabled(if: databaseZone("Europe/Berlin") != nil, "the package tzdata is not installed"))
struct LocalTimeTests {

    private static let names = [
        "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata",
        "Africa/Casablanca", "America/Nuuk", "Pacific/Chatham", "Asia/Gaza", "UTC",
    ]

    /// Foundation reads the same files by code of its own.
    @Test(arguments: names) func offsetsAreThoseOfTheDatabase(name: String) throws {
        let zone = try #require(databaseZone(name))
        let other = try #require(TimeZone(identifier: name))
        var random = SeededGenerator(seed: Trials.seed(3))
        for _ in 0..<4_000 {
            let seconds = Int64.random(in: 0..<4_070_908_800, using: &random)
            let expected = other.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            #expect(zone.offset(at: seconds) == Int64(expected), "\(name) at \(seconds)")
        }
    }

    /// What the clock shows once comes back from it, with its offset; what it shows twice or never, not at all.
    @Test(arguments: names) func whatTheClockShowsComesBack(name: String) throws {
        let zone = try #require(databaseZone(name))
        var random = SeededGenerator(seed: Trials.seed(4))
        for _ in 0..<4_000 {
            let seconds = Int64.random(in: 0..<4_070_908_800, using: &random)
            let local = seconds + zone.offset(at: seconds)
            // By trying every offset that there is.
            let places = (-56...56).map { local - $0 * 900 }.filter { $0 + zone.offset(at: $0) == local }
            let time = zone.settled(written(local, digits: 1))
            #expect(
                time?.instant.nanoseconds == (places.count == 1 ? seconds * 1_000_000_000 : nil), "\(name) \(local)")
            guard let time else { continue }
            #expect(Int64(time.offsetMinutes) * 60 == local - seconds && time.form.digits == 1)
        }
    }

    private func written(_ local: Int64, digits: Int = 0) -> Timestamp {
        Timestamp(
            instant: Instant(nanoseconds: local * 1_000_000_000),
            form: TimeForm(offsetMinutes: UTCOffset.none, digits: digits), isLocal: true)
    }

    @Test func damagedFilesAreNoZones() throws {
        let file = Array(try #require(FileManager.default.contents(atPath: "/usr/share/zoneinfo/Europe/Berlin")))
        for length in 0..<file.count { #expect(LocalTimeZone(name: "x", file: Array(file.prefix(length))) == nil) }
        var random = SeededGenerator(seed: Trials.seed(5))
        for _ in 0..<2_000 {
            var damaged = file
            damaged[Int.random(in: 0..<file.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = LocalTimeZone(name: "x", file: damaged)?.settled(written(1_772_352_000))
        }
    }

    private func run(_ fields: [String: Any] = [:], _ compatibility: Compatibility = .none) throws -> MappingRun {
        var run = try MappingRun([TestTemplate.jsonPath(with: fields)], compatibility: compatibility)
        run.context = SourceContext(maxFuture: .max, timezone: databaseZone("Europe/Berlin"))
        return run
    }

    @Test(
        arguments: [
            ("2026-07-01T10:00:00", "2026-07-01T08:00:00Z", 120), ("2026-01-15 10:00:00", "2026-01-15T09:00:00Z", 60),
            ("2026-07-01T10:00:00Z", "2026-07-01T10:00:00Z", nil), ("2026-07-01T10:00", "2026-07-01T08:00:00Z", 120),
            ("2026-07-01T10:00:00-05:00", "2026-07-01T15:00:00Z", -300),
            ("2199-07-01T10:00:00", "2199-07-01T08:00:00Z", 120),
        ] as [(String, String, Int16?)], [Compatibility.none, .iomtFHIR])
    func readsTimesByTheClockOfTheSource(_ time: (String, String, Int16?), _ compatibility: Compatibility) throws {
        let expected = PaddedBytes(copying: time.1.utf8)
        let instant = try #require(TimestampParser.iso8601(expected.view)).instant
        // Several lines, so that all ways of reading a line are gone.
        let line = #"{"d":"dev","t":"\#(time.0)","v":1}"#
        let outcome = try run([:], compatibility).lines([String](repeating: line, count: 40))
        #expect(outcome.readings.count == 40)
        #expect(outcome.readings.allSatisfy { $0.nanoseconds == instant.nanoseconds })
        #expect(outcome.readings.allSatisfy { $0.offsetMinutes == time.2 ?? UTCOffset.none })
    }

    @Test(arguments: ["2026-03-29T02:30:00", "2026-10-25T02:00:00", "2026-10-25T02:59:59.9"])
    func whatCannotBeToldIsRejected(_ time: String) throws {
        let line = #"{"d":"dev","t":"\#(time)","v":1}"#
        let outcome = try run().lines([String](repeating: line, count: 40))
        #expect(outcome.readings.isEmpty && outcome.reasons == [Rejection](repeating: .ambiguousLocalTime, count: 40))
        let start = try run(["startExpression": "$.s"])
            .line(#"{"d":"dev","t":"2026-10-25T06:00:00","s":"\#(time)","v":1}"#)
        #expect(start.reasons == [.ambiguousLocalTime])
    }

    @Test func lengthsCountTheHourThatTheClockRepeats() throws {
        let outcome = try run(["startExpression": "$.s"])
            .line(#"{"d":"dev","t":"2026-10-25T04:00:00","s":"2026-10-25T01:00:00","v":1}"#)
        #expect(outcome.values("(length)") == ["\(4 * 3_600 * Int64(1_000_000_000))"])
    }
}
