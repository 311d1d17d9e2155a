import CommandSupport
import Glibc
import Testing

/// What a process leaves for others to read: files of its own alone, and no memory.
@Suite struct ProcessPrivacyTests {
    private let folder = TemporaryFolder()

    /// Files and folders below `path`, with their permissions.
    private func modes(_ path: String) -> [(path: String, mode: UInt32)] {
        Files.names(path).flatMap { name in
            let child = "\(path)/\(name)"
            return [(child, Files.mode(child))] + modes(child)
        }
    }

    /// An instance that a shell starts after `commands`, with everything that writes files.
    private func start(_ commands: String, _ more: [String] = []) throws -> ChildProcess {
        let server = try EchoingServer()
        let arguments = [
            "run", "--unix", folder.file("a.sock"), "--data", folder.file("data"), "--out", folder.file("out"),
            "--dead-letter", folder.file("dead.ndjson"), "--server", server.url, "--server-identity", "create",
            "--window", "1m", "--lateness", "0s",
        ]
        let run = try ChildProcess(
            "/bin/sh", ["-c", "\(commands); exec \"$@\"", "sh", Kymo.path] + arguments + more,
            environment: ["KYMO_RECEIPTS": folder.file("receipts")], directory: folder.path)
        let lines = Readings.heartRates(3) + ["{", Readings.heartRate(second: 61), Readings.heartRate(second: 122)]
        try Sending.send(lines: lines, to: try run.addresses()[0])
        try Waiting.until("refusals: \(run.errorText)") {
            try Kymo.run(["dead", "--data", folder.file("data")]).text.contains("serverRefused")
        }
        withExtendedLifetime(server) {}
        return run
    }

    /// While it runs, when it was killed, after the next start and its end.
    @Test func filesAreTheOwnersAlone() throws {
        func expectPrivate(_ when: String) {
            let found = modes(folder.path)
            for name in ["/data/kymo.sqlite", "/data/kymo.mark", "/out/", "/receipts/", "/dead.ndjson"] {
                #expect(found.contains { $0.path.contains(name) }, "\(when): no \(name) in \(found.map(\.path))")
            }
            for (path, mode) in found where !path.hasSuffix("/a.sock") {
                #expect(mode & 0o077 == 0, "\(when): \(path) has \(String(mode, radix: 8))")
            }
        }
        let run = try start("umask 0")
        #expect(Files.mode(folder.file("a.sock")) == 0o660 && Files.isSocket(folder.file("data/control.sock")))
        expectPrivate("running")
        run.signal(SIGKILL)
        #expect(try run.wait() == .signal(SIGKILL))
        expectPrivate("killed")
        let again = try start("umask 0")
        #expect(try again.terminate().end == .exit(0))
        expectPrivate("ended")
    }

