import CommandSupport
import KymographTestKit
import Testing

/// What a store knows does not depend on what the last run was about.
///
/// Each of these failed while a run without a type made the store forget it: the next late reading then replaced a full
/// Observation by a partial one under the same id, and the ledger said complete.
@Suite struct ForgottenTypeTests {
    private func run(_ folder: TemporaryFolder, _ lines: [String], _ more: String...) throws -> Kymo.Finished {
        try Kymo.run(
            ["run", "--stdin", "--data", folder.file("data"), "--out", "stdout", "--format", "ndjson"] + more,
            input: .bytes(Readings.ndjson(lines)))
    }

    private func walking(_ minute: Int, _ metres: Int) -> String {
        #"{"deviceId":"w","patientId":"p1","type":"walkingDistance","timestamp":"2026-03-01T08:0\#(minute):00Z","#
            + #""value":\#(metres),"unit":"m","start":"2026-03-01T08:00:00Z"}"#
    }

    /// Status, value and number of readings of the one Observation of `output`.
    private func shown(_ output: [UInt8]) throws -> (status: String?, value: String?, count: Int?) {
        var reader = BundleReader()
        try reader.read(ndjson: output)
        let observation = try #require(reader.observations.values.first)
        #expect(reader.observations.count == 1)
        let count = observation["component"]?.elements?.compactMap { $0["valueInteger"]?.integer }.first
        guard case .number(let value)? = observation["valueQuantity"]?["value"] else { return (nil, nil, nil) }
        return (observation["status"]?.text, value, count)
    }

    @Test func aRunWithAnotherMapping() throws {
        let folder = TemporaryFolder()
        _ = try run(folder, [walking(1, 100), walking(2, 200), walking(3, 300)], "--mapping", "reading")
        let other = #"{"d":"b","ts":"2026-03-01T08:00:00Z","hr":70}"#
        _ = try run(folder, [other], "--mapping", "wristband")
        let late = try run(folder, [walking(4, 400)], "--mapping", "reading")
        #expect(try shown(late.output) == ("amended", "1000", 4), "\(late.text)")
        let query = try Kymo.run(
            ["query", "--data", folder.file("data"), "--mapping", "reading", "--type", "walkingDistance"])
        #expect(try shown(query.output) == ("amended", "1000", 4), "\(query.text)")
    }

    /// Letters are replayed by a mapping that does not know the type of the others.
    @Test func aReplayWithAnotherMapping() throws {
        let folder = TemporaryFolder()
        let other = #"{"device":{"id":"b"},"time":1772352000000,"signals":{"heart":{"beatsPerMinute":64}}}"#
        let first = try run(
            folder, [walking(1, 100), walking(2, 200), walking(3, 300), other], "--mapping", "reading")
        #expect(first.balance?.rejected == 1, "\(first.error)")
        let replay = try Kymo.run([
            "dead", "replay", "--all", "--data", folder.file("data"), "--out", folder.file("replayed"), "--format",
            "ndjson", "--mapping", "wristband",
        ])
        #expect(replay.end == .exit(0) && replay.error.contains("replayed 1 payload"), "\(replay.error)")
        let late = try run(folder, [walking(4, 400)], "--mapping", "reading")
        #expect(try shown(late.output) == ("amended", "1000", 4), "\(late.text)")
        let verified = try Kymo.run(["ledger", "--verify", "--data", folder.file("data")])
        #expect(verified.end == .exit(0), "\(verified.error)")
    }

