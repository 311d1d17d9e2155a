import Kymograph
import KymographCore
import Testing

/// Every mapping in the catalogue loads without a finding, whatever its folder holds.
@Suite struct MappingCatalogueTests {
    @Test(arguments: MappingCatalogue.names) func loadsWithoutFinding(_ name: String) throws {
        let files = try #require(MappingCatalogue.files(of: name))
        let mapping = NamedMapping(
            name: name, device: MappingFile(name: "\(name)/device.json", bytes: files.device),
            fhir: MappingFile(name: "\(name)/fhir.json", bytes: files.fhir))
        let result = MappingLoader.load([mapping])
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.set != nil)
    }
}
