import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// The limit of a bundle's bytes, which is estimated first and measured where that is close.
@Suite struct BundleSizeTests {
    /// No bundle is larger than its limit, unless it has one content; and none ends before it must.
    @Test(arguments: Trials.seeds(60)) func bundlesEndWhereTheyMust(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pipeline = try pipeline(&generator)
        let limit = Int.random(in: 500...30_000, using: &generator)
        var writer = pipeline.writer(maxEntries: 1_000, maxBytes: limit)
        var before: [Int] = []
        var windows: [(device: String, encounter: String?)] = []
        for number in 0..<80 {
            windows.append((identifier(&generator), Bool.random(using: &generator) ? identifier(&generator) : nil))
            let window = window(number, windows[number])
            if window.withContent({ writer.add($0) }) == .full {
                #expect(before.count == 1 || writer.finish().array.count <= limit, "seed \(seed), \(number)")
                let whole = text(of: before + [number], windows, pipeline)
                #expect(whole.count > limit, "seed \(seed), \(number): \(limit), \(pipeline.options.format)")
                #expect(!before.isEmpty, "seed \(seed), \(number)")
                #expect(writer.finish().array == text(of: before, windows, pipeline), "seed \(seed), \(number)")
                writer.reset()
                before = []
                #expect(window.withContent { writer.add($0) } == .added(condensedValues: 0))
            }
            before.append(number)
        }
    }

    private func pipeline(_ generator: inout SeededGenerator) throws -> TestPipeline {
        var pipeline = try TestPipeline(TestTemplates.heartRate)
        pipeline.options.bundleType = .allCases.randomElement(using: &generator) ?? .batch
        pipeline.options.write = .allCases.randomElement(using: &generator) ?? .putByID
        pipeline.options.format = .allCases.randomElement(using: &generator) ?? .bundle
        // Each of these is a percent sign and two digits in a search, and more where it is escaped in it.
        pipeline.options.deviceSystem = Bool.random(using: &generator) ? "urn:,$|\\" : "urn:d"
        return pipeline
    }

    /// Short or long, plain or of characters that are written as up to six.
    private func identifier(_ generator: inout SeededGenerator) -> String {
        let characters = Bool.random(using: &generator) ? ["a", "b", "7"] : ["\u{1}", ",", "\"", "\\", "é", "日"]
        let count = Bool.random(using: &generator) ? 8 : Int.random(in: 1...300, using: &generator)
        return (0..<count).map { _ in characters.randomElement(using: &generator) ?? "a" }.joined()
    }

    private func window(_ number: Int, _ names: (device: String, encounter: String?)) -> TestWindow {
        let start = TestWindow.tenOClock + Int64(number) * 60 * TestWindow.second
        var window = TestWindow(device: names.device, patient: nil, encounter: names.encounter, start: start)
        for second in 0..<Int64(number % 5 + 1) { window.add(second * TestWindow.second, [0: "\(60 + second)"]) }
        return window
    }

    /// The bundle, or the lines, of these windows.
    private func text(
        of numbers: [Int], _ windows: [(device: String, encounter: String?)], _ pipeline: TestPipeline
    ) -> [UInt8] {
        var writer = pipeline.writer(maxEntries: 1_000, maxBytes: 1 << 30)
        for number in numbers { window(number, windows[number]).withContent { _ = writer.add($0) } }
        return writer.finish().array
    }
}
