import KymographCore
import Testing

@Suite struct ObservationEncoderTests {
    @Test func writesMinifiedInFixedOrder() throws {
        var pipeline = try TestPipeline(TestTemplates.glucose)
        pipeline.options.format = .ndjson
        var window = TestWindow(device: "cgm-1", seconds: 0)
        window.add(0, [0: "104.50"])
        let text = pipeline.text(window).text
        #expect(text.hasPrefix("{\"resourceType\":\"Observation\",\"id\":\""))
        #expect(
            text.hasSuffix(
                """
                ","identifier":[{"system":"urn:kymograph:observation","value":\
                "7.cgm-1.glucose.20240501100000Z.20240501100000Z"}],"status":"final",\
                "category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category",\
                "code":"laboratory"}]}],"code":{"coding":[{"system":"http://loinc.org","code":"99504-3"}]},\
                "subject":{"type":"Patient","identifier":{"system":"urn:kymograph:patient","value":"7"}},\
                "effectiveDateTime":"2024-05-01T10:00:00Z",\
                "valueQuantity":{"value":104.50,"unit":"mg/dL","system":"http://unitsofmeasure.org",\
                "code":"mg/dL"},"device":{"type":"Device","identifier":{"system":"urn:kymograph:device",\
                "value":"cgm-1"}}}
                """))
    }

    @Test func summarisesSteps() throws {
        let pipeline = try TestPipeline(TestTemplates.steps)
        var window = TestWindow(seconds: 3600)
        for minute in 0..<10 { window.add(Int64(minute) * 60 * second, [0: "\(100 + minute)"]) }
        let observation = try pipeline.observation(window)
        #expect(observation.text("valueQuantity.value") == "1045")
        #expect(observation.text("valueQuantity.code") == "{steps}")
        #expect(observation["component"] == nil)
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:09:00Z")
    }

    @Test func sumsCountByDefault() throws {
        let pipeline = try TestPipeline(
            TestTemplates.steps.replacing(",\n          \"components\":[]", with: ""))
        var window = TestWindow(seconds: 3600)
        window.add(0, [0: "1"])
        window.add(second, [0: "2"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("component.0.code.coding.0.code") == "count")
        #expect(observation.text("component.0.valueInteger") == "2")
        #expect(observation["component.1"] == nil)
    }

    @Test func coversTheLengthOfReadings() throws {
        let pipeline = try TestPipeline(TestTemplates.steps, durationSlot: 1)
        var window = TestWindow(seconds: 3600)
        window.add(60 * second, [0: "7", 1: "60000000000"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:00Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:01:00Z")
    }

    @Test func keepsTheDigitsOfASingleReading() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        window.add(5 * second, [0: "60.00"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("valueQuantity.value") == "60.00")
        #expect(observation["component"] == nil)
        #expect(observation.text("effectiveDateTime") == "2024-05-01T10:00:05Z")
    }

    @Test(
        arguments: [
            (["1", "2"], "1.5"), (["1", "2", "2"], "1.7"), (["0.05", "0.06"], "0.055"), (["-1", "-2"], "-1.5"),
            (
                ["1", "1", "1", "2", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"],
                "1.0"
            ),
            (["1", "1", "1", "2"], "1.2"), (["1", "2", "2", "2"], "1.8"), (["60", "60.0"], "60.00"),
            (["9223372036854775807", "9223372036854775807"], nil),
        ] as [([String], String?)])
    func roundsMeansHalfToEvenToOneMoreDigit(values: [String], mean: String?) throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        for (index, value) in values.enumerated() { window.add(Int64(index) * second, [0: value]) }
        let (text, outcome) = pipeline.text(window)
        guard let mean else {
            #expect(outcome == .skipped(.inexactNumber))
            #expect(text.isEmpty)
            return
        }
        #expect(try TextJSON.parse(text).text("valueQuantity.value") == mean)
    }

    @Test func writesLeastAndGreatestAsWritten() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        window.add(0, [0: "61.50"])
        window.add(second, [0: "60.5"])
        window.add(2 * second, [0: "61.5"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("component.0.valueQuantity.value") == "60.5")
        #expect(observation.text("component.1.valueQuantity.value") == "61.50")
        #expect(observation.text("component.2.valueInteger") == "3")
        #expect(observation.text("component.3.valueSampledData.data") == "61.50 60.5 61.5")
    }

    @Test func quantityTakesTheLatestReadingThatHasTheValue() throws {
        let pipeline = try TestPipeline(
            TestTemplates.bloodPressure.replacing("\"instance\"", with: "\"1h\""))
        var window = TestWindow()
        window.add(0, [0: "120", 1: "80"])
        window.add(second, [0: "125"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("component.0.valueQuantity.value") == "125")
        #expect(observation.text("component.1.valueQuantity.value") == "80")
        #expect(observation["component.2"] == nil)
    }

    @Test func marksAMissingBloodPressurePart() throws {
        let pipeline = try TestPipeline(TestTemplates.bloodPressure)
        var window = TestWindow(seconds: 0)
        window.add(0, [0: "120"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("component.1.code.coding.0.code") == "8462-4")
        #expect(observation.text("component.1.dataAbsentReason.coding.0.code") == "unknown")
        #expect(observation["component.1.valueQuantity"] == nil)
        #expect(observation["component.2"] == nil)
    }

    @Test func writesNothingWithoutAValue() throws {
        let pipeline = try TestPipeline(TestTemplates.bloodPressure, TestTemplates.glucose)
        var window = TestWindow(seconds: 0)
        window.add(0)
        #expect(pipeline.text(window).outcome == .skipped(.missingValue))
        var bare = pipeline
        bare.templates = [nil, nil]
        #expect(bare.text(window).outcome == .skipped(.noFHIRTemplate))
    }

    @Test func escapesTexts() throws {
        let pipeline = try TestPipeline(TestTemplates.note)
        var window = TestWindow(device: "a\"b\\c", patient: nil, seconds: 0)
        window.add(0, texts: [0: "line 1\nline \u{1}2 \"quoted\" é"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("valueString") == "line 1\nline \u{1}2 \"quoted\" é")
        #expect(observation.text("code.text") == "note")
        #expect(observation.text("subject.identifier.system") == "urn:kymograph:device-subject")
        #expect(observation.text("subject.identifier.value") == "a\"b\\c")
    }

    @Test func codeableConceptNeedsPresenceOnly() throws {
        let pipeline = try TestPipeline(TestTemplates.alarm)
        var window = TestWindow(encounter: "e.1", correlation: "c%1")
        window.add(0, [0: "1"], texts: [1: "lead off"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("valueCodeableConcept.text") == "Alarm!")
        #expect(observation.text("valueCodeableConcept.coding.0.code") == "alarm")
        #expect(observation.text("component.0.code.text") == "detail")
        #expect(observation.text("component.0.valueString") == "lead off")
        #expect(observation.text("encounter.identifier.value") == "e.1")
        #expect(observation.text("identifier.0.value") == "7.hr-1.alarm.c%251.e%2E1")
    }

    @Test func instanceKeepsOffsetAndFraction() throws {
        let pipeline = try TestPipeline(TestTemplates.glucose)
        var window = TestWindow(start: TestWindow.tenOClock + 250_000_000, seconds: 0)
        window.add(0, [0: "5"], zone: -330)
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectiveDateTime") == "2024-05-01T04:30:00.250-05:30")
        #expect(
            observation.text("identifier.0.value")
                == "7.hr-1.glucose.20240501100000.250Z.20240501100000.250Z")
    }

    @Test(
        arguments: [
            ([60, 60], "2024-05-01T11:00:00+01:00", "2024-05-01T11:00:05+01:00"),
            ([0, 0], "2024-05-01T10:00:00+00:00", "2024-05-01T10:00:05+00:00"),
            ([60, 120], "2024-05-01T10:00:00Z", "2024-05-01T10:00:05Z"),
            ([60, nil], "2024-05-01T10:00:00Z", "2024-05-01T10:00:05Z"),
            ([nil, 60], "2024-05-01T10:00:00Z", "2024-05-01T10:00:05Z"),
        ] as [([Int16?], String, String)])
    func windowsKeepTheOffsetThatAllReadingsHave(zones: [Int16?], start: String, end: String) throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        for (index, zone) in zones.enumerated() { window.add(Int64(index) * 5 * second, [0: "60"], zone: zone) }
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectivePeriod.start") == start)
        #expect(observation.text("effectivePeriod.end") == end)
        #expect(observation.text("identifier.0.value") == "7.hr-1.heartRate.20240501100000Z.20240501100059Z")
    }

    @Test(
        arguments: [
            (.source, "2024-05-01T10:00:00.123456789Z"), (.micro, "2024-05-01T10:00:00.123456Z"),
            (.milli, "2024-05-01T10:00:00.123Z"),
        ] as [(TimePrecision, String)])
    func cutsDigitsBeyondThePrecision(precision: TimePrecision, text: String) throws {
        var pipeline = try TestPipeline(TestTemplates.glucose)
        pipeline.options.timePrecision = precision
        var window = TestWindow(start: TestWindow.tenOClock + 123_456_789, seconds: 0)
        window.add(0, [0: "5"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectiveDateTime") == text)
        #expect(
            observation.text("identifier.0.value")
                == "7.hr-1.glucose.20240501100000.123456789Z.20240501100000.123456789Z")
    }

    @Test(
        arguments: [
            (0, 3, .source, "10:00:00.000Z"), (500_000_000, 1, .source, "10:00:00.5Z"),
            (607_374_400, 7, .source, "10:00:00.6073744Z"), (607_374_400, 7, .micro, "10:00:00.607374Z"),
            (607_374_400, 7, .milli, "10:00:00.607Z"), (120_000_000, 2, .milli, "10:00:00.12Z"),
            (123_000_000, 1, .source, "10:00:00.123Z"),
        ] as [(Int64, Int, TimePrecision, String)])
    func writesTheDigitsThatCame(fraction: Int64, digits: Int, precision: TimePrecision, text: String) throws {
        var pipeline = try TestPipeline(TestTemplates.glucose)
        pipeline.options.timePrecision = precision
        var window = TestWindow(start: TestWindow.tenOClock + fraction, seconds: 0)
        window.add(0, [0: "5"], digits: digits)
        #expect(try pipeline.observation(window).text("effectiveDateTime") == "2024-05-01T\(text)")
    }

    /// Before 1970 as well, times are cut to what is not after them.
    @Test func cutsTimesBefore1970Downwards() throws {
        var pipeline = try TestPipeline(TestTemplates.glucose)
        pipeline.options.timePrecision = .milli
        var window = TestWindow(start: -1, seconds: 0)
        window.add(0, [0: "5"])
        #expect(try pipeline.observation(window).text("effectiveDateTime") == "1969-12-31T23:59:59.999Z")
    }

    @Test(
        arguments: [
            (0, "2024-05-01T10:00:00Z"), (120_000_000, "2024-05-01T10:00:00.120Z"),
            (1_000, "2024-05-01T10:00:00.000001Z"), (1, "2024-05-01T10:00:00.000000001Z"),
        ] as [(Int64, String)])
    func writesOnlyTheDigitsThatAreNeeded(fraction: Int64, text: String) throws {
        let pipeline = try TestPipeline(TestTemplates.glucose)
        var window = TestWindow(start: TestWindow.tenOClock + fraction, seconds: 0)
        window.add(0, [0: "5"])
        #expect(try pipeline.observation(window).text("effectiveDateTime") == text)
    }

    @Test func coversTheWindowWhenAsked() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate.replacing("\"covered\"", with: "\"window\""))
        var window = TestWindow()
        window.add(10 * second, [0: "60"])
        window.add(20 * second, [0: "61"])
        let observation = try pipeline.observation(window)
        #expect(observation.text("effectivePeriod.start") == "2024-05-01T10:00:00Z")
        #expect(observation.text("effectivePeriod.end") == "2024-05-01T10:00:59.999Z")
        #expect(observation.text("component.3.valueSampledData.data") == "E 60 61 E E E")
    }

    @Test func identityTellsSeriesApart() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        let names: [String?] = [nil, "a", "a.b", "b", "a%2Eb", ".", "%"]
        var seen: Set<String> = []
        var expected = 0
        for patient in names {
            for device in names.compactMap({ $0 }) {
                for encounter in names {
                    for correlation in names {
                        var window = TestWindow(
                            device: device, patient: patient, encounter: encounter, correlation: correlation)
                        window.add(0, [0: "60"])
                        let observation = try pipeline.observation(window)
                        let id = try #require(observation.text("id"))
                        #expect(id.count == 64)
                        seen.insert(id + (observation.text("identifier.0.value") ?? ""))
                        expected += 1
                    }
                }
            }
        }
        #expect(seen.count == expected)
    }

    @Test func idIsTheDigestOfSystemAndValue() throws {
        let pipeline = try TestPipeline(TestTemplates.heartRate)
        var window = TestWindow()
        window.add(0, [0: "60"])
        let observation = try pipeline.observation(window)
        let value = "7.hr-1.heartRate.20240501100000Z.20240501100059Z"
        #expect(observation.text("identifier.0.value") == value)
        #expect(observation.text("id") == hexDigest("urn:kymograph:observation_\(value)"))
    }

    @Test func printsStatusAndExactNumbers() throws {
        let pipeline = try TestPipeline(TestTemplates.glucose)
        for (number, text) in [
            (Decimal64(mantissa: 2240, exponent: -2), "22.40"), (Decimal64(mantissa: -5, exponent: -3), "-0.005"),
            (Decimal64(mantissa: 12, exponent: 3), "12000"), (Decimal64(mantissa: 1, exponent: 20), "1E20"),
            (Decimal64(mantissa: 0, exponent: -2), "0.00"), (Decimal64(mantissa: 0, exponent: 5), "0"),
            (Decimal64(mantissa: .min), "-9223372036854775808"), (Decimal64(mantissa: 105, exponent: -1), "10.5"),
        ] {
            var window = TestWindow(seconds: 0)
            window.status = .amended
            window.add(0, number: number)
            let observation = try pipeline.observation(window)
            #expect(observation.text("valueQuantity.value") == text)
            #expect(observation.text("status") == "amended")
        }
    }
}
