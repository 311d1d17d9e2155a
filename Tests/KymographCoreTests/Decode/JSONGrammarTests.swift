import KymographCore
import Testing

/// RFC 8259, production by production.
@Suite struct JSONGrammarTests {
    static let valid = [
        "null", "true", "false", "0", "-0", "1", "-1", "10", "1234567890123456789012345", "0.0", "0.1", "-0.10",
        "1e1", "1E1", "1e+1", "1e-1", "1.5e300", "0e0", "-1.25E-07", "1e999", #""""#, #""a""#, #""a b""#,
        #""\"\\\/\b\f\n\r\t""#, #""\u0000\u00e9\u20AC""#, #""\ud83d\ude00""#, "\"é€😀\"", "\"\u{7F}\"",
        "\"\u{2028}\u{FEFF}\u{10FFFF}\"", "[]", "[ ]", "[1]", "[1,2]", "[ 1 , 2 ]", "[[],[[]]]", "{}", "{ }",
        #"{"a":1}"#, #"{ "a" : 1 , "b" : [ ] }"#, #"{"":""}"#, #"{"a":{"a":{"a":null}}}"#, " 1 ", "\t\n\r 1\r\n\t",
        "[true,false,null]", #"{"a":1,"a":2}"#, "[0]", "[-0.0]", #"{"\u0061":1}"#, #"["\\"]"#, #"["a\\\\"]"#,
        // A surrogate without its partner is grammatical (RFC 8259, section 8.2).
        #""\ud800""#, #""\udc00""#, #""\udc00\ud800""#, #""\ud800x""#, #""\ud800\u0041""#, #""\ud800\n""#,
    ]

    static let invalid = [
        "", " ", "\n", "nul", "nulL", "Null", "TRUE", "tru", "truee", "fals", "falsee", "undefined", "NaN", "Infinity",
        "-Infinity", "+1", "01", "-01", "00", "-", "--1", ".5", "1.", "1.e1", "1e", "1e+", "1e-", "1E+-1", "0x1", "1_0",
        "1,000", "1 2", "1a", "-a", "1.5.5", "1e5.5", #"""#, #""a"#, #""\"#, #""\""#, #""\x41""#, #""\u""#, #""\u12""#,
        #""\u123""#, #""\u12g4""#, #""\u 123""#, #""\U0041""#, #""\'""#, "\"\u{00}\"", "\"\u{1F}\"", "\"\n\"",
        "\"\t\"", "'a'", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1 2]", "[1}", "[1;2]", "[[]", "[]]",
        "{", "}", #"{"a"#, #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1,,"b":2}"#,
        #"{"a" 1}"#, #"{"a":1 "b":2}"#, #"{"a"::1}"#, #"{"a":1]"#, "{a:1}", "{1:1}", "{null:1}", "{'a':1}",
        #"{"a":}"#, #"{"a"}"#, #"{[]:1}"#, #"{"a":1}}"#, #"{"a":1}x"#, #"{"a":1}{"a":1}"#, "[1]1", "null null", "1,",
        "1 // comment", "/* c */ 1", "[1] #", "\u{FEFF}1", "\u{A0}1", "1\u{0}", "\u{0}1", "1\u{B}", "1\u{C}", "\\", ":",
        ",", "[:]", "{:}", "{\"a\u{1}\":1}", #"{"\x":1}"#, #"{"a\":1}"#,
    ]

    @Test(arguments: valid) func accepts(_ document: String) {
        #expect(ScanOutcome(document).isValid, "\(document)")
    }

    @Test(arguments: invalid) func refuses(_ document: String) {
        let reason = ScanOutcome(document).reason
        // A stray character outside a string is refused for the first reason that is found.
        #expect(reason == .invalidJSON || reason == .invalidUTF8, "\(document)")
    }

    @Test func namesThePlaceOfTheFirstFault() {
        let places: [(String, Int)] = [
            ("", 0), ("  ", 2), ("[1,]", 3), (#"{"a" 1}"#, 5), (#"{"a":1}x"#, 7), ("nul", 0), (#""ab"#, 3),
            (#""a\x""#, 2), ("\"a\u{1}\"", 2), ("[1", 2), ("01", 2), ("[1.]", 3), ("tru", 0), ("[1 2]", 3),
        ]
        for (document, offset) in places {
            #expect(ScanOutcome(document) == .refused(.invalidJSON, offset), "\(document)")
        }
    }

    @Test func countsValuesWithTheEnvelopeAroundThem() {
        #expect(ScanOutcome("1") == .values(4))
        #expect(ScanOutcome(#"{"a":[1,2]}"#) == .values(7))
        #expect(ScanOutcome(#"{"Body":1}"#) == .values(3))
    }

    // MARK: Limits

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")]) func capsDepth(_ open: String, _ close: String) {
        func nested(_ depth: Int) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        #expect(ScanOutcome(nested(64)).isValid)
        #expect(ScanOutcome(nested(65)) == .refused(.tooDeep, 64 * open.utf8.count))
        #expect(ScanOutcome(nested(1024), limits: ScanLimits(depth: 1024)).isValid)
        #expect(ScanOutcome(nested(1025), limits: ScanLimits(depth: 1024)).reason == .tooDeep)
        #expect(ScanOutcome(nested(2), limits: ScanLimits(depth: 1)).reason == .tooDeep)
        #expect(ScanOutcome(String(repeating: open, count: 100_000)).reason == .tooDeep)
    }

    @Test(arguments: ["1", #""a""#, "null", "[]", "{}", #"{"a":1}"#])
    func capsValuesOfArrays(_ element: String) {
        let document = "[" + Array(repeating: element, count: 100).joined(separator: ",") + "]"
        #expect(ScanOutcome(document, limits: ScanLimits(values: 50)).reason == .tooManyValues)
        #expect(ScanOutcome(document, limits: ScanLimits(values: 500)).isValid)
    }

    @Test func capsValuesOfObjects() {
        let document = "{" + (0..<100).map { "\"k\($0)\":0" }.joined(separator: ",") + "}"
        #expect(ScanOutcome(document, limits: ScanLimits(values: 50)).reason == .tooManyValues)
    }
}
