import CommandSupport
import Foundation
@testable import Kymograph
import Testing

/// What a look at the files of a configuration finds.
@Suite struct ConfigurationWatchTests {
    private let folder = TemporaryFolder()

    /// The settings that the file says now, watched from before it was read.
    private func read() -> (ConfigurationWatch, PipelineSettings) {
        let path = folder.file("kymo.yaml")
        let rereading = ConfigurationRereading(ConfigurationInput(), path: path)
        var watch = ConfigurationWatch(path, PipelineSettings())
        let settings = rereading.read(&watch).settings
        return (watch, settings)
    }

    /// What is found once nothing changes any more.
    private func change(_ watch: inout ConfigurationWatch) -> String? { look(&watch, 3) }

    /// What the last of so many looks finds.
    private func look(_ watch: inout ConfigurationWatch, _ count: Int) -> String? {
        var found: String?
        for _ in 0..<count { found = watch.settledChange() }
        return found.map { $0.replacing("\(folder.path)/", with: "") }
    }

    @Test func aChangeMustLast() {
        folder.write("kymo.yaml", "drain: 1s\n")
        var (watch, _) = read()
        #expect(change(&watch) == nil)
        folder.write("kymo.yaml", "drain: 2s\n# more\n")
        let early = look(&watch, 2)
        #expect(early == nil)
        // It goes on.
        folder.write("kymo.yaml", "drain: 2s\n# more, and more\n")
        let later = [look(&watch, 2), look(&watch, 1)]
        #expect(later == [nil, "kymo.yaml"])
        watch.noteReading()
        #expect(change(&watch) == nil)
    }

    /// Of included files, of those that come and go with a pattern, and of one that is not there yet.
    @Test func includedFilesAreWatched() throws {
        folder.write("kymo.yaml", "include: [one.yaml, 'conf.d/*.yaml', later.yaml]\n")
        folder.write("one.yaml", "include: two.yaml\n")
        folder.write("two.yaml", "drain: 2s\n")
        folder.write("conf.d/a.yaml", "window: 1m\n")
        var (watch, settings) = read()
        #expect(settings.drainLimit == 2_000_000_000)
        #expect(change(&watch) == nil)
        for name in ["two.yaml", "conf.d/a.yaml", "conf.d/b.yaml", "later.yaml", "kymo.yaml"] {
            folder.write(name, "lateness: 3s\n# \(name)\n")
            #expect(change(&watch) == name)
            watch.noteReading()
            #expect(change(&watch) == nil)
        }
        try FileManager.default.removeItem(atPath: folder.file("conf.d/b.yaml"))
        #expect(change(&watch) != nil)
    }

    /// What is included for the first time is watched from before it was read.
    @Test func newIncludesAreWatched() {
        folder.write("kymo.yaml", "drain: 1s\n")
        var (watch, _) = read()
        folder.write("one.yaml", "drain: 3s\n")
        folder.write("kymo.yaml", "include: one.yaml\n")
        let rereading = ConfigurationRereading(ConfigurationInput(), path: folder.file("kymo.yaml"))
        let settings = rereading.read(&watch).settings
        #expect(settings.drainLimit == 3_000_000_000 && !watch.hasChanged)
        folder.write("one.yaml", "drain: 30s\n")
        #expect(watch.hasChanged)
    }

    @Test(
        arguments: [
            ("drain: 1s\n", nil), ("drain: 1s\n  \t", nil), (#"{"drain": "1s"}"#, nil), ("", "is empty"),
            (" ", "is empty"),
            ("drain: 1", "ends in the middle of a line"),
            ("sources: [{unix: a}, {unix: b", "ends in the middle of a line"),
            ("sources:\n  - {unix: a.sock}", "ends in the middle of a line"), ("[]", nil),
        ] as [(String, String?)]) func halfAFileIsTold(_ text: String, reason: String?)
    {
        folder.write("kymo.yaml", text)
        let watch = ConfigurationWatch(folder.file("kymo.yaml"), PipelineSettings())
        #expect(watch.incompleteness == reason.map { "\(folder.file("kymo.yaml")) \($0)" })
    }

    /// A change between the start's reading and the first look is found.
    @Test func theFirstLookReads() {
        folder.write("kymo.yaml", "drain: 1s\n")
        var watch = ConfigurationWatch(folder.file("kymo.yaml"), PipelineSettings())
        #expect(watch.isFirst)
        #expect(change(&watch) == "kymo.yaml")
        watch.noteReading()
        #expect(!watch.isFirst)
        #expect(change(&watch) == nil)
    }
}
