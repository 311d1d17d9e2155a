import CommandSupport
import Testing
import TrialSupport

/// The C part alone, which a program in C tries: pages, logs and journals that SQLite reads and writes, and 10,000 bits
/// that flip in each of pages and log.
@Suite struct SealedPageTests {
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func pagesAreSealedAndFlipsFound() throws {
        let sources = SharedMaterial.package + "/Sources"
        let folder = TemporaryFolder()
        let program = folder.file("pages")
        let modules = ["CSeal", "CSQLiteChecksums", "CKymographLinux"]
        let files = ["CSeal", "CSQLiteChecksums"].flatMap { module in
            Files.names("\(sources)/\(module)").filter { $0.hasSuffix(".c") }.map { "\(sources)/\(module)/\($0)" }
        }
        let compile =
            ["-O1", "-g", "-fsanitize=address,undefined", "-o", program] + modules.map { "-I\(sources)/\($0)/include" }
            + files + [
                "\(sources)/CKymographLinux/crc32c.c",
                SharedMaterial.package + "/Tests/KymoCommandTests/Seal/pages.c", "-lsqlite3", "-lcrypto", "-lpthread",
            ]
        let compiler = try ChildProcess("cc", compile).finish(seconds: 120)
        try #require(compiler.end == .exit(0), "\(compiler.error)")
        let run = TemporaryFolder()
        let done = try ChildProcess(program, [run.path, "\(Trials.seed(7))"]).finish(seconds: 300)
        #expect(done.end == .exit(0) && done.text == "right\n", "\(done.error)")
    }
}
