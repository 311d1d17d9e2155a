import CommandSupport
import Glibc
@testable import Kymograph
import KymographTestKit
import Testing
import TrialSupport

/// `kymo import apple` with the real binary.
@Suite struct ImportAppleTests {
    typealias Export = AppleHealthExport

    private let folder = TemporaryFolder()

    private func export(_ elements: [String]) -> String {
        let path = folder.file("export.xml")
        Files.write(Export.text(elements), to: path)
        return path
    }

    private func importing(_ path: String, _ options: [String] = []) throws -> Kymo.Finished {
        try Kymo.run(["import", "apple", path, "--patient", Export.patient] + options)
    }

    /// One of each kind: what is mapped, what has no template, and what is broken.
    private var elements: [String] {
        let pressure = Export.pressure(120, 80, at: "08:00:00")
        return [
            pressure.alone, Export.record("HeartRate", "62", "count/min"),
            Export.record("OxygenSaturation", "0.97", "%"), Export.record("BodyMass", "160", "lb"),
            Export.record("NikeFuel", "3", "count"), " <Record type=\"a\" value=1/>\n", pressure.pair,
        ]
    }

    @Test func recordsBecomeObservations() throws {
        let done = try importing(export(elements), ["--format", "ndjson"])
        #expect(done.end == .exit(0) && done.balance?.accepted == 4, "\(done.error)")
        #expect(done.balance?.reasons == ["noTemplate": 1, "frameMalformed": 1], "\(done.error)")
        for part in [
            "\"code\":\"8480-6\"", "\"value\":120", "\"code\":\"59408-5\"", "\"value\":97,", "\"value\":72.575,",
            "\"code\":\"8867-4\"",
        ] {
            #expect(String(decoding: done.output, as: UTF8.self).contains(part), "\(part)")
        }
    }

    /// Categories, insulin and workouts, as the framing hands them on: metadata and statistics are read, too.
    @Test func categoriesAndWorkouts() throws {
        let sleep = """
             <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Synthetic Watch" \
            creationDate="2026-08-03 07:00:00 +0200" startDate="2026-08-03 01:00:00 +0200" \
            endDate="2026-08-03 01:30:00 +0200" value="HKCategoryValueSleepAnalysisAsleepDeep"/>

            """
        let workout = """
             <Workout workoutActivityType="HKWorkoutActivityTypeRowing" duration="20" durationUnit="min" \
            sourceName="Synthetic Watch" startDate="2026-08-03 18:00:00 +0200" endDate="2026-08-03 18:20:00 +0200">
              <WorkoutStatistics type="HKQuantityTypeIdentifierDistanceRowing" sum="4.2" unit="km"/>
             </Workout>

            """
        let reason = "  <MetadataEntry key=\"HKInsulinDeliveryReason\" value=\"1\"/>\n"
        let insulin = Export.record("InsulinDelivery", "12", "IU", inside: reason)
        let done = try importing(export([sleep, workout, insulin]), ["--format", "ndjson"])
        #expect(done.end == .exit(0) && done.balance?.accepted == 3, "\(done.error)")
        for part in [
            "hkcategoryvaluesleepanalysis\",\"code\":\"4\",\"display\":\"asleepDeep\"", "\"code\":\"rowing\"",
            "\"value\":4200.000,\"unit\":\"m\"", "\"value\":12,\"unit\":\"IU\"", "\"display\":\"basal\"",
            "\"start\":\"2026-08-03T01:00:00+02:00\"",
        ] {
            #expect(String(decoding: done.output, as: UTF8.self).contains(part), "\(part)")
        }
    }

    /// A meal is an Observation with what it is made of, beside those of its records.
    @Test func mealsBecomePanels() throws {
        let records = Export.record("DietarySugar", "12", "g") + Export.record("DietaryEnergyConsumed", "100", "kJ")
        let meal = """
             <Correlation type="HKCorrelationTypeIdentifierFood" sourceName="Synthetic Watch" \
            startDate="2026-08-03 10:00:00 +0200" endDate="2026-08-03 10:00:00 +0200">
              <MetadataEntry key="HKFoodType" value="Cake"/>
            \(records) </Correlation>

            """
        let done = try importing(export([records, meal]), ["--format", "ndjson"])
        #expect(done.end == .exit(0) && done.balance?.accepted == 3, "\(done.error)")
        let panels = done.text.split(separator: "\n").filter { $0.contains("HKCorrelationTypeIdentifierFood") }
        let panel = try #require(panels.first)
        #expect(panels.count == 1 && panel.contains("\"valueString\":\"Cake\""))
        for part in ["\"value\":12,\"unit\":\"g\"", "\"value\":23.901,\"unit\":\"kcal\""] {
            #expect(panel.contains(part), "\(part): \(panel)")
        }
        #expect(panel.split(separator: "\"code\":\"HKQuantityTypeIdentifier").count == 3, "\(panel)")
    }

