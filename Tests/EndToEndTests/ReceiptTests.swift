import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// `receipts:`: files of what sinks have answered.
@Suite(.serialized, .enabled(if: SharedMaterial.canRunPython, "needs KYMO_SHARED, and KYMO_PYTHON with aiohttp"))
struct ReceiptTests {
    private let folder = TemporaryFolder()
    private static let lines = (0..<3).flatMap { device in
        (0..<180).map { Readings.heartRate(second: $0, value: 60 + $0 % 30, device: "watch-\(device)") }
    }

    private func arguments(_ server: FHIRServer, entries: Int = 100, hasFiles: Bool = true) -> [String] {
        let file = folder.write(
            "kymo.yaml",
            """
            output: {to: none, maxEntries: \(entries)}
            server: {url: "\(server.base)", identity: create}
            \(hasFiles ? "receipts: \(folder.file("receipts"))" : "")
            """)
        return ["run", "--config", file, "--data", folder.file("data"), "--window", "1m"]
    }

    private func receipts(_ options: String...) throws -> [JSONTree] {
        let done = try Kymo.run(["receipts", folder.file("receipts"), "--format", "json"] + options)
        #expect(done.end == .exit(0), "\(done.error)")
        return try done.lines.map { try JSONTree(parsing: Array($0.utf8)) }
    }

    private func observations(_ receipts: [JSONTree]) -> [JSONTree] {
        receipts.filter { $0["resource"]?.text?.hasPrefix("Observation") == true }
    }

    /// One for each entry, with whose it is, its window, and the server's answer.
    @Test func ofWhatAServerHasStored() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let done = try Kymo.run(arguments(server) + ["--stdin"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.end == .exit(0) && done.error.contains("undeliverable 0"), "\(done.error)")
        let all = try receipts()
        let found = observations(all)
        #expect(found.count == 9)
        for receipt in found {
            #expect(receipt["outcome"]?.text == "created" && receipt["status"] == .number("201"))
            #expect(receipt["type"]?.text == "heartRate" && receipt["readings"] == .number("60"))
            #expect(receipt["device"]?.text?.hasPrefix("watch-") == true && receipt["patient"] == nil)
            let start = receipt["start"]?.text ?? ""
            #expect(receipt["first"]?.text == start && start.hasPrefix("2026-03-01T08:0"))
            #expect(receipt["last"]?.text == start.replacing(":00Z", with: ":59Z"))
            #expect(receipt["location"]?.text?.contains("Observation/") == true)
            #expect(receipt["identifier"]?["value"]?.text?.contains("heartRate") == true)
            #expect(receipt["attempts"] == .number("1"))
            // The server's ETag: W/"1" of what is new.
            #expect(receipt["version"]?.text?.contains("1") == true, "\(receipt)")
        }
        #expect(Set(found.compactMap { $0["id"]?.text }).count == 9)
        #expect(all.contains { $0["outcome"]?.text == "finished" && $0["through"] != nil })
        #expect(all.allSatisfy { $0["sink"]?.text == "server \(server.base)" })
        try expectPrivate()
        // Nothing is written again after an orderly end.
        _ = try Kymo.run(arguments(server) + ["--stdin"], input: .bytes([]))
        #expect(try written().count == all.count)
        #expect(try receipts("--sink", "another").isEmpty)
        #expect(try receipts("--since", "2200-01-01T00:00:00Z").isEmpty)
        let table = try Kymo.run(["receipts", folder.file("receipts")])
        #expect(table.lines.first?.lowercased().hasPrefix("at ") == true, "\(table.text)")
        #expect(table.text.contains("created") && !table.text.contains("finished"))
    }

    /// All lines of the files.
    private func written() throws -> [String] {
        Files.names(folder.file("receipts")).flatMap { name in
            Files.text(folder.file("receipts/\(name)")).split(separator: "\n").map(String.init)
        }
    }

    /// Only the owner may read who was measured.
    private func expectPrivate() throws {
        let names = Files.names(folder.file("receipts"))
        #expect(!names.isEmpty)
        for name in names {
            let mode = try ChildProcess("stat", ["-c", "%a", folder.file("receipts/\(name)")]).finish().text
            #expect(mode == "600\n", "\(name)")
        }
    }

