import Kymograph
import KymographCore
import KymographTemplates
import Testing

/// Every mapping in the catalogue loads without a finding, whatever its folder holds.
@Suite struct MappingCatalogueTests {
    @Test(arguments: MappingCatalogue.names) func loadsWithoutFinding(_ name: String) throws {
        let result = MappingLoader.load([try mapping(name)])
        #expect(result.diagnostics.map(\.text) == [])
        #expect(result.set != nil)
    }

    /// One name means one thing in all mappings, so that one pipeline can use them all.
    @Test func equalNamesMeanTheSame() throws {
        let result = MappingLoader.load(try MappingCatalogue.names.map(mapping))
        #expect(result.diagnostics.filter { $0.severity == .error }.map(\.text) == [])
    }

    /// Each mapping states what it refuses, beside what it takes.
    @Test(arguments: MappingCatalogue.names) func hasExamplesOfBoth(_ name: String) throws {
        let expected = try #require(MappingCatalogue.files(of: name)).examples.map { example in
            String(decoding: example.output ?? [], as: UTF8.self)
        }
        #expect(expected.contains { $0.contains("\"observations\"") || $0.contains("\"resources\"") })
        #expect(expected.filter { $0.contains("\"rejected\"") }.count > 2)
    }

    @Test func examplesAreLeftOutWhereNobodyAsksForThem() throws {
        for name in MappingCatalogue.names {
            let whole = try #require(MappingCatalogue.files(of: name))
            let bare = try MappingCatalogue.resolve(name, withExamples: false)
            #expect(bare.examples.isEmpty && !whole.examples.isEmpty)
            #expect(bare.device == whole.device && bare.fhir == whole.fhir && bare.name == name)
        }
    }

    private func mapping(_ name: String) throws -> NamedMapping {
        let files = try #require(MappingCatalogue.files(of: name))
        return NamedMapping(
            name: name, device: MappingFile(name: "\(name)/device.json", bytes: files.device),
            fhir: MappingFile(name: "\(name)/fhir.json", bytes: files.fhir))
    }
}
