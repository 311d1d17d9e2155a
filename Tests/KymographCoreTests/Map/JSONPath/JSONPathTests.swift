import Foundation
import KymographCore
import Testing

/// What expressions select, through a CalculatedContent template that reports each match: a scalar as its text, a
/// container by its member `n`. Containers without one follow as `?`.
@Suite struct JSONPathTests {
    /// Selects with `expression` from `{"Body": document, "Properties": {"t": …}}`; nil when it does not compile.
    private func select(_ expression: String, from document: String) throws -> [String] {
        let template = TestTemplate.jsonPath(
            match: expression,
            values: [TestTemplate.value("text", "$.matchedToken"), TestTemplate.value("n", "$.matchedToken.n")],
            kind: "CalculatedContent", with: ["timestampExpression": "$.Properties.t"])
        var run = try MappingRun([template])
        run.context.defaultDevice = Array("dev".utf8)
        let outcome = run.line(#"{"Body":\#(document),"Properties":{"t":"2021-07-13T17:29:01Z"}}"#)
        let unexpected = outcome.reasons.filter { $0 != .missingValue && $0 != .noTemplate }
        #expect(unexpected.isEmpty, "\(expression)")
        let others = outcome.reasons.filter { $0 == .missingValue }.map { _ in "?" }
        return outcome.readings.map { $0.values["text"] ?? $0.values["n"].map { "{\($0)}" } ?? "" } + others
    }

    private static let nested = #"""
        {"n":"top","a":{"n":"A","b":1,"c":[10,20,30]},"list":[{"n":"l0","k":"x","v":1},{"n":"l1","k":"y","v":2},
         {"n":"l2","k":"x"}],"my key":"spaced","a.b":"dotted","z":null,"f":false,"q'q":"quoted","é":"accent"}
        """#.replacing("\n", with: " ")

    static let paths: [(String, [String])] = [
        ("$.Body", ["{top}"]), ("Body", ["{top}"]), ("$.Body.a.b", ["1"]), ("Body.a.b", ["1"]), (".Body.a.b", ["1"]),
        ("$['Body']['a']['b']", ["1"]), ("['Body'].a['b']", ["1"]), ("$.Body.['a'].b", ["1"]),
        ("$.Body['my key']", ["spaced"]), ("$.Body.['my key']", ["spaced"]), ("$.Body['a.b']", ["dotted"]),
        ("$.Body['q\\'q']", ["quoted"]), ("$.Body.é", ["accent"]), ("$.Body['é']", ["accent"]),
        ("$.Body.a.c[0]", ["10"]), ("$.Body.a.c[2]", ["30"]), ("$.Body.a.c[3]", []), ("$.Body.a.c[ 1 ]", ["20"]),
        ("$.Body.a.c[*]", ["10", "20", "30"]), ("$.Body.a.c.*", []), ("$.Body.a.*", ["A", "1"]),
        ("$.Body.list[*].v", ["1", "2"]), ("$.Body.list.*.n", []), ("$.Body.list[1]", ["{l1}"]),
        ("$.Body.list[*]", ["{l0}", "{l1}", "{l2}"]), ("$.Body.a[*].n", []), ("$.Body.missing", []),
        ("$.Body.a.b.c", []), ("$.Body.a[0]", []), ("$.Body.list.v", []), ("$.Body.f", ["False"]),
        ("$..n", ["top", "A", "l0", "l1", "l2"]), ("$..v", ["1", "2"]), ("$..['v']", ["1", "2"]),
        ("$.Body..v", ["1", "2"]),
        ("$..c[1]", ["20"]), ("$..c[*]", ["10", "20", "30"]), ("$..a.b", ["1"]), ("$..list..k", ["x", "y", "x"]),
        ("$.Body.a..*", ["{A}", "A", "1", "10", "20", "30"]), ("$.Body.a.b ", ["1"]), ("$..n[0]", []),
    ]

    @Test(arguments: paths) func selects(_ expression: String, _ expected: [String]) throws {
        let found = try select(expression, from: JSONPathTests.nested).filter { $0 != "?" }
        #expect(found == expected)
    }

    static let filterTable: [(String, [String])] = [
        // Quirk 8: a descending filter tests the node itself, then all below it, in document order.
        ("$..[?(@n)]", ["{top}", "{A}", "{l0}", "{l1}", "{l2}"]),
        ("$..[?(@.n)]", ["{top}", "{A}", "{l0}", "{l1}", "{l2}"]),
        ("$.Body..[?(@list)]", ["{top}"]), ("$.Body.list[0]..[?(@v)]", ["{l0}"]), ("$..[?(@['my key'])]", ["{top}"]),
        // A filter without descent tests elements of arrays only.
        ("$.Body.list[?(@v)]", ["{l0}", "{l1}"]), ("$.Body[?(@n)]", []),
        ("$.Body.list[?(@k == 'x')]", ["{l0}", "{l2}"]),
        ("$.Body.list[?(@k == 'x')].v", ["1"]), ("$.Body.list[?(@v)][?(@v)]", []),
        // Quirk 10: null and false exist.
        ("$..[?(@z)]", ["{top}"]), ("$..[?(@f)]", ["{top}"]), ("$..[?(@f == false)]", ["{top}"]),
        ("$..[?(@f == true)]", []), ("$..[?(@z == null)]", ["{top}"]), ("$..[?(@v == null)]", []),
        // Comparison of numbers is by value, and there is no conversion between types.
        ("$..[?(@v == 1)]", ["{l0}"]), ("$..[?(@v == 1.0)]", ["{l0}"]), ("$..[?(@v == 1e0)]", ["{l0}"]),
        ("$..[?(@v == '1')]", []), ("$..[?(@v === 1)]", ["{l0}"]), ("$..[?(@v != 1)]", ["{l1}"]),
        ("$..[?(@v !== 1)]", ["{l1}"]), ("$..[?(@a !== 1)]", []), ("$..[?(@v <> 1)]", ["{l1}"]),
        ("$..[?(@v > 1)]", ["{l1}"]),
        ("$..[?(@v >= 1)]", ["{l0}", "{l1}"]), ("$..[?(@v < 2)]", ["{l0}"]), ("$..[?(@v <= 2)]", ["{l0}", "{l1}"]),
        ("$..[?(@k < 'y')]", ["{l0}", "{l2}"]), ("$..[?(@k > 'x')]", ["{l1}"]), ("$..[?(@k != 'x')]", ["{l1}"]),
        ("$..[?('x' == @k)]", ["{l0}", "{l2}"]), ("$..[?(2 > @v)]", ["{l0}"]), ("$..[?( @v == 1 )]", ["{l0}"]),
        ("$..[?(@k=='x')]", ["{l0}", "{l2}"]), ("$..[?(@v == 1 && @k == 'x')]", ["{l0}"]),
        // Containers: only "different" holds.
        ("$..[?(@a == @a)]", []), ("$..[?(@a != @a)]", ["{top}"]), ("$..[?(@a != 1)]", ["{top}"]),
        // A missing side never compares, not even as different.
        ("$..[?(@nowhere != 1)]", []), ("$..[?(1 != @nowhere)]", []),
        // Any pair of tokens will do.
        ("$..[?(@c[*] == 20)]", ["{A}"]), ("$..[?(@c[*] != 20)]", ["{A}"]), ("$..[?(@c[0] == 20)]", []),
        ("$.Body..[?(@..k == 'y')]", ["{top}", "{l1}", "?"]),
        // `$` inside a filter is the root of the evaluation.
        ("$.Body.list[?(@v == $.Body.a.b)]", ["{l0}"]), ("$.Body.list[?($.Body.a)]", ["{l0}", "{l1}", "{l2}"]),
        ("$.Body.a.c[?($.Body.f == false)]", ["10", "20", "30"]),
        ("$.Body.a..[?($.Body.f == false)]", ["{A}", "A", "1", "10", "20", "30", "?"]),
        ("$.Body.a..[?($.Body.a)]", ["{A}", "A", "1", "10", "20", "30", "?"]),
        ("$.Body.a..[?(@b || $.Body.a)]", ["{A}", "A", "1", "10", "20", "30", "?"]),
        // A filter may follow a filter.
        ("$..[?(@list)]..[?(@v == 2)]", ["{l1}"]), ("$..[?(@n == 'top')].a.b", ["1"]),
        ("$..[?(@list[?(@v == 2)])]", ["{top}"]), ("$..[?(@list[?(@v == 3)])]", []),
    ]

    @Test(arguments: filterTable) func selectsByFilter(_ expression: String, _ expected: [String]) throws {
        #expect(try select(expression, from: JSONPathTests.nested) == expected)
    }

    /// Quirk 9: a change of operator takes all the rest; there is no precedence.
    static let joined: [(String, @Sendable (Bool, Bool, Bool, Bool) -> Bool)] = [
        ("@a == 1 && @b == 1", { a, b, _, _ in a && b }), ("@a == 1 || @b == 1", { a, b, _, _ in a || b }),
        ("@a == 1 && @b == 1 && @c == 1", { a, b, c, _ in a && b && c }),
        ("@a == 1 || @b == 1 || @c == 1", { a, b, c, _ in a || b || c }),
        ("@a == 1 && @b == 1 || @c == 1", { a, b, c, _ in a && (b || c) }),
        ("@a == 1 || @b == 1 && @c == 1", { a, b, c, _ in a || (b && c) }),
        ("@a == 1 && @b == 1 || @c == 1 && @d == 1", { a, b, c, d in a && (b || (c && d)) }),
        ("@a == 1 || @b == 1 && @c == 1 || @d == 1", { a, b, c, d in a || (b && (c || d)) }),
        ("@a == 1 && @b == 1 && @c == 1 || @d == 1", { a, b, c, d in a && b && (c || d) }),
        ("@a == 1 || @b == 1 || @c == 1 && @d == 1", { a, b, c, d in a || b || (c && d) }),
        ("@a == 1 && @b == 1 || @c == 1 || @d == 1", { a, b, c, d in a && (b || c || d) }),
        ("@a==1 &&@b==1 ||@c==1 ", { a, b, c, _ in a && (b || c) }),
    ]

    @Test(arguments: joined.indices) func joinsInOrderOfAppearance(_ index: Int) throws {
        let (filter, expected) = JSONPathTests.joined[index]
        for bits in 0..<16 {
            let flags = (0..<4).map { bits >> $0 & 1 }
            let document = #"[{"n":"m","a":\#(flags[0]),"b":\#(flags[1]),"c":\#(flags[2]),"d":\#(flags[3])}]"#
            let holds = expected(flags[0] == 1, flags[1] == 1, flags[2] == 1, flags[3] == 1)
            #expect(try select("$..[?(\(filter))]", from: document) == (holds ? ["{m}"] : []), "\(filter) \(flags)")
        }
    }

    /// Ordering converts a text to the number it is compared with, as the reference does; equality does not.
    @Test(arguments: [
        ("@v > 50", [#""60""#, #""100""#, "60", "51.5"]), ("@v < 50", [#""9""#, "40"]),
        ("@v > '50'", [#""60""#, #""9""#, "60", "51.5", #""high""#]),
        ("50 < @v", [#""60""#, #""100""#, "60", "51.5"]), ("@v == 60", ["60"]), ("@v == '60'", [#""60""#]),
    ])
    func comparesTextsWithNumbers(_ filter: String, _ expected: [String]) throws {
        let values = [#""60""#, #""100""#, #""9""#, "60", "40", "51.5", #""high""#, "true", "null", "{}", "[]"]
        let found = try values.filter { try select("$..[?(\(filter))]", from: #"[{"n":"m","v":\#($0)}]"#) == ["{m}"] }
        #expect(found == expected)
    }

    // MARK: Duplicate keys

    @Test(arguments: [
        ("$.Body.a", ["2"]), ("$..a", ["4", "2"]), ("$.Body.o.a", ["4"]), ("$.Body.o.*", ["4", "5"]),
        ("$.Body.dup.b", ["2"]),
        ("$.Body.dup.a", []), ("$..[?(@a == 1)]", []), ("$..[?(@a == 2)].a", ["2"]),
    ])
    func takesTheLastOfDuplicateKeys(_ expression: String, _ expected: [String]) throws {
        let document = #"{"a":1,"o":{"a":3,"\u0061":4,"c":5},"dup":{"a":1},"a":2,"dup":{"b":2}}"#
        #expect(try select(expression, from: document).filter { $0 != "?" } == expected)
    }

    @Test(arguments: [1, 2, 23, 24, 25, 26, 100, 5_000]) func takesTheLastInObjectsOfAnySize(_ count: Int) throws {
        let others = (0..<count).map { "\"k\($0)\":\"k\($0)\"" }.joined(separator: ",")
        let document = #"{"x":"first","k0":"early",\#(others),"x":"last","p":{"x":"deep","x":"deeper"}}"#
        #expect(try select("$.Body.x", from: document) == ["last"])
        #expect(try select("$.Body.k0", from: document) == ["k0"])
        #expect(try select("$.Body.p.*", from: document) == ["deeper"])
        let all = try select("$.Body.*", from: document)
        #expect(all.count == count + 2)
    }

    @Test func takesTheLastOfDuplicatesThatNoTemplateNames() throws {
        // A flat payload, which brings no envelope.
        var run = try MappingRun([TestTemplate.jsonPath(match: "$.Body.*", values: [TestTemplate.value("x", "$")])])
        run.context.defaultDevice = Array("dev".utf8)
        #expect(run.line(#"{"q":1,"q":2}"#).rejections.count == 1)
        #expect(run.line(#"{"q":1,"\u0071":2}"#).rejections.count == 1)
        #expect(run.line(#"{"q":1,"p":2}"#).rejections.count == 2)
    }

    @Test func namesWithEscapesAreTheNamesTheyMean() throws {
        let document = #"{"\u006e":"N","a\"b":"quote","tab\t":"T","\ud83d\ude00":"smile","sl\/ash":"S"}"#
        #expect(try select("$.Body.n", from: document) == ["N"])
        #expect(try select(#"$.Body['a"b']"#, from: document) == ["quote"])
        #expect(try select(#"$.Body['tab\t']"#, from: document) == ["T"])
        #expect(try select("$.Body.😀", from: document) == ["smile"])
        #expect(try select("$.Body['sl/ash']", from: document) == ["S"])
    }

    @Test func textsWithEscapesCompareAsWhatTheyMean() throws {
        #expect(try select("$..[?(@k == 'é')].n", from: #"[{"n":"1","k":"\u00e9"},{"n":"2","k":"é"}]"#) == ["1", "2"])
        #expect(try select("$..[?(@k == @l)].n", from: #"[{"n":"1","k":"a\/b","l":"a\u002fb"}]"#) == ["1"])
        #expect(try select(#"$..[?(@k == 'it\'s')].n"#, from: #"[{"n":"1","k":"it's"}]"#) == ["1"])
    }

    @Test func moreThan64NamesStillMatch() throws {
        // Names share the bits of the mask that rules templates out.
        let templates = (0..<150).map { number in
            TestTemplate.jsonPath(
                "t\(number)", match: "$..[?(@name\(number))]", values: [TestTemplate.value("x", "$.name\(number)")])
        }
        let run = try MappingRun(templates)
        for number in 0..<150 {
            let outcome = run.line(TestTemplate.reading("\"name\(number)\":\(number)"))
            #expect(outcome.readings.map(\.type) == ["t\(number)"])
        }
    }
}
