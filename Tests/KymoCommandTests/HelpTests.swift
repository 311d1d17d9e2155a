import CommandSupport
import Testing

/// What the command says about itself, and what it does with a wrong command line.
@Suite struct HelpTests {
    @Test(arguments: [[], ["--help"], ["-h"], ["help"]])
    func overview(arguments: [String]) throws {
        let done = try Kymo.run(arguments)
        #expect(done.end == .exit(0) && done.error.isEmpty)
        for word in [
            "USAGE: kymo", "run", "check", "test", "map", "eval", "replay", "simulate", "mappings", "dictionary",
            "query", "export", "ledger", "dead", "status", "config", "top", "tap", "flush", "pause", "resume",
            "sources", "capabilities",
            "Exit status", "console",
        ] {
            #expect(done.text.contains(word), "\(word)")
        }
    }

    @Test(arguments: [
        (
            "run",
            [
                "--udp", "--tcp", "--unix", "--unixgram", "--stdin", "--mapping", "--window", "--config",
                "127.0.0.1:5757",
                "--no-watch", "--lanes", "--shards", "--processors",
            ]
        ),
        ("check", ["--config", "file:line:column", "78", "--strict", "--events", "--merged", "--format json"]),
        ("config", ["print", "example", "schema"]),
        ("test", ["--update", "examples/<name>.in.json", "65"]),
        ("map", ["--mapping", "--explain", "--default-device", "standard input"]),
        ("migrate", ["--write", "--format", "65", "78"]),
        ("eval", ["--language", "jmespath", "standard input", "65", "78"]),
        ("replay", ["--udp", "--speed", "--rate", "NDJSON"]),
        ("simulate", ["--devices", "--seed", "--duplicates", "--late", "--latency", "--window", "--format"]),
        ("mappings", ["--export", "--merged", "78"]),
        ("query", ["--readings", "--cursor", "--modified-from", "--count", "--open"]),
        ("export", ["csv", "Parquet", "--open", "--out", "--decimals", "manifest.json"]),
        ("ledger", ["--verify", "--patient", "65"]), ("dead", ["list", "show", "replay", "discard"]),
        ("flush", ["--type", "--device", "--wait", "65", "66"]), ("pause", ["--as", "typePaused", "kymo dead replay"]),
        ("resume", ["how long", "dead letters wait"]), ("sources", ["list", "remove"]),
        ("capabilities", ["--mapping", "--config", "capabilities.schema.json"]),
        ("reset", ["--yes", "--delete", "--dry-run", "reset-TIME", "65"]),
        ("status", ["--format", "control.sock"]), ("top", ["--once", "--format", "control.sock", "66"]),
        ("keys", ["new", "encrypt", "rotate"]), ("decrypt", ["kymo.keys", "65"]),
        ("audit", ["list", "verify", "events"]), ("console", ["login"]),
        ("tap", ["--stage", "--device", "--type", "--rate", "--limit", "--reveal", "66"]),
        ("dictionary", ["--out", "--size", "output.dictionary"]), ("version", ["--verbose", "SBOM"]),
    ])
    func subcommand(name: String, phrases: [String]) throws {
        for arguments in [[name, "--help"], ["help", name]] {
            let done = try Kymo.run(arguments)
            #expect(done.end == .exit(0))
            for phrase in ["OVERVIEW:", "USAGE: kymo", "Example: kymo \(name)"] + phrases {
                #expect(done.text.contains(phrase), "\(arguments) \(phrase)")
            }
        }
    }

    /// A debug build checks what each command declares, such as two options of one name, and ends where that is wrong.
    @Test func declarationsAreSound() throws {
        let done = try ChildProcess(Kymo.besideTheTests, ["--experimental-dump-help"]).finish(seconds: 240)
        #expect(done.end == .exit(0) && done.error.isEmpty, "\(done.error)")
        #expect(done.text.contains("\"commandName\""))
    }