    /// A program that writes so many of the lines that it reads, and goes when a second has brought no more, so that
    /// all count as taken.
    private static let reading = """
        import socket, sys
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        client.shutdown(socket.SHUT_WR)
        lines = client.makefile("rb")
        for _ in range(int(sys.argv[2])):
            sys.stdout.buffer.write(lines.readline())
        sys.stdout.flush()
        client.settimeout(1)
        try:
            while client.recv(65536):
                pass
        except OSError:
            pass
        """

    /// Without files: the same lines, with whose each is and what became of it.
    @Test func bySocketAlone() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let socket = folder.file("receipts.sock")
        let run = try Kymo.start(
            arguments(server, hasFiles: false) + ["--unix", folder.file("a.sock"), "--idle", "1s"],
            environment: ["KYMO_RECEIPT_SOCKET": socket])
        try Sending.send(lines: Self.lines, to: try run.addresses()[0])
        // Nine Observations and at least one end of a bundle.
        let read = try ChildProcess(SharedMaterial.python, ["-c", Self.reading, socket, "10"]).finish()
        try run.waitForError("the reader has gone")
        #expect(try run.terminate().end == .exit(0))
        let lines = try read.text.split(separator: "\n").map { try JSONTree(parsing: Array($0.utf8)) }
        let found = observations(lines)
        #expect(lines.count == 10 && (1...9).contains(found.count), "\(read.text)\(read.error)")
        for receipt in found {
            #expect(receipt["outcome"]?.text == "created" && receipt["status"] == .number("201"))
            #expect(receipt["device"]?.text?.hasPrefix("watch-") == true && receipt["type"]?.text == "heartRate")
            #expect(receipt["identifier"]?["value"]?.text?.contains("heartRate") == true)
        }
        #expect(!Files.exists(folder.file("receipts")))
    }

    /// The lines that files get, by a socket, to a program that comes late and one that comes after it.
    @Test func bySocket() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let socket = folder.file("receipts.sock")
        let run = try Kymo.start(
            arguments(server) + ["--unix", folder.file("a.sock"), "--idle", "1s"],
            environment: ["KYMO_RECEIPT_SOCKET": socket])
        let address = try run.addresses()[0]
        try Sending.send(lines: Self.lines, to: address)
        try Waiting.until("files of receipts") { try receipts().contains { $0["outcome"]?.text == "finished" } }
        try Waiting.until("all receipts") { observations(try receipts()).count == 9 }
        let count = try receipts().count
        let mode = try ChildProcess("stat", ["-c", "%a", socket]).finish().text
        #expect(mode == "600\n")
        let first = try ChildProcess(SharedMaterial.python, ["-c", Self.reading, socket, "\(count)"]).finish()
        // Files have them by the end, also what was under way.
        try run.waitForError("the reader has gone")
        #expect(try run.terminate().end == .exit(0))
        let lines = first.text.split(separator: "\n").map(String.init)
        #expect(lines == Array(try written().prefix(count)), "\(first.error)")
    }

    @Test func ofWhatIsRefused() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let done = try Kymo.run(
            arguments(server) + ["--stdin"], environment: ["KYMO_SERVER_IDENTITY": "lookup"],
            input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.error.contains("identityNotFound"), "\(done.error)")
        let found = observations(try receipts())
        #expect(found.count == 9 && found.allSatisfy { $0["outcome"]?.text == "refused" })
        for receipt in found {
            #expect(receipt["reason"]?.text == "identityNotFound" && receipt["detail"]?.text?.isEmpty == false)
            #expect(receipt["device"]?.text?.hasPrefix("watch-") == true && receipt["type"]?.text == "heartRate")
            #expect(receipt["status"] == nil && receipt["readings"] == .number("60"))
        }
    }

    /// The status of the server's answer, and what its OperationOutcome says.
    @Test func ofWhatAServerRefuses() throws {
        let server = try ChildProcess(
            SharedMaterial.python,
            ["-B", "\(SharedMaterial.package)/Tests/Servers/fhir_recorder.py", folder.file("bundles"), "watch-2"])
        try Waiting.until("the server's port") { server.output.last == 0x0A }
        let port = String(decoding: server.output.dropLast(), as: UTF8.self)
        let file = folder.write(
            "kymo.yaml",
            """
            output: {to: none, maxEntries: 100}
            server: {url: "http://127.0.0.1:\(port)/fhir", identity: create}
            receipts: \(folder.file("receipts"))
            """)
        let done = try Kymo.run(
            ["run", "--stdin", "--config", file, "--data", folder.file("data"), "--window", "1m"],
            input: .bytes(Readings.ndjson(Self.lines)))
        #expect(done.error.contains("undeliverable"), "\(done.error)")
        let found = observations(try receipts())
        let refused = found.filter { $0["device"]?.text == "watch-2" }
        #expect(found.count == 9 && refused.count == 3, "\(found)")
        for receipt in refused {
            #expect(receipt["outcome"]?.text == "refused" && receipt["reason"]?.text == "serverRefused")
            let detail = receipt["detail"]?.text ?? ""
            #expect(detail.contains("422") && detail.contains("invariant") && detail.contains("not here"), "\(detail)")
        }
        #expect(found.filter { $0["outcome"]?.text == "created" }.count == 6)
        let table = try Kymo.run(["receipts", folder.file("receipts")])
        #expect(table.text.contains("serverRefused"), "\(table.text)")
    }

    /// A window that comes again with a late reading.
    @Test func ofWhatIsAmended() async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let first = Array(Self.lines.prefix(60))
        _ = try Kymo.run(
            arguments(server) + ["--stdin"], input: .bytes(Readings.ndjson(first.filter { !$0.contains(":07Z") })))
        _ = try Kymo.run(arguments(server) + ["--stdin"], input: .bytes(Readings.ndjson(first)))
        let found = observations(try receipts())
        #expect(found.map { $0["outcome"]?.text }.last == "amended", "\(found)")
        #expect(found.last?["readings"] == .number("60"))
    }

    /// The process is killed when an answer is there and its receipt is not, and when the files have it and the store
    /// does not know: nothing is missing, and what is there twice has one id.
    @Test(arguments: ["before-receipt:1", "after-commit:2", "receipts-written:1"])
    func killed(point: String) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let arguments = arguments(server, entries: 4)
        let killed = try Kymo.run(
            arguments + ["--stdin"], environment: ["KYMO_CRASH_POINT": point],
            input: .bytes(Readings.ndjson(Self.lines)))
        #expect(killed.end == .signal(SIGKILL), "\(killed.error)")
        let again = try Kymo.run(arguments + ["--stdin"], input: .bytes(Readings.ndjson(Self.lines)))
        #expect(again.end == .exit(0), "\(again.error)")
        let found = observations(try receipts())
        let windows = found.map { "\($0["device"]?.text ?? "") \($0["start"]?.text ?? "")" }
        #expect(Set(windows).count == 9, "\(windows)")
        #expect(Set(found.compactMap { $0["id"]?.text }).count == found.count)
        if point.hasPrefix("receipts-written") {
            #expect(try written().count > receipts().count, "they are there twice")
        }
    }

    /// Makes the first calls of fsync for files of receipts fail.
    private static let failing = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int calls;
        int fsync(int fd) {
            char link[64], name[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t size = readlink(link, name, sizeof name - 1);
            name[size < 0 ? 0 : size] = 0;
            if (strstr(name, "/receipts/")
                && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) <= atoi(getenv("FAIL_SYNCS"))) {
                errno = EIO;
                return -1;
            }
            return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
        }
        """

    /// A disk that fails costs no receipt and no reading, whether while they are written or at the start.
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"), arguments: [1, 2, 3])
    func aDiskThatFails(times: Int) async throws {
        let server = try FHIRServer()
        try await server.waitUntilReady()
        let library = try PreloadedLibrary(Self.failing)
        let failing = library.environment(["FAIL_SYNCS": "\(times)"])
        let first = try Kymo.run(
            arguments(server, entries: 4) + ["--stdin"], environment: failing,
            input: .bytes(Readings.ndjson(Self.lines)))
        #expect(first.end == .exit(0) && first.error.contains("receipts: cannot make "), "\(first.error)")
        let second = try Kymo.run(arguments(server) + ["--stdin"], environment: failing, input: .bytes([]))
        #expect(second.end == .exit(0), "\(second.error)")
        _ = try Kymo.run(arguments(server) + ["--stdin"], input: .bytes([]))
        let found = observations(try receipts())
        #expect(Set(found.map { "\($0["device"]?.text ?? "") \($0["start"]?.text ?? "")" }).count == 9)
        #expect(Set(found.compactMap { $0["id"]?.text }).count == found.count)
    }
}
