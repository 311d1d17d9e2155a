import CommandSupport
import Glibc
import Testing

/// What `kymo check` finds on the machine is what `kymo run` fails of.
@Suite struct EnvironmentCheckTests {
    /// Files and addresses of all kinds, each of them wrong.
    private static let broken = """
        data: data
        deadLetter: none/dead.ndjson
        sources:
          - unix: none/kymo.sock
          - udp: 198.51.100.1:5757
          - unixgram: file
          - serial: ./none:115200
        sinks:
          - to: none/out/deeper
          - server: https://fhir.example/r4
            identity: lookup
            authorization: bearer
            tokenFile: token
            caFile: file
        """

    private func brokenFolder() -> TemporaryFolder {
        let folder = TemporaryFolder()
        folder.write("kymo.yaml", Self.broken)
        folder.write("file", "nothing")
        folder.write("token", "secret")
        _ = unsafe chmod(folder.file("token"), 0o644)
        return folder
    }

    @Test func everythingIsFoundAtOnce() throws {
        let folder = brokenFolder()
        let done = try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
        #expect(done.end == .exit(78), "\(done.error)")
        for (place, words) in [
            ("2:13: error: deadLetter:", "No such file or directory"), ("4:11: error: sources[0].unix:", "create"),
            ("5:10: error: sources[1].udp:", "this machine has no such address"),
            ("6:15: error: sources[2].unixgram:", "is not a socket"),
            ("7:13: warning: sources[3].serial:", "kymo run waits for it"),
            ("9:9: error: sinks[0].to:", "create the directory"), ("13:16: error: sinks[1].tokenFile:", "chmod 600"),
            ("14:13: error: sinks[1].caFile:", "holds no certificate"),
        ] {
            let line = done.error.split(separator: "\n").first { $0.hasPrefix("kymo.yaml:\(place)") }
            #expect(line?.contains(words) ?? false, "\(place) \(words): \(done.error)")
        }
        #expect(done.error.contains("kymo: 7 errors, 1 warning"), "\(done.error)")
        #expect(Files.names(folder.path) == ["file", "kymo.yaml", "token"], "a check touches nothing")
        let offline = try Kymo.run(["check", "--config", "kymo.yaml", "--no-environment"], directory: folder.path)
        #expect(offline.end == .exit(0) && offline.error.contains("; 0 warnings"), "\(offline.error)")
    }

    /// A start says all that it would fail of, not only the first.
    @Test func runSaysTheSame() throws {
        let folder = brokenFolder()
        let check = try Kymo.run(["check", "--config", "kymo.yaml"], directory: folder.path)
        let run = try Kymo.run(["run", "--config", "kymo.yaml"], directory: folder.path)
        #expect(run.end == check.end)
        for line in check.error.split(separator: "\n") where line.contains(": error: ") {
            let message = line.split(separator: ": ", maxSplits: 3).last ?? ""
            #expect(run.error.contains(message), "\(message): \(run.error)")
        }
    }

    @Test(arguments: [
        ("deadLetter: none/dead\n", Int32(73)), ("sources: [{unix: none/a.sock}]\n", 71),
        ("sources: [{unix: file}]\n", 71), ("sources: [{udp: '198.51.100.1:5'}]\n", 71),
        ("output: {to: none/deeper/out}\n", 73), ("output: {to: file}\n", 73), ("data: file/data\n", 73),
        ("http: {admin: '198.51.100.1:5', insecure: true}\n", 71), ("receipts: file/receipts\n", 73),
        ("processors: '1000'\n", 78), ("output: {to: out, compression: zstd, dictionary: file}\n", 73),
        ("deadLetter: none/dead\nsources: [{unix: file}]\nprocessors: '1000'\n", 78),
    ])
    func theStatusIsThatOfRun(text: String, status: Int32) throws {
        let folder = TemporaryFolder()
        folder.write("file", "nothing")
        folder.write("kymo.yaml", text.contains("sources") ? text : text + "sources: [{unix: a.sock}]\n")
        for command in ["check", "run"] {
            let done = try Kymo.run([command, "--config", "kymo.yaml"], directory: folder.path)
            #expect(done.end == .exit(status), "\(command): \(done.error)")
        }
    }