    /// Of each command the reference says what it prints for programs, or that it prints messages only.
    @Test func outputOfEachIsDescribed() throws {
        let page = Files.text("\(SharedMaterial.package)/docs/commands.md")
        let start = try #require(page.firstRange(of: "## Output for programs"))
        let section = page[start.lowerBound...]
        func names(_ command: CommandHelp, _ path: [String]) -> [String] {
            let below = (command.subcommands ?? []).filter { $0.commandName != "help" }
            guard !below.isEmpty else { return [path.joined(separator: " ")] }
            return below.flatMap { names($0, path + [$0.commandName]) }
        }
        let found = names(try #require(ExamplePages.help), [])
        #expect(found.count >= 45)
        // `dead` alone is `dead reasons`.
        for name in found where name != "dead reasons" {
            #expect(section.contains("`\(name)`"), "docs/commands.md says nothing of what 'kymo \(name)' prints")
        }
    }

    /// Options are in groups, and what the command is for, its usage and its example come first.
    @Test func groupsOfRun() throws {
        let text = try Kymo.run(["run", "--help"]).text
        let parts = [
            "OVERVIEW: Receive", "USAGE: kymo run", "Example: kymo run", "Without a source", "\nSOURCES:", "--udp",
            "--framing", "\nMAPPING:", "--mapping <", "\nWINDOWS:", "--window <", "\nOUTPUT:", "--out <", "--server <",
            "\nDURABILITY:", "--data <", "\nTUNING:", "--lanes <", "\nOPTIONS:", "--config <",
        ]
        var rest = text[...]
        for part in parts {
            let place = try #require(rest.firstRange(of: part), "\(part) is missing, or not in this order: \(text)")
            rest = rest[place.upperBound...]
        }
    }

    /// The overview has each exit status in a line, and docs/commands.md the same ones.
    @Test func exitStatuses() throws {
        let text = try Kymo.run(["--help"]).text
        let listed = text.matches(of: /\n +([0-9]+)  [a-z]/).map { String($0.output.1) }
        #expect(listed.count >= 15)
        let page = Files.text("\(SharedMaterial.package)/docs/commands.md")
        #expect(page.matches(of: /\n\| ([0-9]+) \|/).map { String($0.output.1) } == listed)
    }

    /// What was probably meant, of the commands that there are.
    @Test(arguments: [
        (["rnu"], "run"), (["validate"], "check"), (["serve"], "run"), (["convert"], "map"), (["statsu"], "status"),
        (["simualte", "--stdout"], "simulate"), (["dead", "lst"], "dead list"), (["show", "17"], "dead show"),
        (["help", "rnu"], "run"), (["rnu", "--help"], "run"), (["deadletters"], "dead"),
    ])
    func suggestions(arguments: [String], meant: String) throws {
        let done = try Kymo.run(arguments)
        #expect(done.end == .exit(64) && done.output.isEmpty)
        #expect(done.error.contains("; did you mean 'kymo \(meant)'?\nUsage: kymo"), "\(done.error)")
    }

    @Test func commandsAreListedWhereNoneIsMeant() throws {
        let done = try Kymo.run(["frobnicate"])
        #expect(done.error.contains("there is no command 'kymo frobnicate'; the commands are run, import, demo, check"))
    }

    @Test(arguments: [
        (["run", "--maping", "reading"], "'--mapping'"), (["run", "--output", "x"], "'--out'"),
        (["run", "-stdin"], "'--stdin'"), (["run", "readings.ndjson"], "kymo run --stdin < FILE"),
    ])
    func wrongOptions(arguments: [String], advice: String) throws {
        let done = try Kymo.run(arguments)
        #expect(done.end == .exit(64) && done.error.contains(advice), "\(done.error)")
    }

    @Test func version() throws {
        let done = try Kymo.run(["--version"])
        #expect(done.end == .exit(0) && done.lines.count == 1)
        let form = /kymo [0-9]+\.[0-9]+\.[0-9]+ \(commit [0-9a-z-]+, Swift .*, zstd .*\)\n/
        #expect(done.text.wholeMatch(of: form) != nil, "\(done.text)")
    }

    @Test(arguments: [
        ["--frobnicate"], ["frobnicate"], ["run", "--frobnicate"], ["run", "--udp"], ["run", "left-over"],
        ["check", "--frobnicate"], ["test", "--update"], ["test", "--update", "reading"],
        ["mappings", "--export", "reading"], ["mappings", "folder"],
        ["mappings", "--merged", "reading", "--export", "reading", "folder"], ["replay"], ["replay", "file"],
        ["replay", "file", "--stdout", "--udp", "127.0.0.1:1"], ["simulate", "--stdout", "--devices", "0"],
        ["simulate", "--stdout", "--jitter", "2"], ["simulate", "--stdout", "--start", "soon"],
        ["replay", "file", "--stdout", "--rate", "0"], ["replay", "file", "--stdout", "--rate", "1", "--speed", "2"],
        ["simulate", "--udp", "127.0.0.1:0"],
    ])
    func wrongCommandLine(arguments: [String]) throws {
        let done = try Kymo.run(arguments)
        #expect(done.end == .exit(64))
        #expect(done.output.isEmpty && done.error.contains("rror:") && done.error.contains("sage:"))
    }

    /// A value of a flag is checked like one of the file.
    @Test(arguments: ["5757", "127.0.0.1", "127.0.0.1:99999", "localhost:5757", "::1:5757", ":5757"])
    func wrongAddress(address: String) throws {
        let done = try Kymo.run(["run", "--udp", address])
        #expect(done.end == .exit(78))
        #expect(done.error.contains("127.0.0.1:5757") && done.error.contains(address), "\(done.error)")
    }

    @Test(arguments: [
        ["replay", "/nonexistent/file", "--stdout"], ["map", "/nonexistent/file"],
        ["map", "-", "/nonexistent/file"],
        ["eval", "a", "/nonexistent/file"],
        ["run", "--config", "/nonexistent/kymo.yaml"], ["check", "--config", "/nonexistent/kymo.yaml"],
    ])
    func missingInput(arguments: [String]) throws {
        let done = try Kymo.run(arguments)
        #expect(done.end == .exit(66))
        #expect(done.error.contains("/nonexistent/") && done.error.contains("cannot be read"))
    }

    @Test func nobodyListens() throws {
        let folder = TemporaryFolder()
        let file = folder.write("readings.ndjson", Readings.heartRate(second: 0) + "\n")
        let done = try Kymo.run(["replay", file, "--unix", folder.file("none.sock")])
        #expect(done.end == .exit(69))
        #expect(done.error.contains("kymo run"))
    }
}
