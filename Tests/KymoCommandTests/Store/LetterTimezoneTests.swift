import CommandSupport
import Testing

/// Dead letters of a source with a time zone.
@Suite struct LetterTimezoneTests {
    /// What names no offset is read by the wall clock by which its source has read it, also where the replay names none:
    /// in UTC it would be hours away, in another window.
    @Test(arguments: [[], ["--timezone", "+02:00"]]) func readsLettersByTheClockOfTheirSource(stated: [String]) throws {
        let run = StoredRun()
        let mapping = run.folder.file("mine")
        run.folder.write("mine/device.json", MappingText.device.replacing("(@pulse)", with: "(@nothing)"))
        run.folder.write("mine/fhir.json", MappingText.fhir)
        let local = MappingText.reading.replacing("08:00:00Z", with: "10:00:00")
        let rejected = try run.run([local], ["--mapping", mapping, "--timezone", "+02:00"])
        #expect(rejected.balance?.rejected == 1 && run.written.isEmpty, "\(rejected.error)")
        run.folder.write("mine/device.json", MappingText.device)
        let replay = try Kymo.run(
            [
                "dead", "replay", "--all", "--data", run.data, "--out", run.output, "--format", "ndjson", "--mapping",
                mapping,
            ] + stated)
        #expect(replay.end == .exit(0), "\(replay.error)")
        let text = run.written.joined()
        #expect(text.contains("10:00:00+02:00") && !text.contains("10:00:00Z"), "\(text)")
    }
}
