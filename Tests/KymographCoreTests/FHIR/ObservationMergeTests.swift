import Kymograph
import KymographCore
import KymographTemplates
import KymographTestKit
import Testing
import TrialSupport

/// Merging by default; the reference's merging is in the conformance cases.
@Suite struct ObservationMergeTests {
    /// An Observation from `start` to `end` o'clock (minutes and seconds), with further members.
    private func observation(_ start: String, _ end: String, _ members: String) throws -> JSONNode {
        try TextJSON.parse(
            #"{"effectivePeriod":{"start":"2024-05-01T\#(start)Z","end":"2024-05-01T\#(end)Z"},\#(members)}"#)
    }

    private func series(_ data: String, period: Int = 1000, more: String = "") -> String {
        #""valueSampledData":{"origin":{"value":0},"period":\#(period),"dimensions":1,"data":"\#(data)"\#(more)}"#
    }

    private func failure(
        _ existing: JSONNode, _ new: JSONNode, _ compatibility: Compatibility = .none
    ) -> String? {
        do throws(ObservationMerge.Failure) {
            _ = try ObservationMerge.merge(existing, with: new, compatibility: compatibility)
            return nil
        } catch { return error.message }
    }

    /// Quirk 19.
    @Test func aValueThatWasMissingIsCreated() throws {
        let existing = try observation("10:00:00", "10:00:02", #""status":"final""#)
        let new = try observation("10:00:02", "10:00:03", series("5 6"))
        let merged = try ObservationMerge.merge(existing, with: new)
        #expect(merged.text("valueSampledData.data") == "E E 5 6")
        #expect(merged.text("effectivePeriod.start") == "2024-05-01T10:00:00Z")
        #expect(failure(existing, new, .iomtFHIR) == "the stored Observation has no value to merge into")
    }

    /// Quirk 20.
    @Test func storedSamplesKeepTheirTimesWhenThePeriodChanges() throws {
        let existing = try observation("10:00:00", "10:00:04", series("1 2 3", period: 2000))
        let new = try observation("10:00:01", "10:00:01", series("9", period: 1000))
        let merged = try ObservationMerge.merge(existing, with: new)
        #expect(merged.text("valueSampledData.data") == "1 9 2 E 3")
        #expect(merged.text("valueSampledData.period") == "1000")
        let copied = try ObservationMerge.merge(existing, with: new, compatibility: .iomtFHIR)
        #expect(copied.text("valueSampledData.data") == "1 9 3 E E")
        #expect(copied.text("valueSampledData.period") == "2000")
    }

    /// Quirk 21.
    @Test func aNewComponentCoversBothTimes() throws {
        let existing = try observation("10:00:00", "10:00:01", #""status":"final""#)
        let component = #""component":[{"code":{"text":"hr"},\#(series("7 8 9"))}]"#
        let new = try observation("10:00:01", "10:00:03", component)
        let merged = try ObservationMerge.merge(existing, with: new)
        #expect(merged.text("component.0.valueSampledData.data") == "E 7 8 9")
        let copied = try ObservationMerge.merge(existing, with: new, compatibility: .iomtFHIR)
        #expect(copied.text("component.0.valueSampledData.data") == "E 7")
    }

    @Test func aSeriesThatIsNotMergedMovesWithTheStart() throws {
        let stored = #"\#(series("1 2")),"component":[{"code":{"text":"hr"},\#(series("7 8"))}]"#
        let existing = try observation("10:00:02", "10:00:03", stored)
        let new = try observation("10:00:00", "10:00:01", series("5 6"))
        let merged = try ObservationMerge.merge(existing, with: new)
        #expect(merged.text("valueSampledData.data") == "5 6 1 2")
        #expect(merged.text("component.0.valueSampledData.data") == "E E 7 8")
    }

    @Test func gridsThatDoNotFitGiveAFinerOne() throws {
        let existing = try observation("10:00:00", "10:00:01", series("1 2"))
        let new = try observation("10:00:00.500", "10:00:00.500", series("9"))
        let merged = try ObservationMerge.merge(existing, with: new)
        #expect(merged.text("valueSampledData.data") == "1 9 2")
        #expect(merged.text("valueSampledData.period") == "500")
    }

    /// The extensions of `absoluteTimeRange`, behind another one.
    private func exact(_ times: (String, String)?) -> String {
        let url = "https://bdh.stanford.edu/fhir/defs/absoluteTimeRange"
        let range =
            times.map {
                #",{"url":"\#(url)Start","valueDecimal":\#($0.0)},{"url":"\#(url)End","valueDecimal":\#($0.1)}"#
            } ?? ""
        return #""extension":[{"url":"urn:a","valueInteger":1}\#(range)],"valueInteger":1"#
    }

    /// Exact times follow the effective time; what is not known exactly is not said.
    @Test(
        arguments: [
            (("10:00:00", "10:00:01"), ("1.25", "2.25"), ("10:00:02", "10:00:03"), ("3.1", "4.1"), ("1.25", "4.1")),
            (("10:00:02", "10:00:03"), ("3.1", "4.1"), ("10:00:00", "10:00:01"), ("1.25", "2.250"), ("1.25", "4.1")),
            (("10:00:00", "10:00:03"), ("0.5", "4"), ("10:00:01", "10:00:02"), ("1", "2"), ("0.5", "4")),
            // As the effective time has no fractions.
            (("10:00:00", "10:00:01"), ("1.25", "2.25"), ("10:00:00", "10:00:01"), ("1.2", "2.26"), ("1.2", "2.26")),
            (("10:00:00", "10:00:01"), ("1.25", "2.25"), ("10:00:02", "10:00:03"), nil, nil),
            (("10:00:00", "10:00:01"), ("1.25", "2.25"), ("10:00:00", "10:00:01"), nil, ("1.25", "2.25")),
            (("10:00:00", "10:00:01"), nil, ("10:00:02", "10:00:03"), ("3.1", "4.1"), nil),
        ] as [((String, String), (String, String)?, (String, String), (String, String)?, (String, String)?)])
    func exactTimesFollow(
        old: (String, String), stored: (String, String)?, new: (String, String), fresh: (String, String)?,
        expected: (String, String)?
    ) throws {
        let existing = try observation(old.0, old.1, exact(stored))
        let other = try observation(new.0, new.1, exact(fresh))
        for compatibility in [Compatibility.none, .iomtFHIR] {
            let merged = try ObservationMerge.merge(existing, with: other, compatibility: compatibility)
            let wanted = try observation("10:00:00", "10:00:00", exact(expected))
            #expect(merged["extension"]?.canonical() == wanted["extension"]?.canonical())
        }
    }

    @Test func anEqualObservationChangesNothing() throws {
        let existing = try observation("10:00:00", "10:00:02", #"\#(series("1 E 2")),"status":"final""#)
        let merged = try ObservationMerge.merge(existing, with: existing)
        #expect(merged.canonical() == existing.canonical())
    }

    @Test func dataThatWereAbsentAreReplaced() throws {
        let absent = #""component":[{"code":{"text":"hr"},"dataAbsentReason":{"text":"unknown"}}]"#
        let existing = try observation("10:00:00", "10:00:00", absent)
        let new = try observation("10:00:00", "10:00:00", #""component":[{"code":{"text":"hr"},"valueInteger":7}]"#)
        let merged = try ObservationMerge.merge(existing, with: new)
        #expect(merged["component.0"]?.canonical() == #"{code:{text:"hr"},valueInteger:7}"#)
        let kept = try ObservationMerge.merge(new, with: existing)
        #expect(kept.text("component.0.valueInteger") == "7")
    }

    @Test func whatCannotBeMergedSaysWhy() throws {
        let existing = try observation("10:00:00", "10:00:01", series("1 2"))
        let quantity = try observation("10:00:00", "10:00:01", #""valueQuantity":{"value":1}"#)
        #expect(failure(existing, quantity) == "the stored value is valueSampledData, the new one is valueQuantity")
        let scaled = try observation("10:00:00", "10:00:01", series("1 2", more: #","factor":0.1"#))
        #expect(failure(existing, scaled) == "the two series differ in their factor")
        #expect(failure(scaled, existing) == "the two series differ in their factor")
        let apart = try observation("10:00:00.000000001", "10:00:01", series("1 2"))
        #expect(failure(existing, apart) == "the merged series would have more than 1048576 samples")
        #expect(failure(try TextJSON.parse("{}"), existing)?.contains("effectivePeriod") == true)
        let day = try TextJSON.parse(#"{"effectiveDateTime":"2024-05-01"}"#)
        #expect(failure(day, existing) == "'2024-05-01' is not a date with a time of day")
    }

    /// Merging the halves of a series in any order gives the series.
    @Test func mergingLosesNothing() throws {
        var generator = SeededGenerator(seed: Trials.seed(0x5EED))
        for _ in 0..<300 {
            let start = Instant(seconds: 1_700_000_000)
            let count = Int.random(in: 1...60, using: &generator)
            let samples = (0..<count).map { index in
                SeriesSample(instant: start.advanced(by: Int64(index) * 1_000_000_000), text: "\(index)")
            }
            let isFirst = samples.map { _ in Bool.random(using: &generator) }
            let halves = [true, false].map { half in zip(samples, isFirst).filter { $0.1 == half }.map(\.0) }
            #expect(SeriesText.merge(halves[0], with: halves[1]) == samples)
            #expect(SeriesText.merge(halves[1], with: halves[0]) == samples)
            #expect(SeriesText.merge(samples, with: halves[0]) == samples)
            let end = samples[count - 1].instant
            let data = try #require(SeriesText.build(halves[0], start: start, end: end, period: 1_000_000_000))
            #expect(SeriesText.parse(data, start: start, period: 1_000_000_000) == halves[0])
        }
    }
}