    /// A value under another name: a late reading rewrote the window without what was known, in another unit even.
    @Test(arguments: ["instance", "5m"])
    func aValueUnderAnotherName(period: String) throws {
        let folder = TemporaryFolder()
        let mapping = folder.file("m/")
        func write(value: String, unit: String) {
            let name = "\"valueName\": \"\(value)\""
            folder.write("m/device.json", MappingText.device.replacing("\"valueName\": \"pulse\"", with: name))
            folder.write(
                "m/fhir.json",
                MappingText.fhir.replacing("\"valueName\": \"pulse\"", with: name)
                    .replacing("\"instance\"", with: "\"\(period)\"").replacing("/min", with: unit))
        }
        write(value: "hr", unit: "mg/dL")
        #expect(try run(folder, [MappingText.reading], "--mapping", mapping).end == .exit(0))
        for unit in ["mg/dL", "mmol/L"] {
            write(value: "pulse", unit: unit)
            let late = MappingText.reading.replacing("08:00:00Z", with: "08:00:01Z")
            let refused = try run(folder, [late], "--mapping", mapping)
            #expect(refused.end == .exit(78) && refused.output.isEmpty, "\(refused.error)")
            #expect(refused.error.contains("no longer uses the value 'hr', and the store holds"), "\(refused.error)")
            for command in ["query", "export"] {
                let asked = try Kymo.run([command, "--data", folder.file("data"), "--mapping", mapping])
                #expect(asked.end == .exit(78) && asked.output.isEmpty, "\(command): \(asked.text) \(asked.error)")
            }
        }
        write(value: "hr", unit: "mg/dL")
        #expect(try run(folder, [MappingText.reading], "--mapping", mapping).balance?.duplicate == 1)
    }

    @Test func aRunWithAnotherWindow() throws {
        let folder = TemporaryFolder()
        _ = try run(folder, [1, 2, 3].map { Readings.heartRate(second: $0, value: 70) })
        _ = try run(folder, [Readings.heartRate(second: 3_000, value: 80)], "--window", "1m")
        let late = try run(folder, [Readings.heartRate(second: 4, value: 110)])
        #expect(try shown(late.output) == ("amended", "80.0", 4), "\(late.text)")
        let again = try run(folder, [1, 2, 3].map { Readings.heartRate(second: $0, value: 70) })
        #expect(again.balance?.duplicate == 3 && again.output.isEmpty, "\(again.error)")
    }

    /// A stored 104 mg/dL was shown, and sent, as 104 mmol/L.
    @Test(arguments: ["instance", "5m"])
    func aNumberKeepsItsUnit(period: String) throws {
        let folder = TemporaryFolder()
        func write(unit: String?) {
            let unit = unit.map { #", "unit": "\#($0)", "code": "\#($0)""# } ?? ""
            folder.write("m/device.json", MappingText.device)
            folder.write(
                "m/fhir.json",
                MappingText.fhir.replacing("\"instance\"", with: "\"\(period)\"")
                    .replacing(#", "unit": "/min", "code": "/min""#, with: unit))
        }
        let mapping = folder.file("m/")
        write(unit: "mg/dL")
        let first = try run(folder, [MappingText.reading], "--mapping", mapping)
        #expect(first.text.contains(#""value":61,"unit":"mg/dL""#), "\(first.error)")
        for unit in ["mmol/L", nil, "mmol/L"] {
            write(unit: unit)
            let refused = try run(folder, [MappingText.reading], "--mapping", mapping)
            #expect(refused.end == .exit(78) && refused.output.isEmpty, "\(refused.error)")
            #expect(refused.error.contains("m/fhir.json:") && refused.error.contains("from 'mg/dL' to"))
            for command in ["query", "export"] {
                let asked = try Kymo.run([command, "--data", folder.file("data"), "--mapping", mapping])
                #expect(asked.end == .exit(78) && asked.output.isEmpty, "\(command): \(asked.text) \(asked.error)")
            }
        }
        // A run about something else, between the two units.
        _ = try run(folder, [Readings.heartRate(second: 1)])
        #expect(try run(folder, [MappingText.reading], "--mapping", mapping).end == .exit(78))
        write(unit: "mg/dL")
        #expect(try run(folder, [MappingText.reading], "--mapping", mapping).balance?.duplicate == 1)
    }
}
