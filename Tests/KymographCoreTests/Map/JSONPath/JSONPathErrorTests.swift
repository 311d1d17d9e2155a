import KymographCore
import Testing

/// Where and why expressions are refused at load (quirk 6, fixed).
@Suite struct JSONPathErrorTests {
    /// Expression, character from 1, and the message.
    static let errors: [(String, Int, String)] = [
        ("$.", 3, "expected a member name, found 'end of expression'"),
        ("$.a.", 5, "expected a member name, found 'end of expression'"),
        ("$..", 4, "expected a member name, found 'end of expression'"),
        ("$. a", 3, "expected a member name, found ' '"),
        ("$...a", 4, "expected a member name, found '.'"),
        ("$.a b", 5, "unexpected 'b'"), ("$a]", 3, "unexpected ']'"), ("$.a)", 4, "unexpected ')'"),
        ("$[0]a", 5, "unexpected 'a'"), ("$.é ü", 6, "unexpected 'ü'"),
        ("$[", 3, "expected an index, '*', a quoted name or '?(…)', found 'end of expression'"),
        ("$[]", 3, "expected an index, '*', a quoted name or '?(…)', found ']'"),
        ("$[a]", 3, "expected an index, '*', a quoted name or '?(…)', found 'a'"),
        ("$[0", 4, "expected ']', found 'end of expression'"), ("$[0x]", 4, "expected ']', found 'x'"),
        ("$.a(0]", 6, "expected ')', found ']'"), ("$[* 0]", 5, "expected ']', found '0'"),
        ("$[99999999999]", 3, "99999999999 is too large"), ("$[-]", 4, "expected a digit after '-', found ']'"),
        ("$[-1]", 3, "negative indexes are not part of the dialect; '[-1:]' takes the last element"),
        ("$[0,-1]", 5, "negative indexes are not part of the dialect; '[-1:]' takes the last element"),
        ("$[0,]", 5, "expected an index, found ']'"), ("$[0,'a']", 5, "expected an index, found '''"),
        ("$['a',]", 7, "expected a quoted name, found ']'"), ("$['a',0]", 7, "expected a quoted name, found '0'"),
        ("$['a' 'b']", 7, "expected ']', found '''"),
        ("$[::0]", 5, "the step of a slice cannot be 0"), ("$[1:2:0]", 7, "the step of a slice cannot be 0"),
        ("$[1:2:3:4]", 8, "a slice has three parts at most: [from:to:step]"), ("$[1:x]", 5, "expected ']', found 'x'"),
        ("$[99999999999:]", 3, "99999999999 is too large"),
        ("$['a]", 3, "the quoted text is not closed"), ("$['a\\", 3, "the quoted text is not closed"),
        ("$['a\\x']", 5, "'\\x' is no escape; those are \\b \\t \\n \\f \\r \\\\ \\\" \\' \\/"),
        ("$['\\u0061']", 4, "'\\u' is no escape; those are \\b \\t \\n \\f \\r \\\\ \\\" \\' \\/"),
        ("$..[?@a]", 6, "expected '(' after '?', found '@'"),
        ("$..[?(@a]", 9, "expected ')' at the end of the filter, found ']'"),
        ("$..[?(@a)", 10, "expected ']' after the filter, found 'end of expression'"),
        ("$..(?(@a)]", 10, "expected ')' after the filter, found ']'"),
        ("$..[?(@a &&)]", 12, "expected '@name', '$path', a number, 'text', true, false or null, found ')'"),
        ("$..[?(@a & @b)]", 10, "expected ')' at the end of the filter, found '&'"),
        ("$..[?(@a and @b)]", 10, "expected ')' at the end of the filter, found 'a'"),
        ("$..[?(@a = 1)]", 10, "'=' is no operator; use '=='"),
        ("$..[?(@a == x)]", 13, "expected '@name', '$path', a number, 'text', true, false or null, found 'x'"),
        ("$..[?(@a == \"x\")]", 13, "expected '@name', '$path', a number, 'text', true, false or null, found '\"'"),
        ("$..[?(@a == 'x)]", 13, "the quoted text is not closed"),
        ("$..[?(!@a)]", 7, "negation is not part of the dialect; compare with '!='"),
        ("$..[?((@a)]", 11, "expected ')' at the end of the filter, found ']'"),
        ("$..[?((@a || )]", 14, "expected '@name', '$path', a number, 'text', true, false or null, found ')'"),
        ("$..[?((@a", 10, "expected ')' at the end of the group, found 'end of expression'"),
        ("$..[?(@a == (1))]", 13, "parentheses group whole conditions; none is expected here"),
        ("$..[?(1)]", 8, "a constant alone is no condition"),
        ("$..[?()]", 7, "expected '@name', '$path', a number, 'text', true, false or null, found ')'"),
        ("$..[?(@a == 1&&@b)]", 13, "'1&&@b' is no number; a number ends at a blank or ')'"),
        ("$..[?(@a =~ 'x')]", 13, "the right side of '=~' must be /pattern/ or '/pattern/'"),
        ("$..[?(@a =~ @b)]", 13, "the right side of '=~' must be /pattern/ or '/pattern/'"),
        ("$..[?(@a =~ /x)]", 13, "the regular expression is not closed"),
        ("$..[?(@a =~ /x(y/)]", 15, "regular expression: the group is not closed"),
        (
            "$..[?(@a =~ /é(?<n>a)\\k<n>/)]", 23,
            "regular expression: back references are not supported: they cannot be searched in bounded time"
        ),
        ("$..[?(@a =~ '/x(/')]", 13, "regular expression: the group is not closed"),
        ("$..[?(@a =~ /a**/)]", 16, "regular expression: nothing to repeat before this"),
    ]

    @Test(arguments: errors) func namesThePlace(_ expression: String, _ character: Int, _ message: String) throws {
        do {
            _ = try MappingRun([TestTemplate.jsonPath(values: [TestTemplate.value("x", expression)])])
            Issue.record("\(expression) compiled")
        } catch let failure as MappingRun.LoadFailure {
            let wanted = "error: expression \(expression), character \(character): \(message); "
            #expect(failure.texts.count == 1)
            #expect(failure.texts[0].contains(wanted), "\(failure.texts[0])")
        }
    }

    @Test func refusesWhatWouldNeedTooMuchOfTheStack() throws {
        let deep = String(repeating: "@[?(", count: 5_000)
        let wide = Array(repeating: "@a", count: 1_001).joined(separator: " && ")
        let groups = String(repeating: "(", count: 5_000)
        let long = "$" + String(repeating: ".a", count: 1_001)
        for (expression, message) in [
            ("$[?(\(deep)", "filters are nested too deep"), ("$[?(\(groups)", "filters are nested too deep"),
            ("$..[?(\(wide))]", "more than 1,000 conditions"), (long, "more than 1,000 steps"),
        ] {
            do {
                _ = try MappingRun([TestTemplate.jsonPath(values: [TestTemplate.value("x", expression)])])
                Issue.record("\(expression.prefix(20)) compiled")
            } catch let failure as MappingRun.LoadFailure {
                #expect(failure.texts[0].contains(message), "\(failure.texts[0].suffix(200))")
            }
        }
    }
}
