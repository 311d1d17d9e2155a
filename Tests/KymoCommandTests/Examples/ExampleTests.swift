import CommandSupport
import Testing

/// Every example of the help texts, of README.md and of docs runs as it stands there.
@Suite struct ExampleTests {
    /// It exits with status 0, or with the one that its comment states.
    @Test(arguments: ExamplePages.run)
    func runs(example: Example) throws {
        let done = try ExampleRun(example).finish()
        #expect(done.end == .exit(example.expectedStatus), "\(example.testDescription)\n\(done.text.suffix(2_000))")
    }

    /// Help texts and pages are found, and examples on them.
    @Test func areFound() {
        #expect(ExamplePages.all.count { $0.page.hasSuffix("--help") } >= 18)
        #expect(ExamplePages.all.count { $0.page.hasSuffix(".md") } >= 30)
    }

    /// Each command has an example in its help.
    @Test func eachCommandHasOne() throws {
        let help = try #require(ExamplePages.help)
        let pages = Set(ExamplePages.all.map(\.page))
        let commands = (help.subcommands ?? []).filter { $0.commandName != "help" }
        for command in commands {
            #expect(pages.contains("kymo \(command.commandName) --help"), "\(command.commandName)")
        }
    }

    /// No code line with the program's name was taken for something else than an example.
    @Test func noneIsOverlooked() {
        for line in ExamplePages.lines {
            let isFound = ExamplePages.all.contains { $0.page == line.page && $0.text.contains(line.text.shellText) }
            #expect(isFound, "\(line.page): \(line.text)")
        }
    }

    /// What is not run stands on a page, with its reason.
    @Test func whatIsNotRunIsThere() {
        for entry in ExamplesNotRun.all {
            #expect(ExamplePages.all.contains { $0.text.hasPrefix(entry.begins) }, "no page has '\(entry.begins)'")
            #expect(!entry.reason.isEmpty)
        }
    }
}

extension String {
    /// A code line as an example has it: without a prompt, or the key of a unit.
    fileprivate var shellText: String { replacing(/^(\$ |Exec[A-Za-z]+=)/, with: "") }
}
