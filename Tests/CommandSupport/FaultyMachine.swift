import Foundation
import Glibc

/// A machine whose clock and disk a test has go wrong while a program runs: a library that the program loads asks a
/// file, which both have in memory.
package struct FaultyMachine {
    private let library: PreloadedLibrary
    private let folder = TemporaryFolder()
    private let clock: String
    private let faults: String
    private let root: String

    /// The source of a clock that steps, which the soak has, too.
    private static let clockSource: String = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Soak/clock.c")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }()

    /// For programs whose files below `root` can fail.
    package init(root: String) throws {
        library = try PreloadedLibrary(Self.clockSource + Self.source)
        (clock, faults, self.root) = (folder.file("clock"), folder.file("faults"), root)
        heal()
    }

    /// What a program gets.
    package var environment: [String: String] {
        library.environment(["KYMO_SOAK_CLOCK": clock, "KYMO_FAULTS": faults, "KYMO_FAULTS_ROOT": root + "/"])
    }

    /// Has the wall clock be off by so much.
    package func step(seconds: Double) { Self.write([Int64(seconds * 1_000_000_000)], clock) }

    /// Has the disk be full, or have room.
    package func fill(_ isFull: Bool) { Self.write([isFull ? 1 : 0, 0], faults) }

    /// Has the next call fail that makes something durable.
    package func failNextSync() { Self.write([0, 1], faults) }

    /// Nothing is wrong any more.
    package func heal() {
        step(seconds: 0)
        fill(false)
    }

    private static func write(_ numbers: [Int64], _ path: String) {
        let bytes = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let file = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        let size = unsafe pwrite(file, bytes, bytes.count, 0)
        close(file)
        precondition(size == bytes.count, "cannot write \(path)")
    }

    private static let source = #"""

        #include <errno.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/stat.h>

        static volatile int64_t *faults;
        static char faulty[4096];

        __attribute__((constructor)) static void begin_faults(void) {
            const char *path = getenv("KYMO_FAULTS"), *root = getenv("KYMO_FAULTS_ROOT");
            int file = path && root ? open(path, O_RDWR | O_CLOEXEC) : -1;
            if (file < 0) return;
            snprintf(faulty, sizeof faulty, "%s", root);
            void *shared = mmap(NULL, 2 * sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            close(file);
            if (shared != MAP_FAILED) faults = shared;
        }

        static int is_faulty(int fd) {
            struct stat status;
            char link[64], path[4096];
            if (fstat(fd, &status) || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) return 0;
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t size = readlink(link, path, sizeof path - 1);
            if (size < 0) return 0;
            path[size] = 0;
            return !strncmp(path, faulty, strlen(faulty));
        }

        static int is_full(int fd) {
            if (!faults || !faults[0] || !is_faulty(fd)) return 0;
            errno = ENOSPC;
            return 1;
        }

        #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

        ssize_t write(int fd, const void *bytes, size_t count) {
            return is_full(fd) ? -1 : REAL(write)(fd, bytes, count);
        }

        ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
            return is_full(fd) ? -1 : REAL(pwrite)(fd, bytes, count, offset);
        }

        ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
            return is_full(fd) ? -1 : REAL(pwrite64)(fd, bytes, count, offset);
        }

        static int fails(int fd) {
            if (!faults || faults[1] <= 0 || !is_faulty(fd)) return 0;
            faults[1]--;
            errno = EIO;
            return 1;
        }

        int fsync(int fd) { return fails(fd) ? -1 : REAL(fsync)(fd); }
        int fdatasync(int fd) { return fails(fd) ? -1 : REAL(fdatasync)(fd); }
        """#
}
