import Testing

@testable import KymographCore
@testable import KymographTemplates

/// One expression over one document by the evaluator itself, as the mapper uses it.
struct JMESPathHarness: ~Copyable {
    var evaluator: JMESPathEvaluator
    var scanner: JSONScanner
    let reference: JMESPathReference
    let storage: PaddedBytes

    /// Scans `document`, with the envelope around it unless `payloadIsRoot`; the scanner knows the expression's names
    /// when `knowsNames`.
    init(
        _ expression: String, _ document: String, payloadIsRoot: Bool = true, knowsNames: Bool = true,
        limits: ScanLimits = ScanLimits()
    ) throws {
        var program = ExpressionProgram()
        let compiled = try JMESPathParser.compile(expression, into: &program.jmesPaths)
        program.shareNames()
        let paths = knowsNames ? program.paths : PathProgram()
        var scanner = JSONScanner(
            names: NameTable(paths.names), limits: ScanLimits(), marksUnnamed: program.paths.selectsUnnamed,
            buildsProperties: program.paths.mentionsProperties, payloadIsRoot: payloadIsRoot)
        let storage = PaddedBytes(copying: document.utf8)
        _ = try scanner.scan(storage.view, from: 0)
        evaluator = JMESPathEvaluator(program: program.jmesPaths, limits: limits, names: paths.names)
        self.scanner = scanner
        self.storage = storage
        reference = compiled
    }

    mutating func evaluate(matched: Int = -1) throws(EvaluationError) -> JMESPathResult {
        try evaluator.evaluate(
            reference, scanner: scanner, root: scanner.root, matched: matched, bytes: storage.view)
    }

    /// A value as JSON.
    mutating func json(_ handle: Int) throws -> String {
        if handle == PathEvaluator.none { return "none" }
        if handle == PathEvaluator.several { return "several" }
        var writer = ByteWriter()
        try evaluator.appendJSON(of: handle, scanner: scanner, bytes: storage.view, to: &writer)
        return writer.view.string
    }

    mutating func single(compatible: Bool) throws -> String {
        try json(evaluator.single(try evaluate(), compatible: compatible))
    }

    mutating func matches(compatible: Bool) throws -> [String] {
        var texts: [String] = []
        for place in evaluator.matches(try evaluate(), compatible: compatible) {
            texts.append(try json(evaluator.handle(at: place)))
        }
        return texts
    }
}

/// What the mapper relies on.
@Suite struct JMESPathEvaluatorTests {
    private static let list = #"{"l":[{"v":1},{"v":2}],"one":[{"v":3}],"none":[],"no":false,"yes":true,"null":null}"#

