import CommandSupport
import KymographTestKit
import Testing

/// Dead letters whose device and patient their source has named.
@Suite struct LetterDefaultsTests {
    /// A phone's source, whose mapping reads `value` once it is mended.
    private struct Phone {
        let run = StoredRun()

        init(device: String = "$.id", patient: String = "$.patient") {
            run.folder.write("mine/device.json", text(device, patient, "value").replacing("$.value", with: "$.nothing"))
            run.folder.write("mine/mended.json", text(device, patient, "value"))
            run.folder.write("mine/fhir.json", MappingText.fhir)
        }

        private func text(_ device: String, _ patient: String, _ value: String) -> String {
            MappingText.device.replacing("$.id", with: device).replacing("$.pulse", with: "$.\(value)")
                .replacing(
                    "\"timestampExpression\"", with: "\"patientIdExpression\": \"\(patient)\", \"timestampExpression\"")
        }

        static let line = #"{"id":"watch-1","at":"2026-03-01T08:00:00Z","pulse":1,"value":61}"#

        /// What `source` says of the source, and behind that line of all else.
        private func arguments(_ source: String) -> [String] {
            let parts = source.split(separator: "\n", omittingEmptySubsequences: false)
            let config = run.folder.write(
                "kymo.yaml",
                """
                sources:
                  - {unix: \(run.folder.file("a.sock")), mappings: [\(run.folder.file("mine"))]\(parts[0])}
                \(parts.dropFirst().joined(separator: "\n"))

                """)
            return ["--config", config, "--data", run.data, "--out", run.output, "--format", "ndjson"]
        }

        func start(_ source: String) throws -> ChildProcess {
            let instance = try Kymo.start(["run", "--no-watch"] + arguments(source))
            _ = try instance.addresses()
            try Waiting.until("the instance to answer") { try run.command("status").text.contains("used by process") }
            return instance
        }

        /// Leaves a letter of each line, while the source is as `source` says, and mends the mapping.
        func fill(_ source: String, _ lines: [String] = [line]) throws {
            let instance = try start(source)
            try Sending.send(lines: lines, to: "unix \(run.folder.file("a.sock"))")
            try Waiting.until("the letters") { try run.command("dead", "list").lines.count == lines.count + 1 }
            #expect(try instance.terminate().end == .exit(0))
            run.folder.write("mine/device.json", Files.text(run.folder.file("mine/mended.json")))
        }

        /// Replays all while the source is as `source` says, by an instance or without.
        func replay(_ source: String, isRunning: Bool) throws -> Kymo.Finished {
            let instance = isRunning ? try start(source) : nil
            let replay = try Kymo.run(["dead", "replay", "--all"] + arguments(source))
            #expect(try instance?.terminate().end ?? .exit(0) == .exit(0))
            return replay
        }

        func checkUntouched(_ replay: Kymo.Finished, _ name: String) throws {
            #expect(replay.end == .exit(65) && replay.error.contains("replayed 0 payloads"), "\(replay.error)")
            let reason = "letter 1: what it holds depends on \(name) of its source"
            #expect(replay.error.contains(reason), "\(replay.error)")
            #expect(run.written.isEmpty)
            #expect(try run.command("dead", "list").lines.count == 2)
            #expect(try run.json("ledger", "--format", "json")["balance"]?["received"]?.integer == 1)
        }
    }

    /// The phone was handed on: what the former patient's letter holds was filed for the next one.
    @Test(arguments: [false, true]) func thePhoneIsAnothers(isRunning: Bool) throws {
        let phone = Phone()
        try phone.fill(", defaultPatient: p-1")
        for source in [", defaultPatient: p-2", ""] {
            try phone.checkUntouched(try phone.replay(source, isRunning: isRunning), "defaultPatient")
        }
        #expect(try phone.run.json("dead", "show", "1")["defaultPatient"]?.text == "p-1")
        let own = try phone.replay(", defaultPatient: p-1", isRunning: isRunning)
        #expect(own.end == .exit(0), "\(own.error)")
        #expect(phone.run.written.count == 1 && phone.run.written[0].contains("\"p-1\""), "\(phone.run.written)")
    }

    /// A patient that the source has had since was nobody's before.
    @Test(arguments: [false, true]) func aPatientThatCameLater(isRunning: Bool) throws {
        let phone = Phone()
        try phone.fill("")
        try phone.checkUntouched(
            try phone.replay(", defaultPatient: p-2", isRunning: isRunning), "defaultPatient")
        #expect(try phone.replay("", isRunning: isRunning).end == .exit(0))
        let written = phone.run.written
        #expect(written.count == 1 && !written[0].contains("urn:kymograph:patient"), "\(written)")
    }

