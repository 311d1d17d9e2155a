import Foundation
import Kymograph
import Testing

/// Sinks that get the readings of some sources only.
@Suite struct SourceFilterTests {
    private func configuration(_ text: String, _ folder: Folder, isKept: Bool) -> EngineConfiguration {
        var configuration = EngineConfiguration(
            text, storage: isKept ? .directory(folder.path("data")) : .ephemeral)
        configuration.sources = ["ward-1", "ward-2"]
        return configuration
    }

    /// A source that the program submits to goes by the name that the program gave it, and by that of messages.
    @Test(arguments: ["ward-1", "w*d-1", "app ward-1", "*-1"], [true, false])
    func aPatternIsOfWhatTheProgramCallsASource(pattern: String, isKept: Bool) async throws {
        let folder = Folder()
        let (some, all) = (Chart(), Chart())
        var configuration = self.configuration("", folder, isKept: isKept)
        var first = EntrySink("some") { entries in await some.store(entries) }
        first.sources = [pattern]
        configuration.sinks = [first, EntrySink("all") { entries in await all.store(entries) }]
        let engine = try KymographEngine(configuration)
        async let summary = engine.run()
        for number in 1...2 {
            _ = try await engine.submit(heartRate(0, device: "watch-\(number)"), from: "ward-\(number)")
        }
        engine.stop()
        #expect(try await summary.accepted == 2)
        #expect(await some.resources.values.map(\.device?.value) == ["watch-1"])
        #expect(await all.resources.count == 2)
    }

    @Test func aPatternThatNoSourceHasIsAnError() throws {
        var configuration = self.configuration("", Folder(), isKept: false)
        var sink = EntrySink("some") { _ in }
        sink.sources = ["ward-1", "ward-3"]
        configuration.sinks = [sink]
        let error = #expect(throws: EngineError.self) { try KymographEngine(configuration) }
        #expect(
            error?.problems.map(\.description) == [
                "parameters:1:1: error: sinks: some: no source is called 'ward-3'; the sources are app ward-1, app ward-2"
            ])
    }

    /// Sinks of the text know the sources that the program adds, and may be none beside the program's own.
    @Test func theTextMayNameWhatTheProgramAdds() async throws {
        let folder = Folder()
        let chart = Chart()
        let text = "sinks: [{to: '\(folder.path("out"))', sources: ['app ward-2']}]"
        var named = self.configuration(text, folder, isKept: false)
        named.sinks = [EntrySink("chart") { entries in await chart.store(entries) }]
        let engine = try KymographEngine(named)
        async let summary = engine.run()
        for number in 1...2 {
            _ = try await engine.submit(heartRate(0, device: "watch-\(number)"), from: "ward-\(number)")
        }
        engine.stop()
        _ = try await summary
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("out"))
        let written = files.compactMap { FileManager.default.contents(atPath: "\(folder.path("out"))/\($0)") }
        let lines = written.map { String(decoding: $0, as: UTF8.self) }.joined()
        #expect(lines.contains("watch-2") && !lines.contains("watch-1"))
        #expect(await chart.resources.count == 2)
        var nowhere = self.configuration("output: {to: none}", folder, isKept: false)
        nowhere.sinks = [EntrySink("chart") { _ in }]
        _ = try KymographEngine(nowhere)
    }
}
