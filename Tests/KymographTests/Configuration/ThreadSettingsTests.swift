import Kymograph
import KymographTemplates
import Testing

/// How many threads there are, and where.
@Suite struct ThreadSettingsTests {
    @Test(arguments: [(1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 2, 1), (8, 4, 2), (16, 8, 4)])
    func countsSuitTheMachine(processors: Int, lanes: Int, shards: Int) {
        var settings = load("").settings
        settings.settleThreads(processors: processors)
        #expect(settings.lanes == lanes && settings.shards == shards)
    }

    @Test func whatIsStatedStays() {
        var settings = load("lanes: 3\nshards: auto").settings
        settings.settleThreads(processors: 16)
        #expect(settings.lanes == 3 && settings.shards == 4)
    }

    @Test(arguments: [
        ("0", [0]), ("0-3", [0, 1, 2, 3]), ("0-1,8", [0, 1, 8]), ("5,2-3", [5, 2, 3]), ("\"7-7\"", [7]),
    ])
    func processorsAreNumbersAndRanges(text: String, numbers: [Int]) {
        let result = load("processors: \(text)")
        #expect(result.diagnostics.map(\.text) == [] && result.settings.processors == numbers)
    }

    @Test(arguments: ["a", "3-1", "1-", "-1", "1,,2", "1-2-3", "1024", "0.5"])
    func otherTextsAreErrors(text: String) throws {
        let message = try #require(messages("processors: \"\(text)\"").first)
        #expect(message.contains("is no processor, nor a range of them; write numbers from 0 to 1023"))
    }

    @Test func aProcessorIsNamedOnce() {
        #expect(
            messages("processors: 0-2,1") == [
                "kymo.yaml:1:13: error: processors: processor 1 is named twice; name it once"
            ])
    }

    @Test func flagsSetThem() {
        let result = load(
            "lanes: 9", flags: [("lanes", "--lanes", "2"), ("processors", "--processors", "1,0")])
        #expect(result.settings.lanes == 2 && result.settings.processors == [1, 0])
    }
}
