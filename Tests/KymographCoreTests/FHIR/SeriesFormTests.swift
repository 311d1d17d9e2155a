import KymographCore
import KymographTemplates
import Testing

/// Limits, origin and factor of SampledData.
@Suite struct SeriesFormTests {
    private func sampled(_ members: String, _ numbers: [String], every: Int64 = second) throws -> JSONNode {
        let template = TestTemplates.sampled.replacing("\"unit\":\"mV\"", with: "\"unit\":\"mV\",\(members)")
        var window = TestWindow(seconds: 3600)
        for (index, number) in numbers.enumerated() { window.add(Int64(index) * every, number: signed(number)) }
        return try #require(try TestPipeline(template).observation(window)["valueSampledData"])
    }

    @Test func numbersBeyondLimitsAreMarked() throws {
        let series = try sampled("\"lowerLimit\":40,\"upperLimit\":400.0", ["39.9", "40", "400", "401", "70"])
        #expect(series.text("data") == "L 40 400 U 70")
        #expect(series.text("lowerLimit") == "40")
        #expect(series.text("upperLimit") == "400.0")
    }

    @Test func aLimitAppliesToWhatTheSlotHas() throws {
        let series = try sampled("\"upperLimit\":100,\"collision\":\"sum\"", ["60", "60", "30"], every: second / 2)
        #expect(series.text("data") == "U 30")
    }

    @Test(
        arguments: [
            (["36.60", "36.70", "36.75", "36.65"], "36.60", "0.05", "0 2 3 1"),
            (["100", "120", "110", "130"], "100", "10", "0 2 1 3"),
            (["60", "61", "62", "69"], "60", nil, "0 1 2 9"),
            (["-1.5", "-0.5", "0.5", "1.5"], "-1.5", nil, "0 1 2 3"),
            (["98.0", "98.0", "98.0", "98.0"], "98.0", nil, "0 0 0 0"),
            (["60", "60.5", "61", "62"], "0", nil, "60 60.5 61 62"),
            (["1", "2", "3", "4"], "0", nil, "1 2 3 4"),
            (["-7", "5", "3", "-2"], "0", nil, "-7 5 3 -2"),
        ] as [([String], String, String?, String)])
    func compactTakesTheShorterForm(numbers: [String], origin: String, factor: String?, data: String) throws {
        let repeated = (0..<20).flatMap { _ in numbers }
        let series = try sampled("\"compact\":true", repeated)
        #expect(series.text("origin.value") == origin)
        #expect(series.text("origin.code") == "mV")
        #expect(series.text("factor") == factor)
        #expect(series.text("data") == (0..<20).map { _ in data }.joined(separator: " "))
    }

    /// What origin and factor cost is not paid for a few numbers.
    @Test func compactLeavesAFewNumbersAlone() throws {
        let series = try sampled("\"compact\":true", ["36.60", "36.70"])
        #expect(series.text("data") == "36.60 36.70")
        #expect(series.text("origin.value") == "0")
    }

    /// Numbers at both ends of what a mantissa holds: their distance does not fit.
    @Test func numbersTooFarApartStayPlain() throws {
        let ends = ["-9223372036854775807", "9223372036854775807"]
        let series = try sampled("\"compact\":true", (0..<20).flatMap { _ in ends })
        #expect(series.text("data") == (0..<20).map { _ in ends.joined(separator: " ") }.joined(separator: " "))
    }

    @Test(.enabled(if: SharedFiles.canValidate, "needs KYMO_SHARED, and KYMO_PYTHON with fhir.resources"))
    func everyFormHasNoErrorsOrWarnings() throws {
        var lines: [String] = []
        let forms = [
            "\"compact\":true", "\"lowerLimit\":36.65,\"upperLimit\":36.7", "\"collision\":\"mean\"",
            "\"compact\":true,\"collision\":\"sum\"",
        ]
        for (index, members) in forms.enumerated() {
            for period in ["1000", "\"auto\"", "250"] {
                let name = "t\(index)-\(lines.count)"
                let template = TestTemplates.sampled.replacing("\"unit\":\"mV\"", with: "\"unit\":\"mV\",\(members)")
                    .replacing(":1000", with: ":\(period)").replacing("ecg", with: name)
                lines.append(try TestPipeline(template).text(SeriesFormTests.minute(device: lines.count)).text)
            }
        }
        for members in forms {
            let template = TestTemplates.heartRate.replacing("\"series\":{", with: "\"series\":{\(members),")
                .replacing("heartRate", with: "hr\(lines.count)")
            lines.append(try TestPipeline(template).text(SeriesFormTests.minute(device: lines.count)).text)
        }
        let complaints = try SharedFiles.complaints(lines.joined(separator: "\n") + "\n", name: "observations.ndjson")
        #expect(complaints == "")
    }

    private static func minute(device: Int) -> TestWindow {
        var window = TestWindow(device: "d\(device)")
        for index in 0..<60 { window.add(Int64(index) * second / 2, number: signed("36.\(60 + index % 4 * 5)")) }
        return window
    }
}