    /// A configuration can be checked while an instance runs with it, and only then is its port no error.
    @Test func whatTheRunningInstanceUsesIsNoError() throws {
        let folder = TemporaryFolder()
        let file = folder.write(
            "kymo.yaml",
            "data: data\nsources: [{tcp: '127.0.0.1:0'}, {unix: a.sock}]\noutput: {to: out}\nreceipts: kept\n")
        let run = try Kymo.start(["run", "--config", file], directory: folder.path)
        _ = try run.addresses(2)
        let check = try Kymo.run(["check", "--config", file], directory: folder.path)
        #expect(check.end == .exit(0), "\(check.error)")
        #expect(check.error.contains("kymo: process \(run.pid) uses the data directory data\n"), "\(check.error)")
        #expect(check.error.contains("kymo: that one listens on unix a.sock\n"))
        #expect(check.error.contains("kymo: that one probably writes to files out\n"), "\(check.error)")
        #expect(check.error.contains("kymo: that one probably writes receipts to kept\n"), "\(check.error)")
        let other = try Kymo.run(["check", "--config", file, "--data", "other"], directory: folder.path)
        #expect(other.end == .exit(73), "\(other.error)")
        #expect(other.error.contains("sources[1].unix: cannot listen to the Unix socket a.sock"))
        #expect(try run.terminate().end == .exit(0))
    }

    /// What a reload would refuse is an error of its own, before anything is sent to the instance.
    @Test func whatAReloadWouldRefuse() throws {
        let folder = TemporaryFolder()
        let text = "data: data\nsources: [{unix: a.sock}]\noutput: {to: out}\n"
        let file = folder.write("kymo.yaml", text)
        func check() throws -> Kymo.Finished {
            try Kymo.run(["check", "--config", file, "--reload"], directory: folder.path)
        }
        let absent = try check()
        #expect(absent.end == .exit(69), "\(absent.error)")
        #expect(absent.error.contains("kymo.yaml:1:7: error: data: no instance"), "\(absent.error)")
        let run = try Kymo.start(["run", "--config", file], directory: folder.path)
        _ = try run.addresses()
        #expect(try check().end == .exit(0))
        folder.write("kymo.yaml", text + "drain: 7s\n")
        #expect(try check().end == .exit(0))
        folder.write("kymo.yaml", text + "drain: 7s\nwindow: 17m\n")
        let lasting = try check()
        #expect(lasting.end == .exit(78), "\(lasting.error)")
        let message =
            "kymo.yaml:5:9: error: window 5m → 17m (\(file):5:9): cannot change while it runs; restart to apply it"
        #expect(lasting.error.contains(message), "\(lasting.error)")
        let unset = try Kymo.run(["check", "--config", file, "--reload", "--no-environment"], directory: folder.path)
        #expect(unset.end == .exit(64), "\(unset.error)")
        // One that keeps nothing cannot be asked, and its reload is not to fail of that.
        folder.write("kymo.yaml", text + "ephemeral: true\n")
        let unasked = try check()
        #expect(unasked.error.contains("no instance can be asked"), "\(unasked.error)")
        #expect(!unasked.error.contains("error: data"), "\(unasked.error)")
        // Asking has changed nothing.
        let done = try run.terminate()
        #expect(done.end == .exit(0) && !done.error.contains("reloads"), "\(done.error)")
    }

