import Kymograph
import Testing

/// Which dead letters can be sent as a line.
@Suite struct LetterLineTests {
    @Test(arguments: [
        ("{\"a\":1}", "{\"a\":1}\n"), ("{oops", "{oops\n"), ("[1,\n2]", "[1, 2]\n"), ("00 48", "00 48\n"),
        ("{\"a\":1}\r", "{\"a\":1}\r\r\n"), (" {\"\\\"\":\r\n1}", " {\"\\\"\":\r 1}\n"),
    ])
    func lines(letter: String, line: String) {
        #expect(LetterLine.line(Array(letter.utf8)) == Array(line.utf8))
    }

    @Test(
        arguments: [
            [], [0x0A, 0x48, 0x10, 0x00], [0x4B, 0x01, 0x00], [0x30, 0xFF], Array("a\nb".utf8), Array("a\rb".utf8),
            Array("{\"a\":\"x\ny\"}".utf8), Array("{\"a\\\"\n\":1}".utf8), Array("{//\n\"a\":1}".utf8),
            Array("{'a\n':1}".utf8),
        ] as [[UInt8]])
    func others(letter: [UInt8]) {
        #expect(LetterLine.line(letter) == nil)
    }
}
