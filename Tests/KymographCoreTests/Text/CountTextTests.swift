import KymographCore
import Testing

/// Numbers of things in messages.
@Suite struct CountTextTests {
    @Test(arguments: [(0, "0 entries were"), (1, "1 entry was"), (2, "2 entries were"), (11, "11 entries were")])
    func words(number: Int, text: String) {
        #expect(CountText.of(number, one: "entry was", many: "entries were") == text)
    }

    @Test(arguments: [(0, "0 windows"), (1, "1 window"), (21, "21 windows"), (-1, "-1 windows")])
    func nouns(number: Int, text: String) {
        #expect(CountText.of(number, "window") == text)
    }
}