    /// Who names the store asks whether the mappings fit what it has. Each mistake is said once, by the run, too.
    @Test func mappingsMustFitTheStore() throws {
        let folder = TemporaryFolder()
        let use = ["--mapping", "./m", "--data", "data"]
        let reading = Readings.ndjson([#"{"id":"w-1","pulse":71,"at":"2026-03-01T08:00:00Z"}"#])
        func run() throws -> Kymo.Finished {
            try Kymo.run(["run", "--stdin", "--out", "out"] + use, directory: folder.path, input: .bytes(reading))
        }
        folder.write("m/device.json", MappingText.device)
        folder.write("m/fhir.json", MappingText.fhir)
        #expect(try run().end == .exit(0))
        folder.write("m/fhir.json", MappingText.fhir.replacing("\"code\": \"/min\"", with: "\"code\": \"Hz\""))
        for done in [try Kymo.run(["check"] + use, directory: folder.path), try run()] {
            #expect(done.end == .exit(78), "\(done.error)")
            let told = done.error.split(separator: "\n").count { $0.contains("holds readings of the former kind") }
            #expect(told == 1 && done.error.contains("./m/fhir.json:3:17: error:"), "\(done.error)")
        }
        // What is wrong with the mapping itself is no matter of the store.
        folder.write("m/fhir.json", MappingText.fhir.replacing("instance", with: "60"))
        let wrong = try Kymo.run(["check", "--udp", "127.0.0.1:0"] + use, directory: folder.path)
        #expect(wrong.end == .exit(78) && wrong.error.contains("kymo: 1 error, 0 warnings"), "\(wrong.error)")
    }

    /// Who edits a mapping does not ask whether a port is free, which an instance with that mapping may use.
    @Test func mappingsAloneNeedNoMachine() throws {
        let folder = TemporaryFolder()
        let exported = try Kymo.run(["mappings", "--export", "wristband", "mine"], directory: folder.path)
        #expect(exported.end == .exit(0), "\(exported.error)")
        let run = try Kymo.start(["run", "--udp", "127.0.0.1:0", "--ephemeral"], directory: folder.path)
        let port = try #require(try run.addresses().first?.split(separator: ":").last)
        let environment = ["KYMO_UDP": "127.0.0.1:\(port)"]
        let alone = try Kymo.run(["check", "./mine"], environment: environment, directory: folder.path)
        #expect(alone.end == .exit(0), "\(alone.error)")
        let listening = try Kymo.run(["check", "./mine", "--udp", "127.0.0.1:\(port)"], directory: folder.path)
        #expect(listening.end == .exit(71) && listening.error.contains("in use"), "\(listening.error)")
        #expect(try run.terminate().end == .exit(0))
    }

    @Test(.enabled(if: SharedMaterial.canRunPython, "no Python"))
    func serversAreAsked() throws {
        let script = """
            import http.server, json, sys
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    isKnown = self.headers["Authorization"] == "Bearer good"
                    self.send_response(200 if isKnown else 401)
                    self.end_headers()
                    rest = [{"mode": "server", "interaction": [{"code": "transaction"}]}]
                    statement = {"resourceType": "CapabilityStatement", "fhirVersion": "4.0.1", "rest": rest}
                    self.wfile.write(json.dumps(statement).encode() if isKnown else b"")
                def log_message(self, *arguments): pass
            server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
            print(server.server_port, flush=True)
            server.serve_forever()
            """
        let server = try ChildProcess(SharedMaterial.python, ["-c", script])
        try Waiting.until("the server's port") { server.output.last == 0x0A }
        let port = String(decoding: server.output.dropLast(), as: UTF8.self)
        let folder = TemporaryFolder()
        func check(_ token: String, version: String = "R4", port: String) throws -> Kymo.Finished {
            folder.write("token", token)
            _ = unsafe chmod(folder.file("token"), 0o600)
            folder.write(
                "kymo.yaml",
                """
                output: {to: none, fhirVersion: \(version)}
                sources: [{stdin: true}]
                server: {url: 'http://127.0.0.1:\(port)/r4', identity: lookup, authorization: bearer, tokenFile: token}
                """)
            return try Kymo.run(
                ["check", "--config", "kymo.yaml", "--connect", "--data", "data"], directory: folder.path)
        }
        let good = try check("good", port: port)
        #expect(good.end == .exit(0) && good.error.contains("/r4 answers: FHIR 4.0.1"), "\(good.error)")
        let refused = try check("wrong", port: port)
        #expect(refused.end == .exit(77) && refused.error.contains("refuses the credentials"), "\(refused.error)")
        #expect(!refused.error.contains("wrong"))
        let version = try check("good", version: "R5", port: port)
        #expect(version.end == .exit(78) && version.error.contains("output.fhirVersion"), "\(version.error)")
        let away = try check("good", port: "1")
        #expect(away.end == .exit(69) && away.error.contains("kymo.yaml:3:15: error: server.url: "), "\(away.error)")
        server.signal(SIGTERM)
    }
}
