import KymographCore
import Testing

/// More documents at the edges of RFC 8259, after the ideas of the usual parser test collections: what must be taken,
/// what must be refused, and what is left open and is taken here.
@Suite struct JSONSuiteTests {
    static let accepted = [
        "[[]   ]", "[\"\"]", "[]", "[\"a\"]", "[false]", "[null, 1, \"1\", {}]", "[null]", "[1\n]", " [1]",
        "[1,null,null,null,2]",
        "[2] ", "\t[\r\n1\t]\r\n", "[123e65]", "[0e+1]", "[0e1]", "[ 4]",
        "[-0.000000000000000000000000000000000000000001]",
        "[20e1]", "[-0]", "[-123]", "[-1]", "[1E22]", "[1E-2]", "[1E+2]", "[123.456e78]", "[123.456789]",
        "[0.1e-999999]",
        "[1e99999999999999999999]", "[123456789012345678901234567890123456789]",
        "[0.00000000000000000000000000000000000001]",
        #"{"asd":"sdf", "dfg":"fgh"}"#, #"{"a":"b","a":"c"}"#, #"{"a":"b","a":"b"}"#, "{}", #"{"":0}"#,
        #"{"foo\u0000bar": 42}"#,
        #"{"x":[{"id": "xx"}], "id": "xx"}"#, #"{"a":[]}"#, "{\n\"a\": \"b\"\n}", #"{"\u0000":{"\u0000":null}}"#,
        #"["\u0060\u012a\u12AB"]"#, #"["\uD801\udc37"]"#, #"["\ud83d\ude39\ud83d\udc8d"]"#, #"["\"\\\/\b\f\n\r\t"]"#,
        #"["\\u0000"]"#,
        #"["\""]"#, "[\"a/*b*/c/*d//e\"]", #"["\\a"]"#, #"["\\n"]"#, #"["\u0012"]"#, #"["\uFFFF"]"#, "[\"\u{FFFF}\"]",
        "[\"\u{10FFFF}\"]", "[\"\u{1BFFF}\"]", #"["\u0821\u0123"]"#, "\" \"", #"["\uDBFF\uDFFE"]"#,
        #"["new\u00A0line"]"#,
        "[\"\u{2028}\"]", "[\"\u{2029}\"]", #"["\u005C"]"#, #"["\u0022"]"#, "[\"π\"]", "[\"asd \"]", "\"\"",
        #"["\uA66D"]"#, "[\"€𝄞\"]",
        "[\"a\u{7F}a\"]", "false", "42", "-0.1", "null", "\"asd\"", "true", "[true]", "[\"\u{200B}\"]",
        "[\"\u{FEFF}\"]", "[\" \"]",
        // Left open by the grammar: surrogates without a partner, numbers beyond any type, many nested values.
        #"["\uDADA"]"#, #"["\uD888\u1234"]"#, #"["\uD800\n"]"#, #"["\uDd1ea"]"#, #"["\uD800\uD800\n"]"#, #"["\ud800"]"#,
        #"["\ud800abc"]"#, #"["\uDd1e\uD834"]"#, #"["\uDFAA"]"#, "[-1e+9999]", "[1.5e+9999]", "[-123123e100000]",
        "[123123e100000]",
        "[100000000000000000000]", "[-237462374673276894279832749832423479823246327846]",
    ]

