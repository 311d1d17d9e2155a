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
            "query", "export", "ledger", "dead", "status",
            "Exit status",
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
        ("check", ["--config", "file:line:column", "78", "--strict", "--events", "--format json"]),
        ("test", ["--update", "examples/<name>.in.json", "65"]),
        ("map", ["--mapping", "--explain", "--default-device", "standard input"]),
        ("migrate", ["--write", "--format", "65", "78"]),
        ("eval", ["--language", "jmespath", "standard input", "65", "78"]),
        ("replay", ["--udp", "--speed", "--rate", "NDJSON"]),
        ("simulate", ["--devices", "--seed", "--duplicates", "--late", "--latency", "--window"]),
        ("mappings", ["--export"]),
        ("query", ["--readings", "--cursor", "--modified-from", "--count"]), ("export", ["csv", "Parquet"]),
        ("ledger", ["--verify", "--patient", "65"]), ("dead", ["list", "show", "replay", "discard"]),
        ("status", ["--format", "control.sock"]),
        ("dictionary", ["--out", "--size", "output.dictionary"]),
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

    @Test func version() throws {
        let done = try Kymo.run(["--version"])
        #expect(done.end == .exit(0) && done.lines.count == 1)
        #expect(done.text.wholeMatch(of: /kymo [0-9]+\.[0-9]+\.[0-9]+ \(Swift .*, zstd .*\)\n/) != nil)
    }

    @Test(arguments: [
        ["--frobnicate"], ["frobnicate"], ["run", "--frobnicate"], ["run", "--udp"], ["run", "left-over"],
        ["check", "--frobnicate"], ["test", "--update"], ["test", "--update", "reading"],
        ["mappings", "--export", "reading"], ["mappings", "folder"], ["replay"], ["replay", "file"],
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
