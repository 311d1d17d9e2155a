import CommandSupport
import KymographTestKit
import Testing

/// The mappings that `docs/catalogue.md` shows under "Changes by choice", as they stand there.
@Suite struct ChosenChangesTests {
    private let folder = TemporaryFolder()

    /// The two files of a change, in a folder.
    private func mapping(_ heading: String) throws -> String {
        let page = Files.text("\(SharedMaterial.package)/docs/catalogue.md")
        let changes = try #require(page.split(separator: "\n## Changes by choice\n").last)
        let section = try #require(changes.split(separator: "\n### ").first { $0.hasPrefix("\(heading)\n") })
        let files = section.split(separator: "```json\n").dropFirst().compactMap { $0.split(separator: "\n```").first }
        try #require(files.count == 2 && files[0].contains("CollectionContent") && files[1].contains("CollectionFhir"))
        folder.write("mine/device.json", String(files[0]))
        folder.write("mine/fhir.json", String(files[1]))
        return folder.file("mine") + "/"
    }

    private func map(_ mapping: String, _ message: String) throws -> String {
        let done = try Kymo.run(["map", "--mapping", mapping], input: .bytes(Array(message.utf8)))
        #expect(done.end == .exit(0), "\(done.error)")
        return done.text
    }

    /// Milliseconds and minutes become minutes, of the code and unit that an export's records have.
    @Test(arguments: ["appleExerciseTime", "appleStandTime"])
    func minutes(type: String) throws {
        let mine = try mapping("Minutes of exercise and standing")
        let message = #"""
            {"\#(type)":90000,"unit":"ms","deviceId":"d","patientId":"p","startDate":"2026-03-01T08:00:00Z",\#
            "endDate":"2026-03-01T08:01:30Z","uuid":"u"}
            """#
        let mapped = try map(mine, message)
        #expect(mapped.contains("\"value\": 1.5000,") && mapped.contains("\"code\": \"min\""), "\(mapped)")
        let inMinutes = try map(mine, message.replacing("90000,\"unit\":\"ms\"", with: "1.5,\"unit\":\"min\""))
        #expect(inMinutes == mapped.replacing("1.5000", with: "1.5"), "\(inMinutes)")
        #expect(try map("healthkit-on-fhir", message).contains("\"code\": \"ms\""))
        // What takes one back is as it was.
        let deleted = #"{"deleted":"\#(type)","deviceId":"d","patientId":"p","uuid":"u"}"#
        #expect(try map(mine, deleted) == map("healthkit-on-fhir", deleted))
    }

    /// Either scale is one type in one unit, converted exactly.
    @Test func oneScale() throws {
        let mine = try mapping("Body temperatures in one unit")
        func record(_ value: String, _ unit: String) -> String {
            #"""
            {"element":"Record","type":"HKQuantityTypeIdentifierBodyTemperature","deviceId":"d","patientId":"p",\#
            "unit":"\#(unit)","value":\#(value),"startDate":"2026-03-01T08:00:00Z","endDate":"2026-03-01T08:00:00Z"}
            """#
        }
        let mapped = try map(mine, record("98.6", "degF"))
        for part in ["\"Type\": \"bodyTemperature\"", "\"value\": 37.0", "\"code\": \"Cel\"", "\"code\": \"8310-5\""] {
            #expect(mapped.contains(part), "\(part): \(mapped)")
        }
        #expect(!mapped.contains("Fahrenheit"))
        #expect(try map(mine, record("37.0", "degC")) == mapped)
        #expect(try map("apple-health", record("98.6", "degF")).contains("bodyTemperatureFahrenheit"))
    }

    /// What the framing makes of a workout's events, too.
    @Test func eventsOfAWorkout() throws {
        let mine = try mapping("Events of a workout")
        let workout = """
             <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="20" durationUnit="min" \
            sourceName="Synthetic Watch" startDate="2026-08-03 18:00:00 +0200" endDate="2026-08-03 18:20:00 +0200">
              <WorkoutEvent type="HKWorkoutEventTypePause" date="2026-08-03 18:05:00 +0200"/>
              <WorkoutEvent type="HKWorkoutEventTypeResume" date="2026-08-03 18:06:00 +0200"/>
              <WorkoutEvent type="HKWorkoutEventTypeSegment" date="2026-08-03 18:06:00 +0200" duration="90.25" \
            durationUnit="s"/>
             </Workout>

            """
        let file = folder.file("export.xml")
        Files.write(AppleHealthExport.text([workout]), to: file)
        let arguments = ["import", "apple", file, "--patient", AppleHealthExport.patient, "--format", "ndjson"]
        let done = try Kymo.run(arguments + ["--mapping", mine])
        #expect(done.end == .exit(0) && done.balance?.accepted == 4, "\(done.error)")
        for part in [
            "\"code\":\"HKWorkoutEventTypePause\"", "\"effectiveDateTime\":\"2026-08-03T18:06:00+02:00\"",
            "\"value\":1.504,\"unit\":\"min\"", "\"code\":\"running\"",
        ] {
            #expect(done.text.contains(part), "\(part): \(done.text)")
        }
        // Of the workout and of the one event that has a duration.
        #expect(done.text.split(separator: "\"text\":\"Duration\"").count == 3, "\(done.text)")
        #expect(try Kymo.run(arguments).balance?.accepted == 1)
    }

    @Test func decimalsOfAnElectrocardiogram() throws {
        let mine = try mapping("Decimals of an electrocardiogram")
        let examples = "\(SharedMaterial.package)/mappings/health-auto-export/examples"
        let message = Files.text("\(examples)/ecg.in.json")
        let mapped = try map(mine, message)
        #expect(mapped.contains("\"data\": \"-8 12 119 42\""), "\(mapped)")
        #expect(try !map("health-auto-export", message).contains("\"data\": \"-8 12 119 42\""))
    }
}