    /// Of each record, by choice: its source, the version of it, its device and metadata, and what the device is.
    @Test func recordsAsTheyStand() throws {
        let metadata = "  <MetadataEntry key=\"HKWasUserEntered\" value=\"1\"/>\n"
        let records = [
            Export.record("HeartRate", "62", "count/min", inside: metadata), Export.record("NikeFuel", "3", "count"),
        ].map { $0.replacing("name:Synthetic Watch&gt;", with: "name:Watch, hardware:Watch6,2, software:9.2&gt;") }
        let done = try importing(export(records), ["--format", "ndjson", "--mapping", "apple-health-records"])
        #expect(done.end == .exit(0) && done.balance?.rejected == 0, "\(done.error)")
        for part in [
            "\"valueString\":\"HKWasUserEntered=1\"", "\"valueString\":\"9.2\"", "\"code\":\"/min\"",
            "\"valueString\":\"name=Watch; hardware=Watch6,2; software=9.2\"", "HKQuantityTypeIdentifierNikeFuel",
            "\"modelNumber\":\"Watch6,2\"", "\"resourceType\":\"Device\"",
        ] {
            #expect(done.text.contains(part), "\(part): \(done.text)")
        }
    }

    /// Files of the archive: waveforms with what Apple says of them, once, however often and from where they come.
    @Test func electrocardiogramsBecomeWaveforms() throws {
        let voltages = (0..<15_360).map { "\($0 % 700 - 300).\($0 % 9 + 1)" }
        let recording = Export.electrocardiogram(voltages: voltages)
        let heartRate = Export.record("HeartRate", "62", "count/min")
        func archive(_ name: String, _ recordings: [String]) -> String {
            let files = recordings.enumerated().map { ("a/electrocardiograms/ecg_\($0).csv", Array($1.utf8)) }
            let path = folder.file(name)
            Files.write(ZipArchive.ofStored(files + [("a/export.xml", Export.text([heartRate]))]), to: path)
            return path
        }
        let symptoms = Export.electrocardiogram(at: "11:00:00").replacing("Symptoms,", with: "Symptoms,Fatigue")
        let options = ["--data", folder.file("data"), "--out", folder.file("out"), "--format", "ndjson"]
        let first = try importing(archive("1.zip", [recording, symptoms, "Name,x\nUnit,µV\n1\n"]), options)
        #expect(first.end == .exit(0) && first.balance?.accepted == 6, "\(first.error)")
        #expect(first.balance?.reasons == ["frameMalformed": 1], "\(first.error)")
        let text = Files.names(folder.file("out")).map { Files.text(folder.file("out/\($0)")) }.joined()
        for part in [
            "\"period\":1.953125", "\"unit\":\"uV\"", "\"valueString\":\"Sinus Rhythm\"", "\"valueString\":\"Fatigue\"",
            "\"effectiveDateTime\":\"2026-08-03T11:00:00+02:00\"", "\"code\":\"131328\"",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        #expect(!text.contains("Synthetic Person") && !text.contains("Jan 15"))
        // Killed or not, in another zone or not: nothing of it is new.
        let moved = recording.replacing("2026-08-03 10:00:00 +0200", with: "2026-08-03 04:00:00 -0400")
        let again = try importing(archive("2.zip", [symptoms, moved]), options)
        #expect(again.balance?.accepted == 0 && again.balance?.duplicate == 6, "\(again.error)")
    }

    /// The same file, and a later one that has it and more, bring nothing twice.
    @Test func aLaterExportBringsWhatIsNew() throws {
        let (data, out) = (folder.file("data"), folder.file("out"))
        let options = ["--data", data, "--out", out]
        #expect(try importing(export(elements), options).balance?.accepted == 4)
        let again = try importing(export(elements), options)
        #expect(again.balance?.duplicate == 4 && again.balance?.accepted == 0, "\(again.error)")
        let later = try importing(
            export(elements + [Export.record("HeartRate", "63", "count/min", at: "10:00:01")]), options)
        #expect(later.balance?.duplicate == 4 && later.balance?.accepted == 1, "\(later.error)")
    }

    /// An export that was written in another zone has the same records with other texts: nothing of it is new. Records
    /// that differ in their id alone are all there.
    @Test func anExportFromAnotherZoneBringsNothing() throws {
        let reasons = (1...2).map { "  <MetadataEntry key=\"HKInsulinDeliveryReason\" value=\"\($0)\"/>\n" }
        let insulin = reasons.map { Export.record("InsulinDelivery", "4", "IU", at: "01:30:00", inside: $0) }
        let bolus = insulin[1].replacing("creationDate=\"2026-08-03 01:30", with: "creationDate=\"2026-08-03 01:31")
        let quantities = [("DietarySugar", "12", "g"), ("DietaryWater", "250", "mL"), ("InhalerUsage", "1", "count")]
        let categories = [
            ("SleepAnalysis", "SleepAnalysisAsleepDeep"), ("Headache", "SeverityMild"),
            ("OvulationTestResult", "OvulationTestResultNegative"), ("HandwashingEvent", "NotApplicable"),
        ].map { type, value in
            Export.record(type, "HKCategoryValue\(value)", "", at: "01:30:00")
                .replacing("HKQuantityType", with: "HKCategoryType").replacing("unit=\"\" ", with: "")
        }
        let here =
            insulin + [bolus] + quantities.map { Export.record($0, $1, $2, at: "01:30:00") } + categories
            + [Export.record("HeartRate", "62", "count/min", at: "01:30:00")]
        let there = here.map { record in
            record.replacing("2026-08-03 01:30:00 +0200", with: "2026-08-02 19:30:00 -0400")
                .replacing("2026-08-03 01:31:00 +0200", with: "2026-08-02 19:31:00 -0400")
        }
        let options = ["--data", folder.file("data"), "--out", folder.file("out")]
        let first = try importing(export(here), options)
        #expect(first.balance?.accepted == here.count && first.balance?.duplicate == 0, "\(first.error)")
        let second = try importing(export(there), options)
        #expect(second.balance?.duplicate == here.count && second.balance?.accepted == 0, "\(second.error)")
    }

    /// Killed at any moment, and run again: in the end all is there as if nothing had been, and nothing twice.
    @Test func killedAndRunAgain() throws {
        let seconds = (0..<30_000).map { second in
            let time = [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return Export.record("HeartRate", "\(50 + second % 90)", "count/min", at: time.joined(separator: ":"))
        }
        let file = export(seconds)
        let options = ["--data", folder.file("data"), "--out", folder.file("out")]
        var random = SeededBytes(seed: Trials.seed(50))
        var killed = 0
        for _ in 0..<8 {
            let run = try Kymo.start(["import", "apple", file, "--patient", Export.patient] + options)
            usleep(UInt32(20_000 + random.next(upTo: 400) * 1_000))
            run.signal(SIGKILL)
            if try run.wait() == .signal(SIGKILL) { killed += 1 }
        }
        #expect(killed > 0)
        let last = try importing(file, options)
        #expect(last.end == .exit(0) && last.balance?.received == seconds.count, "\(last.error)")
        let whole = try importing(file, ["--ephemeral", "--out", folder.file("whole")])
        #expect(whole.balance?.accepted == seconds.count)
        #expect(try read("out").differences(from: try read("whole"), ignoring: ["status"]).prefix(5) == [])
        #expect(try read("whole").observations.count > 50)
    }

    /// Whoever waits at a terminal sees how far it is, also while what reads the bundles holds it up.
    @Test func progressOnATerminal() throws {
        let file = export(
            (0..<80_000).map { second in
                let time = [second / 3_600, second / 60 % 60, second % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
                return Export.record("HeartRate", "\(50 + second % 90)", "count/min", at: time.joined(separator: ":"))
            })
        let terminal = try PseudoTerminal()
        let arguments = ["import", "apple", file, "--patient", Export.patient, "--format", "ndjson"]
        let run = try ChildProcess(
            "sh", ["-c", "exec \"$0\" \"$@\" 2>\(terminal.path)", Kymo.path] + arguments, directory: folder.path,
            output: .pipe)
        var shown = ""
        func parts() -> [Int] { shown.matches(of: /\r([0-9]+) % of the input; received/).compactMap { Int($0.1) } }
        // Nobody takes its output: it stops in the middle.
        try Waiting.until("a part of the input, not '\(shown.suffix(500))'") {
            shown += String(decoding: terminal.received(), as: UTF8.self)
            return parts().contains { 1...99 ~= $0 }
        }
        let reader = try #require(run.outputPipe)
        let bundles = reader.readAll { shown += String(decoding: terminal.received(), as: UTF8.self) }
        #expect(try run.wait() == .exit(0))
        shown += String(decoding: terminal.received(), as: UTF8.self)
        #expect(parts() == parts().sorted() && parts().allSatisfy { 0...100 ~= $0 }, "\(parts())")
        #expect(shown.contains("\r\u{1B}[Kkymo: received 80000 = accepted 80000"), "\(shown.suffix(1_000))")
        #expect(bundles.split(separator: 0x0A).count > 1)
        // Nothing of it elsewhere than on a terminal.
        #expect(try !importing(export(elements)).error.contains("of the input"))
    }

    private func read(_ name: String) throws -> BundleReader {
        var reader = BundleReader()
        for file in Files.names(folder.file(name)) {
            try reader.read(ndjson: Files.read(folder.file("\(name)/\(file)")))
        }
        return reader
    }

    @Test func mistakes() throws {
        let file = export([])
        let unnamed = try Kymo.run(["import", "apple", file])
        #expect(unnamed.end == .exit(64) && unnamed.error.contains("--patient"), "\(unnamed.error)")
        let missing = try importing(folder.file("export.zip"))
        #expect(missing.end == .exit(66) && missing.error.contains("there is no such file"), "\(missing.error)")
        let directory = try importing(folder.path)
        #expect(directory.end == .exit(66) && directory.error.contains("it is a folder"), "\(directory.error)")
        let other = try importing(file, ["--udp", "127.0.0.1:0"])
        #expect(other.end == .exit(64) && other.error.contains("leave --udp out"), "\(other.error)")
    }
}
