import KymographCore
import Testing

/// The parts of the JMESPath specification about selecting, table by table as its public compliance suite has them.
@Suite struct JMESPathSelectionTests {
    static let tables = [
        JMESPathTable(
            "basic", #"{"device":{"id":{"text":"W-1"}},"other":{"id":["one","two"]}}"#,
            [
                ("device", #"{"id":{"text":"W-1"}}"#), ("device.id", #"{"text":"W-1"}"#), ("device.id.text", #""W-1""#),
                ("device.id.text.more", "null"), ("device\n.\nid\n.text", #""W-1""#), ("nothing", "null"),
                ("nothing.at.all", "null"), ("other.id", #"["one","two"]"#), ("other.id.one", "null"),
                ("device .  id", #"{"text":"W-1"}"#),
            ]),
        JMESPathTable(
            "null members", #"{"a":null,"b":{"c":null}}"#, [("a", "null"), ("a.b", "null"), ("b.c", "null")]),
        JMESPathTable("scalar documents", #""text""#, [("a", "null"), ("@", #""text""#), ("[0]", "null")]),
        JMESPathTable(
            "current", #"{"hr":[{"v":1},{"v":2}],"t":"x"}"#,
            [
                ("@", #"{"hr":[{"v":1},{"v":2}],"t":"x"}"#), ("@.hr[0]", #"{"v":1}"#), ("@.hr[*].v", "[1,2]"),
                ("hr[*] | @", #"[{"v":1},{"v":2}]"#), ("@ | @.t", #""x""#),
            ]),
        JMESPathTable(
            "escape", #"{"a.b":"dot","a b":"blank","a\nb":"line","a\"b":"quote","c:\\d":"path","/x":"slash","'":"q"}"#,
            [
                (#""a.b""#, #""dot""#), (#""a b""#, #""blank""#), (#""a\nb""#, #""line""#), (#""a\"b""#, #""quote""#),
                (#""c:\\d""#, #""path""#), (#""/x""#, #""slash""#), (#""\/x""#, #""slash""#), (#""'""#, #""q""#),
                (#""a\u0020b""#, #""blank""#), (#"@."a.b""#, #""dot""#),
            ]),
        JMESPathTable(
            "identifiers", #"{"__a_1":1,"A":2,"é":3,"-":4,"":5,"0":6,"true":7,"null":8,"a\u0062":9}"#,
            [
                ("__a_1", "1"), ("A", "2"), ("a", "null"), (#""é""#, "3"), (#""-""#, "4"), (#""""#, "5"),
                (#""0""#, "6"), ("true", "7"), ("null", "8"), ("ab", "9"), (#""\u0061b""#, "9"), ("é", "syntax"),
                ("a-b", "syntax"), ("0", "syntax: backticks"), ("$.a", "syntax: JSONPath"),
            ]),
        JMESPathTable(
            "unicode", #"{"温度":[{"値":"高"}],"☯":true,"😀":"grin","e\u0301":"two"}"#,
            [
                (#""温度"[].{"x": "値"}"#, #"[{"x":"高"}]"#), (#""☯""#, "true"), (#""😀""#, #""grin""#),
                (#""\ud83d\ude00""#, #""grin""#), (#""é""#, "null"), (#""温度"[?"値"=='高'] | [0]."値""#, #""高""#),
            ]),
        JMESPathTable(
            "indices", #"{"a":["x","y","z"],"b":{"c":[[1,2],[3,4]]},"d":"text"}"#,
            [
                ("a[0]", #""x""#), ("a[2]", #""z""#), ("a[3]", "null"), ("a[-1]", #""z""#), ("a[-3]", #""x""#),
                ("a[-4]", "null"), ("b.c[1][0]", "3"), ("b.c[-1][-1]", "4"), ("d[0]", "null"), ("b[0]", "null"),
                ("[0]", "null"), ("a.[0]", "syntax"), ("a[ 1 ]", #""y""#), ("a[99999999999]", "syntax: too large"),
            ]),
        JMESPathTable(
            "root lists", #"[[1,[2,[3]]],4,{"a":5}]"#,
            [
                ("[0]", "[1,[2,[3]]]"), ("[2].a", "5"), ("[-1].a", "5"), ("[]", #"[1,[2,[3]],4,{"a":5}]"#),
                ("[][]", #"[1,2,[3],4,{"a":5}]"#), ("[][][]", #"[1,2,3,4,{"a":5}]"#), ("[].a", "[5]"), ("[*].a", "[5]"),
                ("[0][1][1][0]", "3"), ("[*][0]", "[1]"),
            ]),
        JMESPathTable(
            "slice", #"{"n":[0,1,2,3,4,5,6,7,8,9],"p":[{"a":1},{"a":2},{"b":3}],"s":"text"}"#,
            [
                ("n[0:10]", "[0,1,2,3,4,5,6,7,8,9]"), ("n[0:3]", "[0,1,2]"), ("n[:3]", "[0,1,2]"), ("n[7:]", "[7,8,9]"),
                ("n[:]", "[0,1,2,3,4,5,6,7,8,9]"), ("n[::]", "[0,1,2,3,4,5,6,7,8,9]"), ("n[1:9:3]", "[1,4,7]"),
                ("n[::-1]", "[9,8,7,6,5,4,3,2,1,0]"), ("n[::-4]", "[9,5,1]"), ("n[8:2:-2]", "[8,6,4]"),
                ("n[-3:]", "[7,8,9]"), ("n[:-8]", "[0,1]"), ("n[-100:2]", "[0,1]"), ("n[5:100]", "[5,6,7,8,9]"),
                ("n[100:]", "[]"), ("n[5:2]", "[]"), ("n[2:5:-1]", "[]"), ("n[100::-5]", "[9,4]"),
                ("n[:-100:-4]", "[9,5,1]"), ("p[:2].a", "[1,2]"), ("p[1:].a", "[2]"), ("p[::-1].a", "[2,1]"),
                ("s[0:2]", "null"), ("nothing[0:1]", "null"), ("n[::0]", "syntax: cannot be 0"),
                ("n[0:1:2:3]", "syntax"), ("n[0:a]", "syntax"), ("n[0:2][0]", "[]"), ("n[0:2] | [0]", "0"),
            ]),
        JMESPathTable(
            "wildcard", #"{"s":{"hr":{"v":1,"q":"g"},"ox":{"v":2},"none":null,"n":5},"l":[{"v":3},{"w":{"v":4}},6]}"#,
            [
                ("s.*.v", "[1,2]"), ("s.*.q", #"["g"]"#), ("s.*", #"[{"v":1,"q":"g"},{"v":2},5]"#),
                ("*.hr.v", "[1]"), ("*.*.v", "[[1,2]]"), ("l[*].v", "[3]"), ("l[*].w.v", "[4]"),
                ("l[*].*", "[[3],[{\"v\":4}]]"),
                ("l[*].*.v", "[[],[4]]"), ("s.hr.*", #"[1,"g"]"#), ("s.n.*", "null"), ("l.*", "null"), ("s[*]", "null"),
                ("nothing.*", "null"), ("nothing[*]", "null"), ("*[0]", #"[{"v":3}]"#), ("s.*.nothing", "[]"),
                ("l[*].w.*.x", "[[]]"),
            ]),
        JMESPathTable(
            "flatten", #"{"a":[[1,2],[[3]],4,null],"r":[{"i":[{"x":1},{"x":2}]},{"i":[{"x":3}]}],"o":{"k":1}}"#,
            [
                ("a[]", "[1,2,[3],4]"), ("a[][]", "[1,2,3,4]"), ("r[].i[].x", "[1,2,3]"),
                ("r[].i", #"[[{"x":1},{"x":2}],[{"x":3}]]"#),
                ("r[*].i[*].x", "[[1,2],[3]]"), ("r[*].i[]", #"[{"x":1},{"x":2},{"x":3}]"#), ("o[]", "null"),
                ("nothing[]", "null"), ("r[*].i[*].x[]", "[1,2,3]"), ("a[0][]", "[1,2]"), ("o.*[]", "[1]"),
            ]),
        JMESPathTable(
            "multiselect", #"{"a":{"b":1,"c":{"d":2}},"l":[{"x":1,"y":2},{"x":3}],"n":null}"#,
            [
                ("a.{b: b, d: c.d}", #"{"b":1,"d":2}"#), ("a.{b: nothing}", #"{"b":null}"#), ("a.[b, c.d]", "[1,2]"),
                ("a.[nothing]", "[null]"), ("nothing.[a]", "null"), ("n.{a: a}", "null"),
                ("l[*].[x, y]", "[[1,2],[3,null]]"),
                ("l[*].{\"the x\": x}", #"[{"the x":1},{"the x":3}]"#), ("[a.b, l[0].x]", "[1,1]"),
                ("{all: @.a.b}", #"{"all":1}"#), ("l[].[x][]", "[1,3]"), ("a.{b: b}.b", "1"), ("[@.a.b][0]", "1"),
                ("{k: a, k: n}", #"{"k":null}"#), ("a.[*]", "[[1,{\"d\":2}]]"),
                ("{x: `1`, y: 'z'}", #"{"x":1,"y":"z"}"#),
                ("a.{}", "syntax"), ("a.[]", "syntax"), ("a.{b}", "syntax"), ("a.{b: b,}", "syntax"),
                ("[a,]", "syntax"),
            ]),
        JMESPathTable(
            "pipe", #"{"l":[{"v":[1,2]},{"v":[3]}],"o":{"a":{"b":5}}}"#,
            [
                ("l[*].v | [0]", "[1,2]"), ("l[*].v | [0] | [1]", "2"), ("l[*].v[0]", "[1,3]"),
                ("l[*].v[0] | [0]", "1"),
                ("o | a | b", "5"), ("o.* | [0].b", "5"), ("o|a|nothing", "null"), ("nothing | nothing", "null"),
                ("l[?v] | [1].v[0]", "3"), ("{x: o} | x.a.b", "5"), ("o || l | a", #"{"b":5}"#),
                ("(l[*].v)[0]", "[1,2]"),
                ("o |", "syntax"), ("| o", "syntax"),
            ]),
    ]

    @Test(arguments: tables) func selects(_ table: JMESPathTable) {
        for (expression, expected) in table.cases {
            let outcome = JMESPathOutcome.of(expression, table.document)
            #expect(JMESPathOutcome.matches(outcome, expected), "\(expression): \(outcome), not \(expected)")
        }
    }
}
