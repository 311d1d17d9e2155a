import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// What is said of retractions of the catalogue that do not fit the other mappings of a run.
@Suite struct CatalogueRetractionFindingTests {
    /// A mapping of one's own that gives heart rates, too, of readings in this form.
    private static func other(_ members: String, of type: String = "heartRate", beside: String = "") -> MappingFiles {
        let device = #"""
            {"templateType":"CollectionContent",\#(beside)"template":[{"templateType":"JsonPathContent","template":{
             "typeName":"\#(type)","typeMatchExpression":"$..[?(@pulse)]","deviceIdExpression":"$.id",\#(members)
             "timestampExpression":"$.at","values":[{"valueName":"beatsPerMinute","valueExpression":"$.pulse"}]}}]}
            """#
        return MappingFiles(
            name: "./mine/", device: Array(device.utf8),
            fhir: Array(#"{"templateType":"CollectionFhir","template":[]}"#.utf8))
    }

    private func findings(_ other: MappingFiles, with compatibility: Compatibility = .none) throws -> [Diagnostic] {
        let reading = try #require(MappingCatalogue.files(of: "reading"))
        let loaded = MappingSelection.load([reading, other], compatibility: compatibility)
        #expect(loaded.set != nil, "\(loaded.diagnostics.map(\.text))")
        return loaded.diagnostics.filter { $0.message.contains("taken back") }
    }

    /// Another mapping has the type by the rules of the reference: its readings can be taken back no more, and it is
    /// said.
    @Test func anotherCompatibility() throws {
        let found = try findings(Self.other("", beside: #""compatibility":"iomt-fhir","#))
        #expect(found.map(\.severity) == [.warning] && found.map(\.file) == ["reading/device.json"])
        #expect(
            found.first?.text.hasSuffix(
                "readings of 'heartRate' can no longer be taken back: there are no retractions with compatibility "
                    + "iomt-fhir; another mapping gives 'heartRate' with that: run the two in processes of their own, "
                    + "or accept it") ?? false, "\(found.map(\.text))")
        #expect(found.first?.code == "wrong-change" && found.first?.template == "heartRate")
    }

    /// Nothing is said where the types differ, where the other mapping fits, or where all are by those rules.
    @Test func whatFits() throws {
        #expect(try findings(Self.other("", of: "pulse", beside: #""compatibility":"iomt-fhir","#)).isEmpty)
        #expect(try findings(Self.other(#""readingIdExpression":"$.n","#)).isEmpty)
        #expect(try findings(Self.other(""), with: .iomtFHIR).isEmpty)
    }

    /// One mistake in a template, and what is said of its lines: nothing of what takes readings of the type back. A name
    /// that is misspelled is missing in one line, and unknown in another.
    @Test(arguments: [
        (#""timestampExpression": "$.timestamp""#, #""timestampExpresion": "$.timestamp""#, 2),
        (#""$..[?(@type == 'heartRate' && @unit == '/min')]""#, #""$..[?(@type == 'heartRate'""#, 1),
        (#""readingIdExpression": "$.id""#, #""readingIdExpression": 1"#, 1),
    ])
    func oneMistake(_ sound: String, _ mistaken: String, lines: Int) throws {
        var files = try #require(MappingCatalogue.files(of: "reading"))
        let text = String(decoding: files.device, as: UTF8.self)
        let range = try #require(text.firstRange(of: sound))
        files.device = Array(text.replacingCharacters(range, with: mistaken).utf8)
        files.name = "./reading/"
        let errors = MappingSelection.load([files], compatibility: .none).diagnostics.filter { $0.severity == .error }
        #expect(errors.allSatisfy { !$0.message.contains("to retract") && !$0.message.contains("ids") })
        #expect(Set(errors.map(\.position.line)).count == lines, "\(errors.map(\.text))")
        #expect(errors.allSatisfy { $0.file == "reading/device.json" })
    }

    /// A retraction of a type that no template names is one, with the name that was probably meant.
    @Test func ofNoReadings() throws {
        var files = try #require(MappingCatalogue.files(of: "reading"))
        let text = String(decoding: files.device, as: UTF8.self)
        let range = try #require(text.firstRange(of: #""typeName": "heartRate""#))
        files.device = Array(text.replacingCharacters(range, with: #""typeName": "hartRate""#).utf8)
        let errors = MappingSelection.load([files], compatibility: .none).diagnostics.filter { $0.severity == .error }
        // The FHIR template finds no type of its name either.
        #expect(errors.map(\.file) == ["reading/device.json", "reading/fhir.json"], "\(errors.map(\.text))")
        #expect(errors.first?.message == "no device template gives readings of 'heartRate' to retract")
        #expect(errors.first?.advice == "did you mean 'hartRate'?")
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<String.Index>, with text: String) -> String {
        var changed = self
        changed.replaceSubrange(range, with: text)
        return changed
    }
}
