import KymographCore
import KymographTemplates
import Testing

/// What is wrong in a mapping, where, and what to do, word for word.
@Suite struct MappingErrorTests {
    @Test(arguments: MappingErrorCase.all) func saysWhatAndWhere(_ broken: MappingErrorCase) {
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "m/device.json", bytes: Array(broken.device.utf8)),
            fhir: broken.fhir.map { MappingFile(name: "m/fhir.json", bytes: Array($0.utf8)) })
        let result = MappingLoader.load([mapping], measurementsOnly: broken.fhir == nil)
        #expect(result.diagnostics.map(\.text) == broken.texts)
        #expect((result.set == nil) == result.diagnostics.contains { $0.severity == .error })
    }

    @Test func reportsAllErrorsOfAllFiles() {
        let file = MappingFile(name: "a/device.json", bytes: Array("{".utf8))
        let other = MappingFile(name: "b/device.json", bytes: Array("[".utf8))
        let result = MappingLoader.load([
            NamedMapping(name: "a", device: file, fhir: nil), NamedMapping(name: "b", device: other, fhir: nil),
        ])
        #expect(result.diagnostics.map(\.file) == ["a/device.json", "b/device.json"])
    }
}
