@testable import KymographCore
@testable import KymographTemplates
import Testing

/// Senders can give each reading tags of its own: an Observation has a bounded number of them.
@Suite struct TagBoundTests {
    private static let template = """
        {"typeName":"x","period":"1h","codes":[{"system":"urn:test","code":"1"}],
        "value":{"valueType":"Statistics","valueName":"v","unit":"%","code":"%"}}
        """

    private func window(_ count: Int, _ tags: (Int) -> [String]) -> TestWindow {
        var window = TestWindow(seconds: 3_600)
        for index in 0..<count { window.add(Int64(index) * 1_000_000, [0: "1"]) }
        window.tag(tags)
        return window
    }

    /// The tags of the Observation, its bytes, and how many have not all.
    private func encode(
        _ window: borrowing TestWindow, _ encoder: inout ObservationEncoder
    ) throws -> (tags: [String], bytes: Int, cut: Int) {
        var writer = ByteWriter()
        let outcome = window.withContent { encoder.encode($0, into: &writer) }
        #expect(outcome == .written(condensedValues: 0))
        let tags = try TextJSON.parse(writer.view.string).member("meta")?.member("tag")?.elements ?? []
        let texts = tags.map { [$0.text("system"), $0.text("code")].compactMap(\.self).joined(separator: "|") }
        return (texts, writer.count, encoder.losses.cutTags)
    }

    /// Of 10,000 labels the first in the order of their bytes are written, whichever reading has which.
    @Test func labelsOfTheirOwn() throws {
        var encoder = try TestPipeline(Self.template).encoder()
        let count = 10_000
        func label(_ number: Int) -> String { "urn:label|\(100_000 + number)" }
        let first = (0..<ReadingTags.mostWritten).map(label)
        for order in [{ $0 }, { count - 1 - $0 }, { $0 * 7_919 % count }] as [(Int) -> Int] {
            let found = try encode(window(count) { [label(order($0))] }, &encoder)
            #expect(found.tags == first && found.cut == 1)
            #expect(found.bytes < 64 * 100)
        }
    }

    /// The last that are all written, and the first that are not; what was left out of one is not said of the next.
    @Test func theBound() throws {
        var encoder = try TestPipeline(Self.template).encoder()
        for (number, cut) in [(65, 1), (64, 0), (66, 1), (1, 0)] {
            let tags = (0..<number).map { "t\(100 + $0)" }
            let found = try encode(window(number) { [tags[$0], tags[0]] }, &encoder)
            #expect(found.tags == Array(tags.prefix(64)) && found.cut == cut)
            let together = try encode(window(3) { $0 == 1 ? [] : tags }, &encoder)
            #expect(together.tags == Array(tags.prefix(64)) && together.cut == cut)
            let none = try encode(window(3) { _ in [] }, &encoder)
            #expect(none.tags == [] && none.cut == 0)
        }
    }
}