    static let refused = [
        "[1 true]", "[a\u{E5}]", "[\"\": 1]", "[\"\"],", "[,1]", "[1,,2]", "[\"x\",,]", "[\"x\"]]", "[\"\",]", "[\"x\"",
        "[x", "[3[4]]",
        "[1:2]", "[,]", "[-]", "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]", "[1,,]", "[\"\u{B}a\"\\f]", "[*]", "[\"\"",
        "[1,", "[1,\n1\n,1",
        "[{}", "[fals]", "[nul]", "[tru]", "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]", "[-NaN]", "[.-1]",
        "[.2e-3]",
        "[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]", "[0E+]", "[0E]", "[0e+]", "[0e]", "[1.0e+]", "[1.0e-]", "[1.0e]",
        "[1 000.0]",
        "[1eE2]", "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]", "[Inf]", "[NaN]", "[\u{FF11}]", "[1+2]", "[0x1]", "[0x42]",
        "[Infinity]",
        "[0e+-1]", "[-123.123foo]", "[-Infinity]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]", "[1ea]", "[1.]",
        "[.123]",
        "[1.2a-3]", "[1.8011670033376514H-308]", "[012]", #"["x", truth]"#, "{[: \"x\"}", "{\"x\", null}",
        "{\"x\"::\"b\"}",
        "{🇨🇭}", "{\"a\":\"a\" 123}", "{key: 'value'}", "{\"a\" b}", "{:\"b\"}", "{\"a\" \"b\"}", "{\"a\":", "{\"a\"",
        "{1:1}",
        "{9999E9999:1}", "{null:null,null:null}", "{\"id\":0,,,,,}", "{'a':0}", "{\"id\":0,}", "{\"a\":\"b\"}/**/",
        "{\"a\":\"b\"}//",
        "{\"a\":\"b\",,\"c\":\"d\"}", "{a: \"b\"}", "{\"a\":\"a", "{ \"foo\" : \"bar\", \"a\" }", "{\"a\":\"b\"}#", " ",
        "[\"\\uD800\\\"]",
        "[\"\\uD800\\u\"]", "[\"\\uD800\\u1\"]", "[\"\\uD800\\u1x\"]", "[\u{E9}]", "[\"\\\u{0}\"]", "[\"\\x00\"]",
        "[\"\\\\\\\"]",
        "[\"\\\t\"]", "[\"\\🌀\"]", "[\"\\\"]", "[\"\\u00A\"]", "[\"\\uD834\\uDd\"]", "[\"\\a\"]", "[\"\\uqqqq\"]",
        "[\\u0020\"asd\"]",
        "[\\n]", "\"", "['single quote']", "abc", "[\"\\", "[\"a\u{0}a\"]", "[\"new\nline\"]", "[\"\t\"]",
        "\"\\UA66D\"", "\"\"x",
        "<.>", "[<null>]", "[1]x", "[1]]", "[\"asd]", "a\u{E5}", "[True]", "1]", "{\"x\": true,", "[][]", "]", "\u{EF}",
        "{}}", "{\"\":",
        "{\"a\":/*comment*/\"b\"}", "{\"a\": true} \"x\"", "['", "[,", "{", "[\"a", "[\"\\{[\"\\{[\"\\{", "{\"a", "{,",
        "{[", "{'a'",
        "*", "{\"a\":\"b\"}#{}", "[\\u000A\"\"]", "[1", "[ false, nul", "[ true, fals", "{\"asd\":\"asd\"", "å",
        "[\u{2060}]", "[\u{C}]",
        "\u{FEFF}{}",
    ]

    @Test(arguments: accepted) func accepts(_ document: String) {
        #expect(ScanOutcome(document).isValid, "\(document)")
    }

    @Test(arguments: refused) func refuses(_ document: String) {
        let reason = ScanOutcome(document).reason
        #expect(reason == .invalidJSON || reason == .invalidUTF8, "\(document)")
    }

    /// Bytes that are no UTF-8 inside strings and keys, and other encodings.
    static let otherBytes: [[UInt8]] = [
        [0x5B, 0x22, 0xE5, 0x22, 0x5D], [0x5B, 0x22, 0xFC, 0x80, 0x80, 0x80, 0x80, 0x80, 0x22, 0x5D],
        [0x5B, 0xFF, 0x5D],
        [0x5B, 0x22, 0xC0, 0xAF, 0x22, 0x5D], [0x7B, 0x22, 0xB9, 0x22, 0x3A, 0x31, 0x7D],
        [0x5B, 0x22, 0xE0, 0xFF, 0x22, 0x5D],
        [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], [0x00, 0x5B, 0x00, 0x5D], [0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D],
    ]

    @Test(arguments: otherBytes) func refusesOtherBytes(_ document: [UInt8]) {
        #expect(!ScanOutcome(document).isValid, "\(document)")
    }

    @Test func takesAnyNumberOfDigitsAndNames() {
        #expect(ScanOutcome("[" + String(repeating: "9", count: 100_000) + "]").isValid)
        #expect(ScanOutcome("[0." + String(repeating: "0", count: 100_000) + "1]").isValid)
        #expect(ScanOutcome(#"{""# + String(repeating: "k", count: 100_000) + #"":1}"#).isValid)
        #expect(ScanOutcome("\"" + String(repeating: "é", count: 100_000) + "\"").isValid)
        #expect(ScanOutcome(String(repeating: " ", count: 100_000) + "1").isValid)
    }
}
