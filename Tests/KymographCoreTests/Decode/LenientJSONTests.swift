import Foundation
import Testing

@testable import KymographCore
@testable import KymographTemplates
import TrialSupport

/// What the reference's reader takes besides JSON.
@Suite struct LenientJSONTests {
    /// The strict form of a document, or where it is refused.
    static func rewrite(_ document: String) -> String {
        var lenient = LenientJSON()
        var writer = ByteWriter()
        let storage = PaddedBytes(copying: document.utf8)
        do throws(ScanFailure) {
            let end = try lenient.rewrite(storage.view, into: &writer)
            return writer.view.string + (end == document.utf8.count ? "" : " +\(end)")
        } catch {
            return "\(error.reason) \(error.offset)"
        }
    }

    static let rewritten: [(String, String)] = [
        (#"{"a":[1,"x",null,true,-1.5e3,{}]}"#, #"{"a":[1,"x",null,true,-1.5e3,{}]}"#),
        ("// first\n{}", "{}"), ("{/* a */\"a\"/**/:/***/1/* x */,// y\n\"b\":2}//", #"{"a":1,"b":2} +41"#),
        ("[1,// c\r2]", "[1,2]"), ("/*/ */1", "1"), ("{'a':'b'}", #"{"a":"b"}"#),
        (#"['it\'s','say "x"',"it\'s","a\"b",'\u00e9\n']"#, #"["it's","say \"x\"","it's","a\"b","\u00e9\n"]"#),
        ("{a:1,$b_2 : 2, é:3,null:4,1:5}", #"{"a":1,"$b_2":2,"é":3,"null":4,"1":5}"#),
        ("[NaN,Infinity,-Infinity]", #"["NaN","Infinity","-Infinity"]"#), ("NaN", #""NaN""#), ("[undefined]", "[null]"),
        ("[1,]", "[1]"), (#"{"a":1,}"#, #"{"a":1}"#), (#"[[1,],{"a":[],},]"#, #"[[1],{"a":[]}]"#),
        ("[1, /* c */ ]", "[1]"), ("[\"a\tb\nc\u{1}\"]", #"["a\u0009b\u000ac\u0001"]"#),
        ("\u{A0}[\u{B}1\u{C},\u{2003}2]", "[1,2]"), (#"{"a":1} and more"#, #"{"a":1} +7"#), ("1 2", "1 +1"),
        ("[]]", "[] +2"), ("''", #""""#), ("{'':1}", #"{"":1}"#), (#"["//","/*"]"#, #"["//","/*"]"#),
        // What the scan says: copied as it is.
        ("[01,tru]", "[01,tru]"), (#"["\x"]"#, #"["\x"]"#), ("{\"a\" /**/ : 1 // x\n}", #"{"a":1}"#),
    ]

    @Test(arguments: rewritten) func rewrites(_ document: String, _ expected: String) {
        #expect(LenientJSONTests.rewrite(document) == expected, "\(document)")
    }

    static let refused: [(String, Int)] = [
        ("", 0), (" // x", 5), ("[1", 2), ("[,]", 1), ("[,1]", 1), ("[1,,2]", 3), ("{,}", 1), (#"{"a":1,,}"#, 7),
        (#"{"a"}"#, 4), (#"{"a":}"#, 5), (#"{"a":,}"#, 5), ("{'a':1 'b':2}", 7), ("[1 2]", 3), ("[1}", 2), ("{]", 1),
        ("/* x", 0), ("[/x]", 1), ("['a]", 4), ("[\"a']", 5), ("{a b:1}", 3), ("{-a:1}", 1), ("[#]", 1), ("/", 0),
        ("{[1]:2}", 1), ("[1,2", 4), ("{a", 2),
    ]

    @Test(arguments: refused) func refuses(_ document: String, _ offset: Int) {
        #expect(LenientJSONTests.rewrite(document) == "invalidJSON \(offset)", "\(document)")
    }

    @Test func refusesEndlessNesting() {
        #expect(LenientJSONTests.rewrite(String(repeating: "[", count: 100_000)) == "tooDeep 1024")
    }

    @Test func knowsWhereEachPartWas() throws {
        let document = "/* é */ {a: [1, 'x', /*c*/ 22,], // note\n  'long name': NaN, \"t\tt\": [3]}"
        var lenient = LenientJSON()
        var writer = ByteWriter()
        let storage = PaddedBytes(copying: document.utf8)
        _ = try lenient.rewrite(storage.view, into: &writer)
        let strict = writer.view.string
        #expect(strict == #"{"a":[1,"x",22],"long name":"NaN","t\u0009t":[3]}"#)
        func original(_ part: String) throws -> String {
            let place = try #require(strict.range(of: part))
            let offset = lenient.original(strict.utf8.distance(from: strict.startIndex, to: place.lowerBound))
            return String(decoding: Array(document.utf8)[offset...].prefix(part.utf8.count), as: UTF8.self)
        }
        for part in ["{", "[1", "22", "long name", "NaN", "[3]}"] { #expect(try original(part) == part) }
        #expect(try original("\"x\"") == "'x'")
        #expect(try original("\"long") == "'long")
        #expect(lenient.first(.comment) == 0)
        #expect(lenient.first(.trailingComma) == 30)
        #expect(lenient.first(.undefined) == nil)
    }

    // MARK: Fuzz

    /// Whatever is rewritten and passes the scan is the same when Foundation reads it as JSON5, where both mean the same.
    @Test(arguments: Trials.seeds(5)) func neverCrashesAndStaysJSON(_ seed: UInt64) throws {
        var random = WindowRandom(seed: seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "'b'", "c", "1", "-2.5", "NaN", "-Infinity", "// x\n", "/* y */",
            " ", "\n",
            "true", "null", "undefined", "'", "\"", "\\", "/", "*", "\u{1}", "é", "\u{A0}", "'it\\'s'", "\\u0041",
        ]
        var lenient = LenientJSON()
        var writer = ByteWriter()
        var passed = 0
        for _ in 0..<20_000 {
            let document = (0..<random.int(1...12)).map { _ in pieces[random.int(0...pieces.count - 1)] }.joined()
            let storage = PaddedBytes(copying: document.utf8)
            do throws(ScanFailure) {
                let end = try lenient.rewrite(storage.view, into: &writer)
                #expect(end <= document.utf8.count)
                let outcome = ScanOutcome(writer.view.array)
                guard case .values = outcome else { continue }
                passed += 1
                let isInside = (0..<writer.count).allSatisfy { lenient.original($0) <= document.utf8.count }
                if !isInside { Issue.record("\(document)") }
                // Strict documents are left as they are, but for white space.
                if ScanOutcome(document).isValid {
                    #expect(
                        writer.view.string.filter { !" \n".contains($0) } == document.filter { !" \n".contains($0) })
                }
            } catch {
                #expect(error.offset >= 0 && error.offset <= document.utf8.count)
                #expect(!ScanOutcome(document).isValid, "\(document)")
            }
        }
        #expect(passed > 500)
    }

    // MARK: Mapping files

    private func parse(_ text: String) -> (node: JSONNode?, texts: [String]) {
        var log = DiagnosticLog(file: "f.json")
        let node = JSONNode.parse(Array(text.utf8), log: &log)
        return (node, log.all.map(\.text))
    }

    @Test func readsMappingFilesAndNamesEachExtraOnce() throws {
        let (node, texts) = parse("{\n  // one\n  // two\n  a: [1, 2,],\n  'b': 'x',\n}\n// end\n")
        let members = try #require(node?.members)
        #expect(members.map(\.name) == ["a", "b"])
        #expect(members.map(\.position.line) == [4, 5])
        #expect(members.map(\.position.column) == [3, 3])
        #expect(members[1].node.position.column == 8)
        let advice = "it is read as the reference reads it; other tools may refuse the file"
        #expect(
            texts == [
                "f.json:2:3: warning: not standard JSON: a comment; \(advice)",
                "f.json:5:3: warning: not standard JSON: a text in single quotes; \(advice)",
                "f.json:4:3: warning: not standard JSON: a name without quotes; \(advice)",
                "f.json:4:11: warning: not standard JSON: a comma before a closing bracket; \(advice)",
            ])
    }

    @Test func namesThePlaceOfAFaultBehindAnExtra() {
        #expect(
            parse("{ // c\n \"a\": 1\n \"b\": 2}").texts.first?.hasPrefix("f.json:3:2: error: not valid JSON") == true)
        #expect(parse("{ // c\n \"a\": tru}").texts.first?.hasPrefix("f.json:2:7: error: not valid JSON") == true)
        #expect(parse("{\"a\": 1} x").texts.first?.hasPrefix("f.json:1:10: error: not valid JSON") == true)
        #expect(parse("{a: 1} x").texts.first?.hasPrefix("f.json:1:8: error: not valid JSON") == true)
        // An extra behind the fault changes nothing.
        #expect(parse("{\n \"a\": tru,\n // c\n}").texts.first?.hasPrefix("f.json:2:7: error: not valid") == true)
        #expect(
            parse("{ // c\n 'a': [1,],\n \"b\": \"\\q\"}").texts.first?.hasPrefix("f.json:3:8: error: not valid")
                == true)
        #expect(parse("{ // c\n a: [1,, 2]}").texts.first?.hasPrefix("f.json:2:8: error: not valid JSON") == true)
        #expect(parse("{ // c\n \"a\": 1").texts.first?.hasPrefix("f.json:2:8: error: the file ends") == true)
        #expect(parse("{\"a\": 1,").texts.first?.contains("ends in the middle") == true)
        #expect(parse("\u{FEFF}{}").texts.isEmpty)
        #expect(parse("\u{FEFF}{a:1}").texts.count == 1)
    }

    @Test func loadsAMappingWithCommentsAndTrailingCommas() throws {
        let device = """
            { /* the reference reads this */ "templateType": "CollectionContent", "template": [
              { "templateType": "JsonPathContent", "template": {
                "typeName": "t", "typeMatchExpression": "$..[?(@v)]", "deviceIdExpression": "$.d",
                "timestampExpression": "$.t", "values": [{"valueName": "x", "valueExpression": "$.v",},], } } ] }
            """
        let run = try MappingRun(device: device)
        #expect(run.line(TestTemplate.reading("\"v\":5")).values() == ["5"])
    }
}
