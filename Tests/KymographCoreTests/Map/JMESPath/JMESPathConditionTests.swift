import KymographCore
import Testing

/// Conditions, filters, literals and syntax, table by table as the public compliance suite has them.
@Suite struct JMESPathConditionTests {
    static let tables = [
        JMESPathTable(
            "boolean", #"{"yes":true,"no":false,"five":5,"zero":0,"none":null,"list":[],"obj":{},"text":"","t":"x"}"#,
            [
                ("yes && five", "5"), ("five && yes", "true"), ("no && five", "false"), ("list && five", "[]"),
                ("none && five", "null"), ("obj && five", "{}"), ("text && five", #""""#), ("zero && t", #""x""#),
                ("yes || five", "true"), ("no || five", "5"), ("list || obj", "{}"), ("none || text || t", #""x""#),
                ("!yes", "false"), ("!no", "true"), ("!zero", "false"), ("!list", "true"), ("!obj", "true"),
                ("!text", "true"), ("!none", "true"), ("!!five", "true"), ("!(yes && no)", "true"),
                ("five || yes && no", "5"), ("(five || yes) && no", "false"), ("yes && !no && t", #""x""#),
                ("!obj.a", "true"), ("!yes == no", "true"), ("five == `5` && t == 'x'", "true"),
            ]),
        JMESPathTable(
            "comparison",
            #"{"one":1,"two":2,"uno":1.0,"a":"a","b":"b","l":[1,{"x":2}],"m":[1.0,{"x":2e0}],"#
                + #""n":null,"big":123456789012345678901}"#,
            [
                ("one < two", "true"), ("one <= uno", "true"), ("one == uno", "true"), ("one != uno", "false"),
                ("two > one", "true"), ("one >= two", "false"), ("a < b", "true"), ("b <= a", "false"),
                ("a > 'A'", "true"),
                ("a == 'a'", "true"), ("a < one", "null"), ("l < one", "null"), ("n < one", "null"), ("l == m", "true"),
                ("l != m", "false"), ("n == nothing", "true"), ("n == `false`", "false"), ("a == one", "false"),
                ("one == '1'", "false"), ("big == `123456789012345678901.0`", "true"),
                ("big < `123456789012345678902`", "true"), ("big > `1e20`", "true"), ("big < `1e400`", "true"),
                ("`-1e-400` < `0`", "true"), ("`{\"p\":1,\"q\":[2]}` == `{\"q\":[2.0],\"p\":1}`", "true"),
                ("`{\"p\":1}` == `{\"q\":1}`", "false"), ("`{\"p\":1}` == `{\"p\":1,\"q\":1}`", "false"),
                ("`[1]` == `[1,2]`", "false"),
            ]),
        JMESPathTable(
            "filters",
            #"{"r":[{"n":"hr","v":72,"ok":true},{"n":"ox","v":97},{"n":"hr","v":140,"ok":false}],"#
                + #""o":{"v":1},"k":[1,2,3,"a"],"m":[[1,5],[2]]}"#,
            [
                ("r[?n == 'hr'].v", "[72,140]"), ("r[?n=='hr' && v > `100`].v", "[140]"), ("r[?ok].v", "[72]"),
                ("r[?!ok].v", "[97,140]"), ("r[?ok == `false`].v", "[140]"), ("r[?v >= `97`] | [0].n", #""ox""#),
                ("r[?n == 'ox' || v < `80`].v", "[72,97]"), ("r[?nothing]", "[]"), ("o[?v]", "null"),
                ("k[?@ > `1`]", "[2,3]"), ("k[?@ == 'a']", #"["a"]"#), ("r[?n == 'hr'][v]", "syntax"),
                ("r[?n == 'hr'].[n, v]", #"[["hr",72],["hr",140]]"#), ("m[?[0] == `1`][1]", "[5]"),
                ("m[*][?@ > `1`][]", "[5,2]"), ("r[?(v > `90` && v < `100`)].n", #"["ox"]"#),
                ("r[?contains(n, 'x')].v", "[97]"), ("r[?v > `50`][?v < `80`]", "[]"),
                ("r[?v > `50`] | [?v < `80`].v", "[72]"),
                ("r[?@.v == `97`].n | [0]", #""ox""#), ("r[? n == 'ox' ].v", "[97]"), ("r[ ?n]", "syntax"),
                ("r[?n==]", "syntax"), ("r[?==n]", "syntax"), ("r[?n=='hr'", "syntax"), ("r[?n='hr']", "syntax: '=='"),
                ("r[?n<>v]", "syntax"), ("r[n=='hr']", "syntax"),
            ]),
        JMESPathTable(
            "ormatch", #"{"a":{"x":"ax"},"e":[],"t":""}"#,
            [
                ("a.y || a.x", #""ax""#), ("b || a.x", #""ax""#), ("b || c", "null"), ("e || t", #""""#),
                ("e || t || a.x", #""ax""#), ("a.[y || x]", #"["ax"]"#), ("b || 'none'", #""none""#),
                ("a ||", "syntax"),
                ("|| a", "syntax"), ("a || || b", "syntax"),
            ]),
        JMESPathTable(
            "literal", "{}",
            [
                ("`1`", "1"), ("`-1.50`", "-1.50"), ("`1e3`", "1e3"), ("`true`", "true"), ("`null`", "null"),
                (#"`"text"`"#, #""text""#), (#"`"\u00e9\n"`"#, #""é\n""#), ("`[1, \"a\", {}]`", #"[1,"a",{}]"#),
                (#"`{"a": {"b": 1}}`.a.b"#, "1"), (#"`{"a\"b": 2}`."a\"b""#, "2"), ("`[0, 1]`[1]", "1"),
                ("`  {\"a\":1}  `", #"{"a":1}"#),
                (#"`"a\`b"`"#, #""a`b""#), ("'raw'", #""raw""#), ("''", #""""#), (#"'it\'s'"#, #""it's""#),
                (#"'\n'"#, #""\\n""#),
                (#"'\\'"#, #""\\\\""#), (#"'say "hi"'"#, #""say \"hi\"""#), ("'line\nbreak'", #""line\nbreak""#),
                (#"'`'"#, #""`""#),
                ("`{\"a\":1,\"a\":2}`.a", "2"), ("`foo`", "syntax: is no JSON"), ("``", "syntax"), ("`1 2`", "syntax"),
                ("`\"a`", "syntax"),
                ("'open", "syntax: not closed"), ("`open", "syntax: not closed"), ("a.`1`", "syntax"),
                ("a.'x'", "syntax"),
            ]),
        JMESPathTable(
            "syntax", #"{"type":"object"}"#,
            [
                ("a.1", "syntax"), ("a.-1", "syntax"), ("a.", "syntax: at 2"), (".a", "syntax: at 0"),
                ("a..b", "syntax: at 2"),
                ("a[.]", "syntax"), (".", "syntax"), (":", "syntax"), (",", "syntax"), ("]", "syntax"), ("[", "syntax"),
                ("}", "syntax"), ("{", "syntax"), (")", "syntax"), ("(", "syntax"), ("((&", "syntax"), ("a[", "syntax"),
                ("a]", "syntax: at 1"), ("a][", "syntax"), ("!", "syntax"), ("@=", "syntax"), ("@``", "syntax"),
                ("![!(!", "syntax"),
                ("(@", "syntax"), ("@(a)", "syntax"), (#""a"(b)"#, "syntax: without quotes"), ("*", #"["object"]"#),
                ("*.*", "[]"), ("*.a", "[]"), ("*[0]", "[]"), (".*", "syntax"), ("*a", "syntax"), ("*0", "syntax"),
                ("a[*]b", "syntax"), ("a[*]*", "syntax"), ("[]", "null"), ("[*]", "null"), ("*.[0]", "syntax"),
                (#"*.["0"]"#, "[[null]]"),
                ("a[#]", "syntax"), ("a[*", "syntax"), ("[:@]", "syntax"), ("[:::]", "syntax"), ("[:1@]", "syntax"),
                ("a[0, 1]", "syntax"),
                ("a[abc]", "syntax: with a dot"), ("a['b']", "syntax: with a dot"), ("a[abc, 1]", "syntax"),
                ("a.[b, ]", "syntax"), ("a.[b,, c]", "syntax"), ("a.[b", "syntax"),
                ("a{}", "syntax"), ("a{b: c}", "syntax"), ("a.{b:", "syntax"), ("a.{b: }", "syntax"),
                ("a.{b: c, d}", "syntax"), ("a.{1: b}", "syntax"), (#""a"#, "syntax: not closed"),
                (#""\x""#, "syntax"), (#"{"\\":{" ":*}}"#, #"{"\\":{" ":["object"]}}"#), ("*||*|*|*", "null"),
                ("[*.*]", "[[]]"), ("a[?@ | @", "syntax"),
                ("&a", "syntax: argument"), ("a & b", "syntax"), ("a b", "syntax: at 2"), ("", "syntax: empty"),
                ("  ", "syntax: empty"), ("a #", "syntax: at 2"), ("a ? b", "syntax"),
            ]),
    ]

    @Test(arguments: tables) func decides(_ table: JMESPathTable) {
        for (expression, expected) in table.cases {
            let outcome = JMESPathOutcome.of(expression, table.document)
            #expect(JMESPathOutcome.matches(outcome, expected), "\(expression): \(outcome), not \(expected)")
        }
    }

    @Test func boundsNesting() {
        for deep in [
            String(repeating: "(", count: 100_000) + "a", String(repeating: "!", count: 100_000) + "a",
            String(repeating: "[", count: 100_000), String(repeating: "a.", count: 100_000) + "a",
            String(repeating: "a || ", count: 100_000) + "a", String(repeating: "a[*].", count: 10_000) + "a",
            String(repeating: "abs(", count: 10_000), String(repeating: "a[?", count: 10_000),
        ] {
            let outcome = JMESPathOutcome.of(deep, "{}")
            #expect(outcome.contains("nested too deeply") || outcome.contains("too many steps"), "\(deep.prefix(10))")
        }
        let fits = Array(repeating: "a", count: 100).joined(separator: " || ")
        #expect(JMESPathOutcome.of(fits, #"{"a":7}"#) == "7")
    }
}
