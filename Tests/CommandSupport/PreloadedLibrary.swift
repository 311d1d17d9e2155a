/// A library of C functions that a program finds before those of the system, to make the system fail.
package struct PreloadedLibrary {
    private let folder = TemporaryFolder()
    private let object: String

    /// Whether one can be made.
    package static let hasCompiler = (try? ChildProcess("cc", ["--version"]).wait()) == .exit(0)

    /// Compiles `source`.
    package init(_ source: String) throws {
        object = folder.file("fail.so")
        let file = folder.write("fail.c", source)
        let end = try ChildProcess("cc", ["-shared", "-fPIC", "-o", object, file, "-ldl"]).wait()
        guard end == .exit(0) else { throw WaitError(description: "the library cannot be compiled") }
    }

    /// What has a program load it.
    package func environment(_ more: [String: String] = [:]) -> [String: String] {
        more.merging(["LD_PRELOAD": object]) { $1 }
    }
}