    @Test func theGroupMayReadOutputIfASettingSaysSo() throws {
        let run = try Kymo.run(
            ["run", "--stdin", "--out", folder.file("out"), "--data", folder.file("data")],
            environment: ["KYMO_OUTPUT_GROUP_READABLE": "true"],
            input: .bytes(Readings.ndjson(Readings.heartRates(3))))
        #expect(run.end == .exit(0), "\(run.error)")
        let files = modes(folder.file("out"))
        #expect(!files.isEmpty && files.allSatisfy { $0.mode == 0o640 }, "\(files)")
        #expect(Files.mode(folder.file("out")) == 0o750)
        for (path, mode) in modes(folder.file("data")) { #expect(mode & 0o077 == 0, "\(path)") }
    }

    /// Dictionaries have text of readings in them, whatever was there before.
    @Test func dictionariesAreTheOwnersAlone() throws {
        let documents = (0..<300).map { number in
            "{\"resourceType\":\"Observation\",\"subject\":{\"reference\":\"Patient/p-\(number * 7919 % 1_000)\"},"
                + "\"valueQuantity\":{\"value\":\(60 + number % 40),\"unit\":\"/min\"}}\n"
        }
        let input = folder.write("observations.ndjson", documents.joined())
        func train() throws -> String {
            let done = try ChildProcess(
                "/bin/sh", ["-c", "umask 0; exec \"$@\"", "sh", Kymo.path, "dictionary", input, "--out", folder.path],
                directory: folder.path
            ).finish()
            #expect(done.end == .exit(0), "\(done.error)")
            return try #require(done.lines.first)
        }
        let path = try train()
        #expect(Files.mode(path) == 0o600)
        unsafe chmod(path, 0o644)
        #expect(try train() == path && Files.mode(path) == 0o600)
    }

    /// However much the shell would allow: neither a file, nor anything for the kernel's handler.
    @Test(arguments: [SIGSEGV, SIGABRT]) func aCrashLeavesNoCore(signal: Int32) throws {
        // The toolchain's own report of a crash takes a minute, and is not in what is installed.
        let run = try start("ulimit -c unlimited; export SWIFT_BACKTRACE=enable=no")
        #expect(coreLimit(of: run)?.first == "0", "\(coreLimit(of: run) ?? [])")
        run.signal(signal)
        #expect(try run.wait() == .signal(signal))
        #expect(!run.hasDumpedCore && !modes(folder.path).contains { $0.path.contains("core") })
    }

    /// Keys are in pages that are never swapped, and without a key there are none.
    @Test(arguments: [true, false]) func keysAreNotSwapped(isSealed: Bool) throws {
        let key = folder.file("key")
        #expect(try Kymo.run(["keys", "new", key]).end == .exit(0))
        let run = try Kymo.start(
            ["run", "--udp", "127.0.0.1:0", "--data", folder.file("data"), "--out", folder.file("out")]
                + (isSealed ? ["--key-file", key] : []))
        _ = try run.addresses()
        let line = Files.text("/proc/\(run.pid)/status").split(separator: "\n").first { $0.hasPrefix("VmLck:") }
        let locked = try #require(line?.split(separator: "\t").last?.split(separator: " ").first.flatMap { Int($0) })
        #expect((locked > 0) == isSealed, "\(locked) kB")
        #expect(try run.terminate().end == .exit(0))
    }

    /// Whether a process that this one starts may have core files at all.
    private static let mayDump: Bool = {
        var limit = rlimit()
        return unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 && limit.rlim_max > 0
    }()

    @Test(.enabled(if: mayDump, "needs a hard limit of core files above 0: ulimit -H -c"))
    func aSettingAllowsCores() throws {
        let run = try start("export KYMO_CORE_DUMPS=true; ulimit -S -c 0")
        let limits = coreLimit(of: run) ?? []
        #expect(limits.count == 2 && limits.first == limits.last && limits.first != "0", "\(limits)")
        #expect(try run.terminate().end == .exit(0))
    }

    /// The soft and hard limit of core files, as the kernel has them of a process.
    private func coreLimit(of run: ChildProcess) -> [String]? {
        let line = Files.text("/proc/\(run.pid)/limits").split(separator: "\n").first { $0.hasPrefix("Max core file") }
        return line.map { $0.split(separator: " ").dropFirst(4).prefix(2).map(String.init) }
    }

    /// The kernel gives what belongs to a process that may be traced to its user, and else to root. It reads its own
    /// input by a name in /proc all the same.
    @Test(.enabled(if: getuid() == 0, "only root can become another user")) func nobodyOfTheSameUserReadsItsMemory()
        throws
    {
        let program = try #require(MistakeRun.publicProgram)
        unsafe chmod(folder.path, 0o777)
        let asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--", program]
        for (isAllowed, owner) in [(false, UInt32(0)), (true, 65_534)] {
            let run = try ChildProcess(
                "/usr/bin/setpriv", asNobody + ["run", "--udp", "127.0.0.1:0", "--ephemeral", "--out", "out"],
                environment: ["KYMO_CORE_DUMPS": "\(isAllowed)"], directory: folder.path)
            _ = try run.addresses()
            var status = stat()
            #expect(unsafe stat("/proc/\(run.pid)/mem", &status) == 0 && status.st_uid == owner, "\(status.st_uid)")
            #expect(try run.terminate().end == .exit(0))
        }
        // A pipe of that user's own.
        let mapped = try ChildProcess(
            "/usr/bin/setpriv",
            asNobody.dropLast() + ["sh", "-c", "cat | \"$@\" map /dev/stdin", "sh", program], directory: folder.path,
            input: .bytes(Array(Readings.heartRate(second: 0).utf8))
        ).finish()
        #expect(mapped.end == .exit(0), "\(mapped.error)")
    }
}
