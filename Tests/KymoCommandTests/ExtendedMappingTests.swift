import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// Mappings that change others: `extends`.
@Suite struct ExtendedMappingTests {
    private let folder = TemporaryFolder()

    private static let glucose = #"""
        {"bloodGlucose":80,"unit":"mg/dL","deviceId":"d","patientId":"p","endDate":"2026-03-01T08:00:00Z","uuid":"u"}
        """#
    private static let heartRate = #"""
        {"heartRate":65,"unit":"beats/min","deviceId":"d","patientId":"p","endDate":"2026-03-01T08:00:00Z","uuid":"v"}
        """#
    /// As if it were left out.
    private static let nothing = #"{"templateType":"CollectionContent","extends":"healthkit-on-fhir","template":[]}"#
    private static let nothingOfFHIR = #"{"templateType":"CollectionFhir","extends":"healthkit-on-fhir","template":[]}"#

    private func mapping(_ device: String = nothing, _ fhir: String = nothingOfFHIR) -> String {
        folder.write("mine/device.json", device)
        folder.write("mine/fhir.json", fhir)
        return folder.file("mine") + "/"
    }

    private static func device(_ templates: String) -> String {
        nothing.replacing("[]", with: "[\(templates)]")
    }

    private static func fhir(_ templates: String) -> String {
        nothingOfFHIR.replacing("[]", with: "[\(templates)]")
    }

    private func map(_ mapping: String, _ message: String) throws -> Kymo.Finished {
        try Kymo.run(["map", "--mapping", mapping], input: .bytes(Array(message.utf8)))
    }

    /// Nothing but what is named is different.
    @Test func onlyWhatIsNamedChanges() throws {
        let change = Self.fhir(
            #"{"template":{"typeName":"capillaryGlucose","codes":[{"system":"http://loinc.org","code":"99504-3"}],"#
                + #""text":null,"value":{"unit":"milligrams"}}}"#)
        let mine = mapping(Self.nothing, change)
        let (own, former) = (try map(mine, Self.glucose), try map("healthkit-on-fhir", Self.glucose))
        let expected = former.text
            .replacing("\"41653-7\"", with: "\"99504-3\"").replacing(
                "\"unit\": \"mg/dL\"", with: "\"unit\": \"milligrams\"")
        #expect(own.text != former.text && own.text.contains("99504-3"), "\(own.error)")
        // The text is gone, and with it its comma.
        let lines = { (text: String) in text.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace) } }
        let removed = Set(lines(expected)).subtracting(lines(own.text))
        #expect(removed.allSatisfy { $0.hasPrefix("\"text\":") || $0 == "]," } && !removed.isEmpty, "\(own.text)")
        #expect(try map(mine, Self.heartRate).text == map("healthkit-on-fhir", Self.heartRate).text)
    }

    /// The change of `mydatahelps` that the catalogue shows: what it leaves out comes as a note and a component.
    @Test func propertiesAndSourceByChoice() throws {
        let page = Files.text("\(SharedMaterial.package)/docs/catalogue.md")
        let section = try #require(page.split(separator: "## `mydatahelps`\n").last?.split(separator: "\n## ").first)
        let files = section.split(separator: "```json\n").dropFirst().compactMap { $0.split(separator: "\n```").first }
        let mine = mapping(
            try #require(files.first { $0.contains("CollectionContent") }.map(String.init)),
            try #require(files.first { $0.contains("CollectionFhir") }.map(String.init)))
        let point = #"""
            {"namespace":"AppleHealth","identifier":"s-1","type":"RestingHeartRate","value":"58","units":"count/min",\#
            "properties":{"Metadata_HKMetadataKeyHeartRateMotionContext":"1"},"source":{"identifier":"watch-17",\#
            "properties":{"DeviceName":"Synthetic Watch"}},"observationDate":"2026-03-01T08:10:32-05:00"}
            """#
        let done = try map(mine, point)
        #expect(done.end == .exit(0), "\(done.error)")
        for part in ["\"text\": \"Synthetic Watch\"", "\"valueString\": \"1\"", "\"value\": 58"] {
            #expect(done.text.contains(part), "\(done.text)")
        }
        #expect(try !map("mydatahelps", point).text.contains("Synthetic Watch"))
    }

    /// Values are known by their names, and new templates are tried like the others.
    @Test func valuesAndNewTemplates() throws {
        let change = Self.device(
            #"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1}]}},"#
                + #"{"templateType":"JsonPathContent","template":{"typeName":"heartRate2","#
                + #""typeMatchExpression":"$..[?(@pulse)]","deviceIdExpression":"$.deviceId","#
                + #""timestampExpression":"$.endDate","values":[{"valueName":"v","valueExpression":"$.pulse"}]}}"#)
        let mine = mapping(
            change,
            Self.fhir(
                #"{"templateType":"CodeValueFhir","template":{"typeName":"heartRate2","period":"instance","#
                    + #""codes":[{"system":"urn:x","code":"c"}],"#
                    + #""value":{"valueType":"Quantity","valueName":"v","unit":"u","system":"urn:u","code":"u"}}}"#))
        let scaled = try map(mine, Self.heartRate)
        #expect(scaled.text.contains("\"Value\": \"650\""), "\(scaled.text)\(scaled.error)")
        let new = try map(mine, Self.heartRate.replacing("heartRate", with: "pulse"))
        #expect(new.text.contains("\"code\": \"c\""), "\(new.text)\(new.error)")
    }

    /// Of one type, the template that gives readings and the one that takes them back are changed each for itself.
    @Test func retractionsAreTemplatesOfTheirOwn() throws {
        let deleted = #"{"deleted":"heartRate","device":"w","patientId":"p","uuid":"v"}"#
        let other = #"{"template":{"typeName":"heartRate","retracts":true,"deviceIdExpression":"$.device"}}"#
        let mine = mapping(Self.device(other))
        let done = try map(mine, deleted)
        #expect(done.end == .exit(0) && done.text.contains("\"Retracts\": \"heartRate\""), "\(done.text)\(done.error)")
        #expect(try map(mine, Self.heartRate).text == map("healthkit-on-fhir", Self.heartRate).text)
        // And the other way round: a change without 'retracts' is of the readings.
        let ofReadings = mapping(Self.device(other.replacing(#""retracts":true,"#, with: "")))
        #expect(try map(ofReadings, deleted).text.contains("noDevice"))
        #expect(try map(ofReadings, Self.heartRate.replacing(#""deviceId""#, with: #""device""#)).end == .exit(0))
    }

    /// A mapping that takes the ids out, or makes something else than an Observation of the type, has no retractions of
    /// it: it loads, and says so.
    @Test func whatCannotBeTakenBackAnyMore() throws {
        let withoutIds = mapping(
            Self.device(#"{"template":{"typeName":"heartRate","readingIdExpression":null}}"#))
        let deleted = #"{"deleted":"heartRate","deviceId":"d","uuid":"v"}"#
        let reading = try map(withoutIds, Self.heartRate)
        #expect(reading.end == .exit(0), "\(reading.error)")
        #expect(try map(withoutIds, deleted).text.contains("noTemplate"))
        // Others still can be.
        #expect(try map(withoutIds, deleted.replacing("heartRate", with: "stepCount")).text.contains("Retracts"))
        let check = try Kymo.run(["check", "--mapping", withoutIds, "--udp", "127.0.0.1:0", "--out", "none"])
        #expect(
            (check.text + check.error).contains("readings of 'heartRate' can no longer be taken back"),
            "\(check.text)\(check.error)")
        // A device that is named otherwise in readings alone.
        let elsewhere = mapping(
            Self.device(#"{"template":{"typeName":"heartRate","deviceIdExpression":"$.device"}}"#))
        let warned = try Kymo.run(["check", "--mapping", elsewhere, "--udp", "127.0.0.1:0", "--out", "none"])
        #expect(
            (warned.text + warned.error).contains("what takes readings of 'heartRate' back names the device as in"),
            "\(warned.text)\(warned.error)")
    }

    /// The type has the other mapping's spelling, whatever that of the change.
    @Test func spellingOfTypes() throws {
        let mine = mapping(
            Self.device(
                #"{"template":{"typeName":"BLOODPRESSURE","values":[{"valueName":"systolic","scale":1}]}}"#))
        let message = Self.glucose.replacing(
            "\"bloodGlucose\":80,\"unit\":\"mg/dL\"",
            with: #"""
                "systolic":120,"diastolic":80,"systolicUnit":"mmHg","diastolicUnit":"mmHg"
                """#)
        let mapped = try map(mine, message)
        for part in ["\"Type\": \"bloodPressure\"", "\"Value\": \"1200\"", "\"Value\": \"80\""] {
            #expect(mapped.text.contains(part), "\(mapped.text)\(mapped.error)")
        }
    }

    /// What stands next to the templates is for all of them.
    @Test func aMemberOfTheFile() throws {
        let mine = mapping(
            Self.nothing,
            Self.nothingOfFHIR.replacing("\"template\":", with: "\"absoluteTimeRange\":true,\"template\":"))
        let done = try map(mine, Self.glucose)
        #expect(done.text.split(separator: "\"valueDecimal\": 1772352000").count == 3, "\(done.text)\(done.error)")
        let shown = try Kymo.run(["mappings", "--merged", mine])
        #expect(
            shown.text.contains("\"absoluteTimeRange\": true  // \(folder.file("mine"))/fhir.json:1:64\n"),
            "\(shown.text.suffix(200))")
    }

    /// A mapping beside the one that it changes gives everything twice.
    @Test func bothTogetherAreWarnedOf() throws {
        let change = Self.device(
            #"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1}]}}"#)
        let checked = try Kymo.run(["check", "--mapping", "healthkit-on-fhir", "--mapping", mapping(change)])
        let warnings = (checked.text + checked.error).split(separator: "\n").filter {
            $0.contains("they match the same")
        }
        #expect(warnings.contains { $0.contains("'heartRate'") } && warnings.contains { $0.contains("'height'") })
    }

    /// What is shown says of each change where it is stated and where the other mapping has it; what is shown as JSON
    /// with comments gives, as a mapping, what the change gives.
    @Test func mergedIsShownWithOrigins() throws {
        let change = Self.fhir(
            #"{"template":{"typeName":"capillaryGlucose","codes":[{"system":"http://loinc.org","code":"99504-3"}],"#
                + #""text":null,"note":"by choice","value":{"unit":"milligrams","code":"mg/dL"}}}"#)
        let mine = mapping(Self.nothing, change)
        let shown = try Kymo.run(["mappings", "--merged", mine])
        #expect(shown.end == .exit(0), "\(shown.error)")
        let lines = shown.text.split(separator: "\n").map { String($0.trimmingPrefix(while: \.isWhitespace)) }
        let own = "// \(folder.file("mine"))/fhir.json:1:"
        func marked(_ start: String) -> String { lines.first { $0.hasPrefix(start) && $0.contains(own) } ?? "" }
        #expect(marked("\"codes\": [").contains(", was healthkit-on-fhir/fhir.json:"), "\(shown.text)")
        #expect(marked("\"unit\": \"milligrams\"").contains(", was healthkit-on-fhir/fhir.json:"))
        #expect(marked("\"note\": \"by choice\"").hasSuffix("\(own)\(Self.column(of: "\"note\"", in: change))"))
        #expect(lines.contains { $0.hasPrefix("// text is removed: \(folder.file("mine"))/fhir.json:1:") })
        // What is stated as the other mapping has it is no change.
        #expect(marked("\"code\": \"mg/dL\"").isEmpty && marked("\"typeName\"").isEmpty)
        #expect(lines.count { $0.contains(own) } == 3, "\(lines.filter { $0.contains(own) })")
        let parts = shown.text.split(separator: "\n// ").map { $0.drop { $0 != "{" } }
        #expect(parts.count == 2)
        folder.write("shown/device.json", String(parts[0]))
        folder.write("shown/fhir.json", String(parts[1]))
        let again = try map(folder.file("shown") + "/", Self.glucose)
        #expect(try again.end == .exit(0) && again.text == map(mine, Self.glucose).text, "\(again.error)")
    }

    /// The column of `text` in a file of one line.
    private static func column(of text: String, in file: String) -> Int {
        file.range(of: text).map { file.utf8.distance(from: file.startIndex, to: $0.lowerBound) + 1 } ?? 0
    }

    @Test func mergedForPrograms() throws {
        let mine = mapping(
            Self.device(
                #"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1},"#
                    + #"{"valueName":"more","valueExpression":"$.more"}]}},"#
                    + #"{"templateType":"JsonPathContent","template":{"typeName":"heartRate2","#
                    + #""typeMatchExpression":"$..[?(@pulse)]","deviceIdExpression":"$.deviceId","#
                    + #""timestampExpression":"$.endDate"}}"#))
        let shown = try Kymo.run(["mappings", "--merged", mine, "--format", "json"])
        #expect(shown.end == .exit(0), "\(shown.error)")
        let all = try JSONSerialization.jsonObject(with: Data(shown.output)) as? [String: Any]
        let files = try #require(all?["files"] as? [[String: Any]])
        #expect(
            files.compactMap { $0["from"] as? String } == [
                "healthkit-on-fhir/device.json", "healthkit-on-fhir/fhir.json",
            ])
        let changes = try #require(files[0]["changes"] as? [[String: Any]])
        #expect(changes.map { $0["change"] as? String } == ["added", "added", "added"], "\(shown.text)")
        let merged = try #require(files[0]["merged"] as? [String: Any])
        let pointers = changes.compactMap { $0["pointer"] as? String }
        #expect(Self.found(pointers[0], in: merged) as? Int == 1)
        #expect((Self.found(pointers[1], in: merged) as? [String: Any])?["valueName"] as? String == "more")
        let type = Self.found("\(pointers[2])/template/typeName", in: merged)
        #expect(type as? String == "heartRate2", "\(pointers)")
    }

    /// What a JSON Pointer without escapes finds.
    private static func found(_ pointer: String, in document: Any) -> Any? {
        pointer.split(separator: "/").reduce(document as Any?) { node, token in
            if let list = node as? [Any] { return Int(token).map { list[$0] } }
            return (node as? [String: Any])?[String(token)]
        }
    }

    @Test func aMappingThatExtendsNothingIsShownAsItIs() throws {
        let shown = try Kymo.run(["mappings", "--merged", "wristband"])
        #expect(shown.end == .exit(0) && shown.text.hasPrefix("// wristband/device.json extends no mapping.\n{\n"))
        let wrong = try Kymo.run(["mappings", "--merged", "wristbnd"])
        #expect(wrong.end == .exit(78) && wrong.error.contains("wristbnd"), "\(wrong.error)")
    }

    /// `kymo check --merged` shows those in use that extend others, as `kymo mappings --merged` does: of those that are
    /// named on the command line and in files, and each once.
    @Test func checkShowsWhatIsInUse() throws {
        let change = #"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1}]}}"#
        let mine = mapping(Self.device(change))
        let shown = try Kymo.run(["mappings", "--merged", mine])
        let checked = try Kymo.run(["check", "--merged", "--mapping", mine, "--mapping", "wristband"])
        #expect(checked.end == .exit(0) && !shown.text.isEmpty, "\(checked.error)")
        #expect(checked.text == shown.text && checked.error.contains("kymo: configuration OK"), "\(checked.error)")

        folder.write("other/device.json", Self.nothing)
        folder.write("other/fhir.json", Self.nothingOfFHIR)
        let configuration = folder.write(
            "kymo.yaml",
            "mappings: ['\(mine)']\nsources:\n  - stdin: true\n  - udp: 127.0.0.1:0\n  - udp: 127.0.0.1:0\n"
                + "    name: b\n    deviceMapping: \(folder.file("other"))/device.json\n"
                + "    fhirMapping: \(folder.file("other"))/fhir.json\n")
        let other = try Kymo.run(["mappings", "--merged", folder.file("other") + "/"])
        let both = try Kymo.run(["check", "--no-environment", "--merged", "--config", configuration])
        #expect(both.end == .exit(0) && both.text == shown.text + "\n" + other.text, "\(both.error)")
    }

    /// For programs it is a member of the one document, and there as an empty list where nothing extends anything.
    @Test func checkShowsWhatIsInUseForPrograms() throws {
        let mine = mapping(
            Self.device(#"{"template":{"typeName":"heartRate","values":[{"valueName":"beatsPerMinute","scale":1}]}}"#))
        func merged(_ arguments: [String]) throws -> [[String: Any]]? {
            let done = try Kymo.run(["check", "--format", "json"] + arguments)
            #expect(done.end == .exit(0), "\(done.error)")
            let all = try JSONSerialization.jsonObject(with: Data(done.output)) as? [String: Any]
            #expect(all?["findings"] != nil && all?["errors"] as? Int == 0, "\(done.text)")
            return all?["merged"] as? [[String: Any]]
        }
        let shown = try Kymo.run(["mappings", "--merged", mine, "--format", "json"])
        let alone = try JSONSerialization.jsonObject(with: Data(shown.output)) as? NSDictionary
        let found = try #require(try merged(["--merged", "wristband", mine]))
        #expect(found.compactMap { $0["mapping"] as? String } == [mine])
        #expect(try found.first.map { $0["files"] as? NSArray } == #require(alone)["files"] as? NSArray)
        #expect(try merged(["--merged", "wristband"])?.isEmpty == true)
        #expect(try merged([mine]) == nil, "it was not asked for")
    }

    /// Where there is an error nothing is shown, and where nothing extends another it is said.
    @Test func checkShowsNothingBesideAnError() throws {
        let wrong = mapping(
            Self.device(#"{"template":{"typeName":"heartRate","timestampExpression":"$.endDate"}}"#))
        let text = try Kymo.run(["check", "--merged", wrong])
        #expect(text.end == .exit(78) && text.output.isEmpty, "\(text.text)")
        let json = try Kymo.run(["check", "--merged", "--format", "json", wrong])
        #expect(json.end == .exit(78) && !json.text.contains("\"merged\""), "\(json.text)")
        // The mapping is good, and what was to be mapped by it is not.
        let good = mapping()
        folder.write("events.ndjson", "{\"what\": 1\n")
        let rejected = try Kymo.run(["check", "--merged", "--events", folder.file("events.ndjson"), good])
        #expect(rejected.end == .exit(65) && rejected.output.isEmpty, "\(rejected.error)")
        let none = try Kymo.run(["check", "--merged", "wristband"])
        #expect(none.end == .exit(0) && none.output.isEmpty, "\(none.text)")
        #expect(none.error.contains("kymo: no mapping in use extends another\n"), "\(none.error)")
    }

    /// A template of a type that no device template gives, and that is called much like one that there is, was to
    /// change that one. Of another type it is one of one's own, for which some device template is still to come.
    @Test(arguments: [("hartRate", true), ("sleepiness", false)])
    func aTypeThatNothingGives(type: String, isMisspelt: Bool) throws {
        let change = Self.fhir(
            #"{"templateType":"CodeValueFhir","template":{"typeName":"\#(type)","period":"instance","#
                + #""codes":[{"system":"urn:x","code":"c"}],"#
                + #""value":{"valueType":"Quantity","valueName":"v","unit":"u","system":"urn:u","code":"u"}}}"#)
        let mine = mapping(Self.nothing, change)
        let checked = try Kymo.run(["check", "--mapping", mine])
        let place = "fhir.json:1:\(Self.column(of: "\"\(type)\"", in: change)): "
        let message =
            isMisspelt
            ? "error: no device template gives the type '\(type)': this changes nothing of 'healthkit-on-fhir'; did "
                + "you mean 'heartRate'?"
            : "warning: no device template gives the type '\(type)'; add one, or remove this"
        #expect(
            checked.end == .exit(isMisspelt ? 78 : 0) && (checked.text + checked.error).contains(place + message),
            "\(checked.text)\(checked.error)")
        #expect((try map(mine, Self.heartRate).end == .exit(78)) == isMisspelt)
        // In a mapping that changes none it is a warning, as before.
        let own = mapping(Self.nothing, change.replacing(#""extends":"healthkit-on-fhir","#, with: ""))
        let whole = try Kymo.run(["check", "--mapping", own])
        #expect(
            whole.end == .exit(0)
                && (whole.text + whole.error).contains("warning: no device template gives the type '\(type)'; "),
            "\(whole.text)\(whole.error)")
    }

    @Test(arguments: [
        (
            device(#"{"template":{"typeName":"heartRate","timestampExpression":"$.endDate"}}"#),
            "device.json:1:79: error: this changes nothing: 'healthkit-on-fhir' has it so"
        ),
        (
            // What is not there cannot be removed, and what a value has already is no change of it.
            device(
                #"{"template":{"typeName":"heartRate","encounterIdExpression":null,"#
                    + #""values":[{"valueName":"beatsPerMinute","required":true}]}}"#),
            "device.json:1:79: error: this changes nothing: 'healthkit-on-fhir' has it so"
        ),
        (
            nothing.replacing("healthkit-on-fhir", with: "healthkit-on-fhr"),
            "device.json:1:47: error: there is no mapping 'healthkit-on-fhr' in the catalogue; did you mean "
                + "'healthkit-on-fhir'?"
        ),
        (
            device(#"{"template":{"typeName":"heartRat","timestampExpression":"$.endDate"}}"#),
            "device.json:1:79: error: 'healthkit-on-fhir' has no template of the type 'heartRat' that this could "
                + "change; did you mean 'heartRate'?"
        ),
        (
            nothing.replacing("healthkit-on-fhir", with: "health-auto-export")
                .replacing("[]", with: #"[{"template":{"typeName":"heartRate","timestampExpression":"$.d"}}]"#),
            "error: 'health-auto-export' has 2 templates of the type 'heartRate', and this could change any"
        ),
        (nothing.replacing(#""healthkit-on-fhir""#, with: "1"), "device.json:1:47: error: 'extends' is a number"),
        (
            device(#"{"template":{"typeName":"heartRate","timestampExpression":"$.["}}"#),
            "device.json:1:137: error: expression $.["
        ),
    ])
    func mistakes(device: String, message: String) throws {
        let checked = try Kymo.run(["check", "--mapping", mapping(device)])
        #expect(
            checked.end == .exit(78) && (checked.text + checked.error).contains(message),
            "\(checked.text + checked.error)")
    }
}
