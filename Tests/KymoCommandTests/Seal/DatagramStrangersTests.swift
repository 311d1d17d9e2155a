import CommandSupport
import Testing
import TrialSupport

/// The C part of DTLS alone, under sanitizers: what strangers send in a client's name opens no association, reads
/// nothing, and ends nothing. `make fuzz TARGETS=dtls` looks further.
@Suite struct DatagramStrangersTests {
    @Test(.enabled(if: PreloadedLibrary.hasCompiler, "needs a C compiler called cc"))
    func recordsThatAreMadeUp() throws {
        let package = SharedMaterial.package
        let folder = TemporaryFolder()
        let program = folder.file("strangers")
        let modules = ["CDatagramTLS", "CSeal", "CKymographLinux"]
        let files = ["CDatagramTLS", "CSeal"].flatMap { module in
            let path = "\(package)/Sources/\(module)"
            return Files.names(path).filter { $0.hasSuffix(".c") }.map { "\(path)/\($0)" }
        }
        let own = [
            "Tests/Fuzzing/strangers.c", "Tests/Fuzzing/CFuzzer/dtls.c", "Tests/CTestDTLS/client.c",
            "Sources/CKymographLinux/network.c",
        ]
        let folders =
            modules.map { "-I\(package)/Sources/\($0)/include" }
            + ["-I\(package)/Tests/CTestDTLS/include", "-I\(package)/Tests/Fuzzing/CFuzzer/include"]
        // Which pointers may be null is said in clang's words.
        let words = ["-D_Nonnull=", "-D_Nullable="]
        let compile =
            ["-O1", "-g", "-fsanitize=address,undefined", "-o", program] + words + folders + files
            + own.map { "\(package)/\($0)" } + ["-lssl", "-lcrypto", "-lpthread"]
        let compiler = try ChildProcess("cc", compile).finish(seconds: 120)
        try #require(compiler.end == .exit(0), "\(compiler.error)")
        let inputs = Trials.isTorture ? "300000" : "900"
        let done = try ChildProcess(program, ["\(Trials.seed(9) % 1_000_000)", inputs]).finish(seconds: 600)
        #expect(done.end == .exit(0) && done.text == "right\n", "\(done.text) \(done.error)")
    }
}
