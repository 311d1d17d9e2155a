@testable import KymographCore
import Testing

/// Values are of an expected length if the way that expects nothing finds their ends there.
@Suite struct ExpectedValueTests {
    private static let someTexts = [
        "", "a", "dev-00045", "fifteen-letters", "sixteen-letters-", "a\\n", "\u{1}", "é", "abcdefg\\\"",
        "0123456789ab\t",
    ]
    private static let someNumbers = [
        "1", "0", "01", "1700000000000", "123456789012345", "1234567890123456", "12.5", "-3", "", "1e5",
        "1700000000000.5",
    ]

    @Test(arguments: someTexts) func texts(_ text: String) {
        let storage = PaddedBytes(copying: (text + "\",\"next\":1}").utf8)
        let view = storage.view
        let end = PlainValue.textEnd(view, 0)
        for count in UInt8(0)..<16 {
            #expect(PlainValue.isText(view, 0, count: count) == (end == Int(count)))
        }
    }

    @Test(arguments: someNumbers) func numbers(_ number: String) {
        let storage = PaddedBytes(copying: (number + ",\"next\":1}").utf8)
        let view = storage.view
        var point = 0
        let end = PlainValue.numberEnd(view, 0, &point)
        for count in UInt8(1)..<16 {
            let isExpected = end == Int(count) && point == 0 && !number.hasPrefix("0")
            #expect(PlainValue.isInteger(view, 0, count: count) == isExpected)
        }
    }

    @Test func thoseThatAreUsualAreExpected() {
        let device = PaddedBytes(copying: "dev-00045\"".utf8)
        #expect(PlainValue.isText(device.view, 0, count: 9))
        let time = PaddedBytes(copying: "1700000000000,".utf8)
        #expect(PlainValue.isInteger(time.view, 0, count: 13))
    }
}
