import CommandSupport
import KymographTestKit
import Testing

/// A data directory that cannot be locked is not used.
@Suite struct DirectoryLockTests {
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func aFileSystemWithoutLocksIsNamed() throws {
        let library = try PreloadedLibrary(
            """
            #include <errno.h>
            int flock(int fd, int operation) { errno = ENOLCK; return -1; }
            """)
        let folder = TemporaryFolder()
        let done = try Kymo.run(
            ["run", "--stdin", "--data", folder.file("data")], environment: library.environment())
        #expect(done.end == .exit(73) && done.error.contains("cannot lock the data directory"), "\(done.error)")
        #expect(done.error.contains("No locks available") && done.error.contains("--data"), "\(done.error)")
    }
}