    /// Quirk 11: expression, what the default gives, what the reference gives.
    @Test(arguments: [
        ("l[*].v", "several", "several"), ("one[*].v", "3", "[3]"), ("none[*].v", "none", "[]"),
        ("one[?v == `9`]", "none", "[]"), ("one[].v", "3", "[3]"), ("one[0:1].v", "3", "[3]"), ("one[0].*", "3", "[3]"),
        ("l[*].v | [0]", "1", "1"), ("one", #"[{"v":3}]"#, #"[{"v":3}]"#), ("none", "[]", "[]"),
        ("null", "none", "none"),
        ("missing[*].v", "none", "none"), ("no", "false", "false"), ("[one[0].v]", "[3]", "[3]"),
        ("missing || one[*].v", "3", "[3]"), ("(one[*].v)", "3", "[3]"), ("to_array(one[*].v)", "[3]", "[3]"),
        ("yes && l[*].v", "several", "several"), ("one[*].v | @", "[3]", "[3]"), ("one | [*].v", "3", "[3]"),
    ])
    func unwrapsProjections(_ expression: String, _ byDefault: String, _ compatible: String) throws {
        var harness = try JMESPathHarness(expression, JMESPathEvaluatorTests.list)
        #expect(try harness.single(compatible: false) == byDefault)
        #expect(try harness.single(compatible: true) == compatible)
    }

    /// Quirk 12: expression, the matches, and whether the reference has the same.
    @Test(arguments: [
        ("l[*]", [#"{"v":1}"#, #"{"v":2}"#], true), ("l", [#"[{"v":1},{"v":2}]"#], true), ("none[*]", [], true),
        ("none", ["[]"], true), ("missing", [], true), ("null", [], true), ("no", [], false), ("yes", ["true"], true),
        ("l[?v > `1`]", [#"{"v":2}"#], true), ("contains(keys(@), 'zzz')", [], false), ("''", [#""""#], true),
        ("l[*].{w: v}", [#"{"w":1}"#, #"{"w":2}"#], true), ("to_array(@)[?yes].no", ["false"], true),
    ])
    func givesMatches(_ expression: String, _ matches: [String], _ agrees: Bool) throws {
        var harness = try JMESPathHarness(expression, JMESPathEvaluatorTests.list)
        #expect(try harness.matches(compatible: false) == matches)
        #expect(try harness.matches(compatible: true) == (agrees ? matches : ["false"]))
    }

    @Test(arguments: [true, false]) func addsTheMatchToTheRoot(knowsNames: Bool) throws {
        let document = #"{"Body":{"l":[{"v":1.50},{"v":2}],"matchedToken":9},"matchedToken":8,"d":"x"}"#
        for (expression, expected) in [
            ("matchedToken.v", "2"), ("Body.l[0].v", "1.50"), ("d", #""x""#), ("Body.matchedToken", "9"),
            ("keys(@)", #"["Body","d","matchedToken"]"#), ("[matchedToken.v, d]", #"[2,"x"]"#),
            ("matchedToken[0]", "none"),
            ("merge(matchedToken, {w: d})", #"{"v":2,"w":"x"}"#), ("@.matchedToken == Body.l[1]", "true"),
        ] {
            var harness = try JMESPathHarness(expression, document, knowsNames: knowsNames)
            // Root, Body, l, and the two elements with a member each.
            let second = 6
            for _ in 0..<3 {
                let result = try harness.evaluate(matched: second)
                #expect(
                    try harness.json(harness.evaluator.single(result, compatible: false)) == expected, "\(expression)")
            }
        }
    }

    @Test func addsTheMatchToWhatIsNoObject() throws {
        var harness = try JMESPathHarness("[@, matchedToken]", "[7]")
        let result = try harness.evaluate(matched: 2)
        #expect(try harness.json(result.handle) == #"[{"matchedToken":7},7]"#)
    }

    @Test func seesTheEnvelope() throws {
        for (expression, expected) in [
            ("Body.v", "5"), ("keys(@)", #"["Body","Properties","SystemProperties"]"#), ("Properties", "{}"),
            ("to_string(@)", #""{\"Body\":{\"v\":5},\"Properties\":{},\"SystemProperties\":{}}""#), ("*.v", "5"),
        ] {
            var harness = try JMESPathHarness(expression, #"{"v":5}"#, payloadIsRoot: false)
            #expect(try harness.single(compatible: false) == expected, "\(expression)")
        }
    }

    @Test(arguments: [true, false]) func takesTheLastOfDuplicateKeys(knowsNames: Bool) throws {
        for document in [#"{"a":1,"b":3,"a":2}"#, #"{"a":1,"b":3,"x":{},"\u0061":2}"#, #"{"\u0061":1,"b":{},"a":2}"#] {
            for expression in ["a", "[a] | [0]", "length(keys(@)) && a", "merge(@).a"] {
                var harness = try JMESPathHarness(expression, document, knowsNames: knowsNames)
                #expect(try harness.single(compatible: false) == "2", "\(expression) \(document)")
            }
        }
    }

    @Test func marksWhatItMakes() throws {
        var date = try JMESPathHarness("fromUnixTimestamp(`5`)", "{}")
        let handle = try date.evaluate().handle
        #expect(date.evaluator.token(handle, scanner: date.scanner).flags == Token.date)
        var escaped = try JMESPathHarness("a", #"{"a":"\u0041"}"#)
        let text = try escaped.evaluate().handle
        #expect(escaped.evaluator.token(text, scanner: escaped.scanner).flags == Token.escaped)
        var sum = try JMESPathHarness("add(a, `1.5`)", #"{"a":1.0}"#)
        let number = try sum.evaluate().handle
        let token = sum.evaluator.token(number, scanner: sum.scanner)
        let bytes = sum.evaluator.bytes(of: number, document: sum.storage.view)
        #expect(DecimalParser.parse(bytes[token.range]) == .number(Decimal64(mantissa: 25, exponent: -1)))
    }

    @Test func countsWraps() throws {
        var harness = try JMESPathHarness("add(a, multiply(a, `2`))", #"{"a":9223372036854775807}"#)
        #expect(try harness.single(compatible: false) == "9223372036854775805")
        #expect(harness.evaluator.wraps == 1)
        harness.evaluator.reset()
        _ = try harness.evaluate()
        #expect(harness.evaluator.wraps == 2)
    }

    @Test(arguments: [
        ("a", ["a"]), ("a.b.c", ["a", "b", "c"]), (#""a b".c"#, ["a b", "c"]), ("a | b", ["a", "b"]), ("a[0]", nil),
        ("@.a", nil),
        ("a.*", nil), ("length(a)", nil), ("a.[b]", nil), ("`1`", nil),
    ])
    func knowsMemberChains(_ expression: String, _ names: [String]?) throws {
        var program = JMESPathProgram()
        let reference = try JMESPathParser.compile(expression, into: &program)
        #expect(JMESPathProgram.memberChain(reference, in: program) == names)
        #expect(JMESPathProgram.memberChain(.absent, in: program) == nil)
    }

    @Test(arguments: [
        ("divide(a, b)", 0), ("a[?divide(v, `2`) > `1`]", 3), ("[b, map(&divide(@, `1000`), a)]", 9),
        ("divide(a, `2.0`)", nil),
        ("divide(multiply(a, `1.0`), b)", nil), ("add(a, b)", nil), ("divide(add(a, b), `1e3`)", nil),
    ])
    func findsIntegerDivision(_ expression: String, _ offset: Int?) throws {
        var program = JMESPathProgram()
        let reference = try JMESPathParser.compile(expression, into: &program)
        #expect(JMESPathProgram.integerDivision(reference, in: program) == offset)
    }

    @Test func sharesOneProgram() throws {
        var program = JMESPathProgram()
        let first = try JMESPathParser.compile("a[?b == 'x'].c | [0]", into: &program)
        let count = program.nodes.count
        let constants = program.constants.count
        #expect(throws: ExpressionError.self) { try JMESPathParser.compile("sort_by(e, &f.'g'[1:2]", into: &program) }
        #expect(program.nodes.count == count && program.constants.count == constants && program.slices.isEmpty)
        let second = try JMESPathParser.compile("sum(a[*].d)", into: &program)
        #expect(program.names == ["a", "b", "c", "d"])
        var evaluator = JMESPathEvaluator(program: program, limits: ScanLimits())
        var scanner = JSONScanner(names: NameTable([]), limits: ScanLimits(), marksUnnamed: true, payloadIsRoot: true)
        let storage = PaddedBytes(copying: #"{"a":[{"b":"x","c":7,"d":1},{"d":2}]}"#.utf8)
        _ = try scanner.scan(storage.view, from: 0)
        for (reference, expected) in [(first, "7"), (second, "3"), (first, "7")] {
            let result = try evaluator.evaluate(reference, scanner: scanner, root: 1, matched: -1, bytes: storage.view)
            var writer = ByteWriter()
            try evaluator.appendJSON(of: result.handle, scanner: scanner, bytes: storage.view, to: &writer)
            #expect(writer.view.string == expected)
        }
    }

    // MARK: Caps

    private static func repeated(_ step: String) -> String {
        [String](repeating: step, count: 60).joined(separator: " | ")
    }

    static let doubling: [String] = [
        repeated("[@, @]") + " | to_string(@)", repeated("[@, @][]"), "'x' | " + repeated("join(@, [@, @, @])"),
        repeated("[@, @]") + " | [@[0], @[1]] | @[0] == [@[1], @[1]][0]",
    ]

    @Test(arguments: doubling) func capsWhatAnExpressionMakes(_ expression: String) throws {
        var harness = try JMESPathHarness(expression, "[1]", limits: ScanLimits(values: 20_000))
        do {
            _ = try harness.evaluate()
            // Equal handles are equal at once, however much they stand for.
            #expect(expression.contains("=="))
        } catch {
            #expect(error.kind == .tooManyValues || error.kind == .tooDeep)
            #expect(error.description(in: expression).contains("byte \(error.offset) of: "))
        }
        // The evaluator is as good as before.
        harness.evaluator.reset()
        _ = try? harness.evaluate()
        harness.evaluator.reset()
    }

    @Test func capsTheWorkOfComparisons() throws {
        // Two values that are equal, but not the same.
        let expression =
            "[a, b] | " + JMESPathEvaluatorTests.repeated("[[@[0], @[0]], [@[1], @[1]]]") + " | @[0] == @[1]"
        var harness = try JMESPathHarness(expression, #"{"a":[1],"b":[1]}"#, limits: ScanLimits(values: 20_000))
        #expect(throws: EvaluationError.self) { _ = try harness.evaluate() }
    }

    /// The text without escapes lies in memory that must not move while it is read.
    @Test(arguments: [1, 63, 64, 127, 191, 192, 193, 255, 256, 511]) func readsLongEscapedNumbers(_ count: Int) {
        let digits = String(repeating: "2", count: count)
        #expect(JMESPathOutcome.of("to_number(s)", #"{"s":"\u0031\#(digits)"}"#) == "1\(digits)")
    }

    @Test func releasesWhatItMade() throws {
        var harness = try JMESPathHarness(
            "[join('-', [n, matchedToken.v]), type(n), @][0]", #"{"n":"a","l":[{"v":"b"},{"v":"c"}]}"#,
            limits: ScanLimits(values: 40))
        let matches = harness.scanner.children(of: harness.scanner.children(of: harness.scanner.root)[1])
        // Made before the mark: it stays.
        let early = try harness.evaluate(matched: matches[0]).handle
        let mark = harness.evaluator.mark
        for round in 0..<1_000 {
            harness.evaluator.release(to: mark)
            let handle = try harness.evaluate(matched: matches[round % 2]).handle
            #expect(try harness.json(handle) == (round % 2 == 0 ? #""a-b""# : #""a-c""#))
        }
        #expect(try harness.json(early) == #""a-b""#)
        #expect(throws: EvaluationError.self) {
            for round in 0..<40 { _ = try harness.evaluate(matched: matches[round % 2]) }
        }
        // A mark from before a reset says nothing of what is made after it.
        harness.evaluator.reset()
        harness.evaluator.release(to: mark)
        #expect(try harness.json(try harness.evaluate(matched: matches[1]).handle) == #""a-c""#)
    }

    @Test func keepsItsMemory() throws {
        var harness = try JMESPathHarness("l[?v > `0`].{a: v, b: to_string(v)} | [0]", JMESPathEvaluatorTests.list)
        _ = try harness.evaluate()
        let tokens = harness.evaluator.values.own.capacity
        for _ in 0..<1_000 {
            harness.evaluator.reset()
            _ = try harness.evaluate()
        }
        #expect(harness.evaluator.values.own.capacity == tokens)
    }
}
