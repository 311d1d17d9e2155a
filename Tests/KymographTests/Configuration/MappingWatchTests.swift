import CommandSupport
import Foundation
@testable import Kymograph
import Testing

/// What a look at the files of mappings finds, whatever they are called.
@Suite struct MappingWatchTests {
    private static let device = #"{"templateType": "CollectionContent", "template": []}"#
    private static let fhir = #"{"templateType": "CollectionFhir", "template": []}"#
    private let folder = TemporaryFolder()

    private func watch(_ names: [String]) -> MappingWatch {
        var settings = PipelineSettings()
        settings.mappings = names.map(folder.file)
        return MappingWatch(settings)
    }

    /// A change is settled at the second look that finds it.
    private func change(_ watch: inout MappingWatch) -> String? {
        _ = watch.settledChange()
        return watch.settledChange().map { $0.replacing("\(folder.path)/", with: "") }
    }

    @Test(arguments: [["b/", "a/"], ["a/", "b/"]])
    func untouchedFilesHaveNotChanged(names: [String]) {
        for name in names {
            folder.write("\(name)devicecontent.json", Self.device)
            folder.write("\(name)fhirmapping.json", Self.fhir)
        }
        var watch = watch(names)
        #expect(change(&watch) == nil)
        watch.noteReading()
        #expect(change(&watch) == nil)
    }

    /// A file that takes the place of another one is watched as that was.
    @Test func renamedFilesAreWatched() throws {
        folder.write("a/devicecontent.json", Self.device)
        folder.write("a/fhirmapping.json", Self.fhir)
        var watch = watch(["a/"])
        try FileManager.default.removeItem(atPath: folder.file("a/devicecontent.json"))
        folder.write("a/second.json", Self.device)
        #expect(change(&watch) == "a/devicecontent.json")
        watch.noteReading()
        #expect(change(&watch) == nil)
        folder.write("a/second.json", Self.device + "\n")
        #expect(change(&watch) == "a/second.json")
    }
}
