import KymographCore
import Testing

/// Where and why expressions are refused at load (quirk 6, fixed).
@Suite struct JSONPathErrorTests {
    /// Expression, character from 1, and the message.
    static let errors: [(String, Int, String)] = [
        ("$.", 3, "expected a member name, found 'end of expression'"),
        ("$.a.", 5, "expected a member name, found 'end of expression'"),
        ("$..", 4, "expected a member name, found 'end of expression'"),
        ("$.a b", 5, "unexpected 'b'"), ("$a]", 3, "unexpected ']' in a name"), ("$.a)", 4, "unexpected ')' in a name"),
        ("$.a'b", 4, "unexpected ''' in a name"),
        ("$[", 3, "expected an index, '*', a quoted name or '?(…)', found 'end of expression'"),
        ("$[]", 3, "expected an index, '*', a quoted name or '?(…)', found ']'"),
        ("$[a]", 3, "expected an index, '*', a quoted name or '?(…)', found 'a'"),
        ("$[0", 4, "expected ']', found 'end of expression'"), ("$[0x]", 4, "expected ']', found 'x'"),
        ("$[99999999999]", 14, "expected an index, '*', a quoted name or '?(…)', found ']'"),
        ("$[-1]", 3, "negative indexes are not part of the dialect"),
        ("$[0,1]", 4, "unions such as [0,1] are not supported; write one expression per value"),
        ("$['a','b']", 6, "unions such as [0,1] are not supported; write one expression per value"),
        ("$[0:2]", 4, "slices such as [0:2] are not supported; use [*] or an index"),
        ("$['a]", 3, "the quoted text is not closed"), ("$['a\\", 3, "the quoted text is not closed"),
        ("$..[0]", 5, "after '..[' a filter '?(…)' or a quoted name is expected"),
        ("$..[*]", 5, "after '..[' a filter '?(…)' or a quoted name is expected"),
        ("$..[?(@a]", 9, "unexpected ']' in a name"),
        ("$..[?(@a)", 10, "expected ']' after the filter, found 'end of expression'"),
        ("$..[?(@a &&)]", 12, "expected '@name', '$path', a number, 'text', true, false or null, found ')'"),
        ("$..[?(@a & @b)]", 10, "expected ')' at the end of the filter, found '&'"),
        ("$..[?(@a and @b)]", 10, "expected ')' at the end of the filter, found 'a'"),
        ("$..[?(@a = 1)]", 10, "'=' is no operator; use '=='"),
        ("$..[?(@a =~ /x/)]", 10, "regular expressions in filters are not supported; compare with '=='"),
        ("$..[?(@a == x)]", 13, "expected '@name', '$path', a number, 'text', true, false or null, found 'x'"),
        ("$..[?(@a == \"x\")]", 13, "expected '@name', '$path', a number, 'text', true, false or null, found '\"'"),
        ("$..[?(@a == 'x)]", 13, "the quoted text is not closed"),
        ("$..[?(!@a)]", 7, "negation is not part of the dialect; compare with '!='"),
        ("$..[?((@a))]", 7, "parentheses in filters are not supported; use one filter per template"),
        ("$..[?(1)]", 8, "a constant alone is no condition"),
        ("$..[?()]", 7, "expected '@name', '$path', a number, 'text', true, false or null, found ')'"),
        ("$..[?(@a == 1&&@b)]", 13, "'1&&@b' is no number; a number ends at a blank or ')'"),
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
}
