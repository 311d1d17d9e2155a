import CommandSupport
import Testing

/// `kymo completions`.
@Suite struct CompletionsTests {
    /// Each script names the command, and its shell takes it; `packaging/test.sh` completes with the real shells.
    @Test(arguments: ["bash", "zsh", "fish"]) func aScriptHasAllCommands(_ shell: String) throws {
        let done = try Kymo.run(["completions", shell])
        #expect(done.end == .exit(0) && done.error.isEmpty)
        for command in ["run", "status", "dead", "completions"] {
            #expect(done.text.contains(command), "\(command) in \(shell)")
        }
        #expect(done.text.contains("dead-letter"))
    }

    @Test func anotherShellIsRefused() throws {
        let done = try Kymo.run(["completions", "tcsh"])
        #expect(done.end == .exit(64) && done.output.isEmpty)
        #expect(done.error.contains("bash"))
    }
}
