import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A disk that cannot make data durable ends the process: whoever went on would promise what is not so.
@Suite(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
struct SyncFailureTests {
    /// Makes fsync and fdatasync of a store's files fail: all of them after some calls, or a single one, as the kernel
    /// tells of lost pages once only; or those of one file or directory.
    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        static int calls;
        static int fails(int fd) {
            char link[64], name[4096];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t size = readlink(link, name, sizeof name - 1);
            if (size < 0) return 0;
            name[size] = 0;
            const char *of = getenv("FAIL_SYNC_OF");
            if (of) {
                ssize_t length = strlen(of);
                int fail = size >= length && !strcmp(name + size - length, of);
                if (fail) dprintf(2, "test: a sync fails\\n");
                return fail;
            }
            if (!strstr(name, "kymo.sqlite")) return 0;
            const char *after = getenv("FAIL_SYNC_AFTER"), *only = getenv("FAIL_SYNC_ONLY");
            int call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
            int fail = after ? call > atoi(after) : only ? call == atoi(only) : 0;
            if (fail) dprintf(2, "test: a sync fails\\n");
            return fail;
        }
        int fsync(int fd) {
            if (fails(fd)) { errno = EIO; return -1; }
            return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
        }
        int fdatasync(int fd) {
            if (fails(fd)) { errno = EIO; return -1; }
            return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
        }
        """

    private static let message = "the disk failed to make data durable"

    @Test(arguments: [0, 4, 8, 15]) func whatMayNotBeDurableEndsTheProcess(calls: Int) throws {
        let library = try PreloadedLibrary(Self.library)
        let folder = TemporaryFolder()
        let lines = Readings.heartRates(200)
        let data = folder.file("data")
        // The store is there before the disk begins to fail.
        _ = try Kymo.run(["run", "--stdin", "--data", data])
        let run = try Kymo.start(
            ["run", "--unix", folder.file("k.sock"), "--data", data],
            environment: library.environment(["FAIL_SYNC_AFTER": "\(calls)"]))
        // It may end before it listens.
        try Waiting.until("a sign: \(run.errorText)") {
            run.errorText.contains("listening on") || run.errorText.contains(Self.message)
        }
        let client = try? AckClient(folder.file("k.sock"))
        var sent = 0
        while let client, client.isOpen, sent < lines.count {
            client.send(Readings.ndjson([lines[sent]]))
            sent += 1
            usleep(20_000)
        }
        let done = try run.finish()
        client?.receive()
        let acknowledged = client?.acknowledged ?? 0
        #expect(done.end == .exit(74) && done.error.contains(Self.message), "\(done.error)")
        #expect(acknowledged < 200 && (calls < 15 || acknowledged > 0), "\(acknowledged) acknowledged")
        // All that was acknowledged is there: whoever sends it again is told so.
        let again = try Kymo.run(
            ["run", "--stdin", "--data", data], input: .bytes(Readings.ndjson(Array(lines[..<acknowledged]))))
        #expect(again.end == .exit(0) && again.balance?.duplicate == acknowledged, "\(again.error)")
    }

    /// Each single call counts, at the start, while it runs and at the end.
    @Test func everyCallCounts() throws {
        let library = try PreloadedLibrary(Self.library)
        let run = StoredRun()
        try run.run([])
        var calls = 0
        while calls < 100 {
            let lines = Readings.ndjson((0..<10).map { Readings.heartRate(second: calls * 10 + $0) })
            let done = try Kymo.run(
                ["run", "--stdin", "--data", run.data, "--out", run.output],
                environment: library.environment(["FAIL_SYNC_ONLY": "\(calls + 1)"]), input: .bytes(lines))
            guard done.error.contains("test: a sync fails") else { break }
            calls += 1
            #expect(done.end == .exit(74) && done.error.contains(Self.message), "call \(calls): \(done.error)")
        }
        #expect(calls > 5 && calls < 100)
    }

    /// Which files there are, and that one must be repaired, is made durable, too.
    @Test(arguments: ["/data", "/kymo.damaged"]) func aRepairCounts(file: String) throws {
        let library = try PreloadedLibrary(Self.library)
        let run = StoredRun()
        try run.run(Readings.heartRates(5))
        Files.write([], to: "\(run.data)/kymo.sqlite")
        let done = try Kymo.run(
            ["run", "--stdin", "--data", run.data, "--out", run.output],
            environment: library.environment(["FAIL_SYNC_OF": file]), input: .bytes([]))
        #expect(done.error.contains("test: a sync fails"), "\(done.error)")
        #expect(done.end == .exit(74) && done.error.contains(Self.message), "\(done.error)")
        // What the lost store had sent is unknown, so nothing of that time is taken.
        let again = try run.run(Readings.heartRates(5))
        #expect(again.end == .exit(65) && again.error.contains("repaired the store"), "\(again.error)")
        #expect(again.error.contains("rejected: archiveEvicted 5"), "\(again.error)")
    }

    @Test func aNewStoreCounts() throws {
        let library = try PreloadedLibrary(Self.library)
        let data = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--data", data.file("data")],
            environment: library.environment(["FAIL_SYNC_OF": "/data"]), input: .bytes([]))
        #expect(done.end == .exit(74) && done.error.contains(Self.message), "\(done.error)")
    }
}
