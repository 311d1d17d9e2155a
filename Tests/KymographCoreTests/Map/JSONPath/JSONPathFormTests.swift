import Testing

@testable import KymographCore
@testable import KymographTemplates

/// Unions, slices, regular expressions and groups; what each gives follows the reference (mapping dialect, section 3.1).
@Suite struct JSONPathFormTests {
    static let document = #"""
        {"a":1,"b":2,"c":{"a":3,"n":[10,11,12,13,14]},"m":[[1,2],[3,4]],"o":[{"a":"x","b":5},{"a":"y"},{"b":6}],
        "q'\"/\\":7,"t\t":8,"x y":9,"a'b":"raw","w*":"star","*":"only a star","$":"sign","$d":"dollar","s":["hr","HRV",60]}
        """#

    /// The texts of the tokens that `expression` selects, in order.
    static func select(_ expression: String, from document: String = document) throws -> [String] {
        var program = PathProgram()
        let path = try JSONPathParser.compile(expression, into: &program)
        var evaluator = PathEvaluator(program: program, limits: ScanLimits(), payloadIsRoot: true)
        let storage = PaddedBytes(copying: document.utf8)
        _ = try evaluator.scanner.scan(storage.view, from: 0)
        let root = evaluator.scanner.root
        let range = evaluator.select(path, root: root, current: root, bytes: storage.view)
        return range.map { storage.view[evaluator.scanner.tape[evaluator.node($0)].outerRange].string }
    }

    static let forms: [(String, [String])] = [
        // Unions: in the order of the union, or of the document after "..".
        ("$['a','b']", ["1", "2"]), ("$['b','a']", ["2", "1"]), ("$['a' , 'zz', 'b']", ["1", "2"]),
        ("$['a','a']", ["1", "1"]), ("$..['b','a']", ["1", "2", "3", #""x""#, "5", #""y""#, "6"]),
        ("$.o[0]['b','a']", ["5", #""x""#]), ("$.s['a','b']", []), ("$.c.n[0,2]", ["10", "12"]),
        ("$.c.n[2,0,9,2]", ["12", "10", "12"]), ("$.c.n[ 1 , 2 ]", ["11", "12"]), ("$.c[0,1]", []),
        ("$.o[*]['a','b']", [#""x""#, "5", #""y""#, "6"]), ("$..['zz','yy']", []),
        // Slices, as Python has them.
        ("$.c.n[1:3]", ["11", "12"]), ("$.c.n[:2]", ["10", "11"]), ("$.c.n[3:]", ["13", "14"]),
        ("$.c.n[:]", ["10", "11", "12", "13", "14"]), ("$.c.n[::2]", ["10", "12", "14"]),
        ("$.c.n[::-1]", ["14", "13", "12", "11", "10"]), ("$.c.n[-1:]", ["14"]), ("$.c.n[-2:]", ["13", "14"]),
        ("$.c.n[:-3]", ["10", "11"]), ("$.c.n[-3:-1]", ["12", "13"]), ("$.c.n[3:1]", []),
        ("$.c.n[3:1:-1]", ["13", "12"]),
        ("$.c.n[9:]", []), ("$.c.n[-9:2]", ["10", "11"]), ("$.c.n[9::-3]", ["14", "11"]),
        ("$.c.n[:9:3]", ["10", "13"]),
        ("$.c.n[ 1 : 4 : 2 ]", ["11", "13"]), ("$.c.n[:-9:-1]", ["14", "13", "12", "11", "10"]), ("$.c[1:3]", []),
        ("$.c.n[0:2147483647:2147483647]", ["10"]), ("$.c.n[::-2147483648]", ["14"]), ("$.c.n[-9::-1]", []),
        // Wildcards: members of objects, elements of arrays, and ".." with the node itself.
        ("$.m[*]", ["[1,2]", "[3,4]"]), ("$.m.*", []), ("$.o[0].*", [#""x""#, "5"]), ("$.o[0][*]", []),
        ("$.m..*", ["[[1,2],[3,4]]", "[1,2]", "1", "2", "[3,4]", "3", "4"]), ("$.a..*", ["1"]),
        // The reference forgets the descent before an index, a slice or a star.
        ("$.m..[0]", ["[1,2]"]), ("$.m..[*]", ["[1,2]", "[3,4]"]), ("$.m..[0,1]", ["[1,2]", "[3,4]"]),
        ("$.m..[1:]", ["[3,4]"]), ("$..[0]", []),
        // Parentheses for brackets, and a dot before them.
        ("$.('a')", ["1"]), ("$.c('a')", ["3"]), ("$.c.n(1)", ["11"]), ("$.c.n(1:3)", ["11", "12"]),
        ("$['c']('n')(0)", ["10"]),
        ("$.o(?(@b)).a", [#""x""#]), ("$..('a','b')", ["1", "2", "3", #""x""#, "5", #""y""#, "6"]), ("('a')", ["1"]),
        ("$.['a']", ["1"]), ("$.c.['n'].[0]", ["10"]), ("$.m[0][1]", ["2"]), ("$.m(0)[1]", ["2"]),
        // Names are taken as they are written.
        ("$.a'b", [#""raw""#]), ("$.w*", [#""star""#]), ("$['*']", [#""only a star""#]), ("$d", [#""dollar""#]),
        ("$.$", [#""sign""#]), ("$['$']", [#""sign""#]), ("$['x y']", ["9"]), (#"$['q\'\"\/\\']"#, ["7"]),
        (#"$['t\t']"#, ["8"]), ("a", ["1"]), (".a", ["1"]), (" $.a ", ["1"]), ("  a  ", ["1"]),
        // Regular expressions.
        ("$.s[?(@ =~ /^hr/)]", [#""hr""#]), ("$.s[?(@ =~ /^hr/i)]", [#""hr""#, #""HRV""#]), ("$.s[?(@ =~ /0/)]", []),
        ("$.s[?(@ =~ '/v$/i')]", [#""HRV""#]), ("$.o[?(@a=~/x|z/)].b", ["5"]),
        ("$.s[?('hr' =~ /h/)]", [#""hr""#, #""HRV""#, "60"]),
        ("$.s[?(@ =~ /a\\/b/ || @ =~ /R/gi)]", [#""hr""#, #""HRV""#]), ("$..[?(@s[*] =~ /V/)].a", ["1"]),
        ("$.s[?(@ == /hr/)]", []),
        // Groups (our extension).
        ("$.o[?((@a == 'x' || @a == 'y') && @b)]", [#"{"a":"x","b":5}"#]),
        ("$.o[?((@b))]", [#"{"a":"x","b":5}"#, #"{"b":6}"#]),
        ("$.o[?(@a == 'y' || (@b == 6))]", [#"{"a":"y"}"#, #"{"b":6}"#]), ("$.o[?(((@a)&&(@b)))].b", ["5"]),
        // Brackets in filters.
        ("$.o[?(@['a'] == 'x')].b", ["5"]), ("$.o[?(@('a') == 'x')].b", ["5"]), ("$..[?(@n[-1:] == 14)].a", ["3"]),
        ("$..[?(@['zz','a'] == 3)].n[0]", ["10"]), ("$.o[?(@['a','b'] == 6)]", [#"{"b":6}"#]),
    ]

    @Test(arguments: forms) func selects(_ expression: String, _ expected: [String]) throws {
        #expect(try JSONPathFormTests.select(expression) == expected)
    }

    @Test func comparesNumbersOfManyDigits() throws {
        let document = #"[{"v":0.12345678901234567890},{"v":12345678901234567890123},{"v":1e300},{"v":-1e300}]"#
        #expect(try JSONPathFormTests.select("$[?(@v > 1)].v", from: document) == ["12345678901234567890123", "1e300"])
        #expect(
            try JSONPathFormTests.select("$[?(@v < 0.5)].v", from: document) == ["0.12345678901234567890", "-1e300"])
        #expect(try JSONPathFormTests.select("$[?(@v == @v)].v", from: document).count == 4)
    }

    // MARK: The reference's order

    /// Left, operator, right; nil where the reference gives up.
    static let orders: [(String, String, String, Bool?)] = [
        ("5", ">", "3", true), (#""5""#, ">", "3", true), ("5", ">", "'3'", true), (#""x""#, ">", "3", nil),
        ("5", ">", "'x'", nil), (#""5.5""#, ">", "3", nil), (#""5.5""#, ">", "3.0", true), ("5.5", ">", "'3'", true),
        ("5", ">", "'3.5'", nil), ("null", "<", "3", true), ("3", ">", "null", true), ("null", ">=", "null", true),
        ("null", "<", "'x'", true), ("true", ">", "false", true), ("true", ">", "0", true), ("2", ">", "true", true),
        (#""True""#, ">", "false", true), (#""yes""#, ">", "false", nil), ("false", "<", "'true'", true),
        ("{}", ">", "1", false), ("[]", "<", "1", false), (#""b""#, ">", "'a'", true),
    ]

    @Test(arguments: orders) func ordersAsTheReference(
        _ left: String, _ operation: String, _ right: String, _ expected: Bool?
    ) throws {
        for isCompatible in [true, false] {
            var program = PathProgram()
            let path = try JSONPathParser.compile("$..[?(@v \(operation) \(right) )]", into: &program)
            var evaluator = PathEvaluator(
                program: program, limits: ScanLimits(), payloadIsRoot: true, isCompatible: isCompatible)
            let storage = PaddedBytes(copying: #"{"v":\#(left)}"#.utf8)
            _ = try evaluator.scanner.scan(storage.view, from: 0)
            let found = evaluator.select(path, root: 1, current: 1, bytes: storage.view)
            let failed = evaluator.comparisonFailed
            #expect(failed == (isCompatible && expected == nil))
            if isCompatible { #expect(!found.isEmpty == (expected ?? false)) }
            evaluator.clearFailures()
            let stillFailed = evaluator.comparisonFailed
            #expect(!stillFailed)
        }
    }

    // MARK: Errors

    /// An expression that cannot be read leaves nothing behind, and what is read after it is numbered as without it.
    @Test func leavesTheProgramAsItWas() throws {
        var program = PathProgram()
        _ = try JSONPathParser.compile("$..[?(@a =~ /x[0-9]/ && @b == 'y')].c[1:2]", into: &program)
        let (before, names) = ("\(program.extent)", program.names)
        for broken in ["$.d['e','f'].g[0,1][::2][?(@h == 'i' && @j", "$..[?(@k =~ /[/)]", "$.l[?(@m =~ /n/ ||)]"] {
            #expect(throws: ExpressionError.self) { try JSONPathParser.compile(broken, into: &program) }
            #expect("\(program.extent)" == before && program.names == names)
        }
        _ = try JSONPathParser.compile("$.m", into: &program)
        #expect(program.names == names + ["m"] && program.number(of: "m") == UInt16(names.count))
    }

    // MARK: Size

    @Test func givesUpASelectionThatMultipliesThePayload() throws {
        var program = PathProgram()
        let path = try JSONPathParser.compile("$..*..*..*..*..*..*..*..*", into: &program)
        var evaluator = PathEvaluator(program: program, limits: ScanLimits(), payloadIsRoot: true)
        let nested = String(repeating: "[0,", count: 60) + "0" + String(repeating: "]", count: 60)
        let storage = PaddedBytes(copying: nested.utf8)
        _ = try evaluator.scanner.scan(storage.view, from: 0)
        let single = evaluator.single(path, root: 1, bytes: storage.view)
        let (overflowed, mark) = (evaluator.selectionOverflowed, evaluator.mark)
        #expect(single == PathEvaluator.several)
        #expect(overflowed)
        #expect(mark == 0)
    }
}