    /// Where a patient is demanded, what came without one is nobody's for good: the advice was to name a configuration
    /// in which it would be rejected again.
    @Test(arguments: [false, true]) func aPatientIsDemanded(isRunning: Bool) throws {
        let phone = Phone()
        let strict = "\nidentity: strict"
        try phone.fill(strict)
        let replay = try phone.replay(", defaultPatient: p-1" + strict, isRunning: isRunning)
        #expect(replay.end == .exit(65) && replay.error.contains("replayed 0 payloads"), "\(replay.error)")
        let advice = "have its sender send it again, or discard it"
        #expect(replay.error.contains("letter 1: it came when its source named no patient"), "\(replay.error)")
        #expect(replay.error.contains(advice) && !replay.error.contains("name a configuration"), "\(replay.error)")
        #expect(try phone.run.command("dead", "list").lines.count == 2 && phone.run.written.isEmpty)
    }

    @Test(arguments: [false, true]) func anotherDevice(isRunning: Bool) throws {
        let phone = Phone(device: "$.none")
        try phone.fill(", defaultDevice: d-1")
        try phone.checkUntouched(try phone.replay(", defaultDevice: d-2", isRunning: isRunning), "defaultDevice")
        #expect(try phone.replay(", defaultDevice: d-1", isRunning: isRunning).end == .exit(0))
        #expect(phone.run.written.count == 1 && phone.run.written[0].contains("\"d-1\""), "\(phone.run.written)")
    }

    /// What its source said matters to no payload that names device and patient itself.
    @Test(arguments: [false, true]) func aPayloadThatNamesThem(isRunning: Bool) throws {
        let phone = Phone()
        try phone.fill(", defaultPatient: p-1", [Phone.line.replacing("\"id\"", with: "\"patient\":\"p-7\",\"id\"")])
        let replay = try phone.replay(", defaultPatient: p-2, defaultDevice: d", isRunning: isRunning)
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(phone.run.written.count == 1 && phone.run.written[0].contains("\"p-7\""), "\(phone.run.written)")
    }

    /// That a device was missing is mended by stating it.
    @Test(arguments: [false, true]) func aDeviceThatWasMissing(isRunning: Bool) throws {
        let phone = Phone(device: "$.none")
        try phone.fill("")
        #expect(try phone.run.command("dead", "list").text.contains("noDevice"))
        let replay = try phone.replay(", defaultDevice: d-1", isRunning: isRunning)
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(phone.run.written.count == 1 && phone.run.written[0].contains("\"d-1\""), "\(phone.run.written)")
    }

    /// Of letters of earlier versions nobody knows what their sources said.
    @Test(arguments: [false, true]) func aLetterOfAnEarlierVersion(isRunning: Bool) throws {
        let phone = Phone()
        try phone.fill(", defaultPatient: p-1")
        try phone.run.change("DELETE FROM letter_context")
        for source in [", defaultPatient: p-1", ""] {
            let replay = try phone.replay(source, isRunning: isRunning)
            try phone.checkUntouched(replay, "defaultPatient")
            #expect(replay.error.contains("an earlier kymo has not kept"), "\(replay.error)")
        }
        #expect(try phone.run.command("dead", "discard", "1").end == .exit(0))
        let named = Phone()
        try named.fill("", [Phone.line.replacing("\"id\"", with: "\"patient\":\"p-7\",\"id\"")])
        try named.run.change("DELETE FROM letter_context")
        #expect(try named.replay(", defaultPatient: p-2", isRunning: isRunning).end == .exit(0))
        #expect(named.run.written.count == 1 && named.run.written[0].contains("\"p-7\""), "\(named.run.written)")
    }

    /// What is kept of a letter goes with it, and outlives a repair.
    @Test func whatIsKeptGoesWithTheLetter() throws {
        let phone = Phone()
        let second = Phone.line.replacing(":00Z", with: ":01Z")
        try phone.fill(", defaultPatient: p-1", [Phone.line, second])
        #expect(try phone.run.command("dead", "discard", "1").end == .exit(0))
        #expect(try phone.run.value("SELECT sum(letter) FROM letter_context") == 2)
        phone.run.folder.write("data/kymo.damaged", "")
        let replay = try phone.replay(", defaultPatient: p-1", isRunning: true)
        #expect(replay.end == .exit(0), "\(replay.error)")
        #expect(phone.run.written.count == 1 && phone.run.written[0].contains("\"p-1\""), "\(phone.run.written)")
    }
}
