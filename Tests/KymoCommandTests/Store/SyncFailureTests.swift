import CommandSupport
import Glibc
import KymographTestKit
import Testing

/// A disk that cannot make data durable ends the process: whoever went on would promise what is not so.
@Suite struct SyncFailureTests {
    /// Makes fsync and fdatasync of a store's files fail after some calls; for LD_PRELOAD.
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
            const char *after = getenv("FAIL_SYNC_AFTER");
            if (!strstr(name, "kymo.sqlite") || !after) return 0;
            return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) > atoi(after);
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

    @Test(.enabled(if: SyncFailureTests.hasCompiler, "needs a C compiler called cc"))
    func whatMayNotBeDurableEndsTheProcess() throws {
        let folder = TemporaryFolder()
        let source = folder.write("fail.c", SyncFailureTests.library)
        let object = folder.file("fail.so")
        try #require(try ChildProcess("cc", ["-shared", "-fPIC", "-o", object, source, "-ldl"]).wait() == .exit(0))
        let lines = Readings.heartRates(200)
        for calls in [0, 4, 8, 15] {
            let data = folder.file("data\(calls)")
            // The store is there before the disk begins to fail.
            _ = try Kymo.run(["run", "--stdin", "--data", data], input: .bytes(Readings.ndjson([])))
            let run = try Kymo.start(
                ["run", "--unix", folder.file("k\(calls).sock"), "--data", data],
                environment: ["LD_PRELOAD": object, "FAIL_SYNC_AFTER": "\(calls)"])
            let client = try? {
                _ = try run.addresses(); return try AckClient(folder.file("k\(calls).sock"))
            }()
            var sent = 0
            while let client, client.isOpen, sent < lines.count {
                client.send(Readings.ndjson(Array(lines[sent..<(sent + 1)])))
                sent += 1
                client.receive()
                usleep(20_000)
            }
            let acknowledged = client?.acknowledged ?? 0
            let done = try run.finish()
            #expect(done.end == .exit(74), "\(calls): \(done.error)")
            #expect(done.error.contains("the disk failed to make data durable"), "\(calls): \(done.error)")
            #expect(acknowledged < 200)
            // What was acknowledged is there.
            let again = try Kymo.run(["run", "--stdin", "--data", data])
            #expect(again.end == .exit(0), "\(again.error)")
            if acknowledged > 0 {
                var reader = BundleReader()
                try reader.read(ndjson: again.output)
                #expect(reader.observations.count > 0, "\(calls): \(acknowledged) acknowledged; \(again.error)")
            }
        }
    }

    static let hasCompiler = (try? ChildProcess("cc", ["--version"]).wait()) == .exit(0)
}
