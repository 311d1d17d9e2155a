import CommandSupport
import Testing

/// `kymo eval` with the real binary.
@Suite struct EvalTests {
    private static let message = #"{"device":"W-1","hr":[{"v":72.50},{"v":80}],"text":"a\"\u00e9","none":null}"#

    private func eval(_ arguments: [String], _ input: String = EvalTests.message) throws -> Kymo.Finished {
        try Kymo.run(["eval"] + arguments, input: .bytes(Array(input.utf8)))
    }

    @Test(arguments: [
        (["$.device"], "\"W-1\"\n"), (["$.hr[*].v"], "72.50\n80\n"), (["$..[?(@v > 75)]"], "{\"v\":80}\n"),
        (["$.nothing"], ""),
        (["$.none"], "null\n"), (["text"], "\"a\\\"é\"\n"), (["--language", "jsonpath", "hr[1].v"], "80\n"),
        (["--language", "jmespath", "hr[*].v"], "[72.50,80]\n"), (["--language", "jmespath", "nothing"], "null\n"),
        (["--language", "jmespath", "add(hr[1].v, `1`)"], "81\n"),
        (["--language", "jmespath", "{t: text, m: max(hr[*].v)}"], "{\"t\":\"a\\\"é\",\"m\":80}\n"),
        (["--language", "jmespath", "hr[*].v | [0]", "-"], "72.50\n"),
    ])
    func prints(_ arguments: [String], _ expected: String) throws {
        let done = try eval(arguments)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        #expect(done.text == expected)
    }

    /// Some editors write a byte-order mark before a file.
    @Test(arguments: ["jsonpath", "jmespath"]) func skipsAByteOrderMark(_ language: String) throws {
        let done = try eval(["--language", language, "device"], "\u{FEFF} " + EvalTests.message)
        #expect(done.end == .exit(0) && done.text == "\"W-1\"\n", "\(done.error)")
        let lenient = ["--language", language, "--compatibility", "iomt-fhir", "a"]
        let other = try eval(lenient, "\u{FEFF}{a:1}")
        #expect(other.end == .exit(0) && other.text == "1\n", "\(other.error)")
        let broken = try eval(["--language", language, "a"], "\u{FEFF}{\"a\":\n 1,}")
        #expect(broken.end == .exit(65))
        #expect(broken.error.contains("2:4: the document is refused: invalidJSON at byte 12"), "\(broken.error)")
    }

    @Test func readsAFile() throws {
        let folder = TemporaryFolder()
        let file = folder.write("message.json", EvalTests.message)
        let done = try Kymo.run(["eval", "$.device", file])
        #expect(done.end == .exit(0) && done.text == "\"W-1\"\n")
    }

    @Test(arguments: [
        ("{\"a\":\n 1,}", "standard input:2:4: the document is refused: invalidJSON at byte 9"), ("", "1:1: "),
        ("{} {}", "1:4: "),
        ("\"\u{1}\"", "1:2: "),
    ])
    func refusesWhatIsNoJSON(_ input: String, _ message: String) throws {
        for language in ["jsonpath", "jmespath"] {
            let done = try eval(["--language", language, "a"], input)
            #expect(done.end == .exit(65) && done.output.isEmpty)
            #expect(done.error.contains(message), "\(done.error)")
        }
    }

    @Test(arguments: [
        ("jmespath", "hr[?v > 70]", "byte 8: a number is written in backticks: `1`\n  hr[?v > 70]\n          ^\n"),
        (
            "jmespath", "lenght(hr)",
            "byte 0: there is no function 'lenght'; did you mean 'length'?\n  lenght(hr)\n  ^\n"
        ),
        ("jmespath", "\"é\".", "byte 5: "), ("jmespath", "add(hr)", "takes 2 arguments, found 1"),
        ("jsonpath", "$.hr[", "byte 5: "),
    ])
    func showsWhereAnExpressionIsWrong(_ language: String, _ expression: String, _ message: String) throws {
        let done = try eval(["--language", language, expression])
        #expect(done.end == .exit(78) && done.output.isEmpty)
        #expect(
            done.error.hasPrefix("kymo: the expression is wrong at ") && done.error.contains(message), "\(done.error)")
    }

    @Test(arguments: [
        ("abs(device)", "at byte 0: Error: invalid-type, function abs expects argument 0"),
        ("hr[*].divide(`1`, `0`)", "at byte 6: Error: divide by zero"),
        ("insertString(device, 'x', `9`)", "out of range"),
    ])
    func saysThatAnExpressionFails(_ expression: String, _ message: String) throws {
        let done = try eval(["--language", "jmespath", expression])
        #expect(done.end == .exit(70) && done.output.isEmpty)
        #expect(done.error.contains(message) && done.error.contains("\n  \(expression)\n"), "\(done.error)")
    }

    @Test func refusesWrongCommandLines() throws {
        #expect(try Kymo.run(["eval", "--language", "xpath", "a"]).end == .exit(64))
        #expect(try Kymo.run(["eval"]).end == .exit(64))
        #expect(try Kymo.run(["eval", "a", "/nonexistent/file"]).end == .exit(66))
    }
}
