import Foundation
import Glibc

/// The real binary: the one that `KYMO_BINARY` names, as `make test` does with what is released, or else the one that the
/// package manager puts next to the test bundle.
package enum Kymo {
    package static let path = ProcessInfo.processInfo.environment["KYMO_BINARY"] ?? besideTheTests

    /// The one that the tests were built with.
    package static let besideTheTests: String = {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        // Where the package manager runs tests in another way, the bundle is an argument.
        let candidates = [bundle] + CommandLine.arguments
        let folders = candidates.compactMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
        return folders.map { "\($0)/kymo" }.first { Files.exists($0) } ?? "kymo"
    }()

    /// Where commands run that need no folder of their own: some make files where they are.
    private static let workplace = TemporaryFolder()

    /// What a finished command left.
    package struct Finished {
        package var end: ChildProcess.End
        package var output: [UInt8]
        package var error: String

        package var text: String { String(decoding: output, as: UTF8.self) }
        package var lines: [String] { text.split(separator: "\n").map(String.init) }
        package var balance: Balance? { Balance(error) }
    }

    /// Starts a command.
    package static func start(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: ChildProcess.Input = .null, output: ChildProcess.Output = .file
    ) throws -> ChildProcess {
        try ChildProcess(
            path, arguments, environment: environment, directory: directory ?? workplace.path, input: input,
            output: output)
    }

    /// Runs a command to its end.
    package static func run(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil,
        input: ChildProcess.Input = .null, output: ChildProcess.Output = .file
    ) throws -> Finished {
        try start(arguments, environment: environment, directory: directory, input: input, output: output).finish()
    }
}

extension ChildProcess {
    /// Waits for the end and reads what there is.
    package func finish(seconds: Double = 60) throws -> Kymo.Finished {
        let end = try wait(seconds: seconds)
        return Kymo.Finished(end: end, output: output, error: errorText)
    }

    /// Sends SIGTERM and waits for the end.
    package func terminate(seconds: Double = 60) throws -> Kymo.Finished {
        signal(SIGTERM)
        return try finish(seconds: seconds)
    }

    /// Waits until the pipeline listens to `count` sources; their addresses as it names them.
    package func addresses(_ count: Int = 1) throws -> [String] {
        var found: [String] = []
        try Waiting.until("\(count) sources; standard error has: \(errorText)") {
            // A line that is not complete yet is not counted.
            let lines = errorText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            found = lines.map(LogLine.message).compactMap { line in
                guard line.hasPrefix("kymo: listening on ") else { return nil }
                return line.dropFirst("kymo: listening on ".count).split(separator: ",").first.map(String.init)
            }
            return found.count >= count
        }
        return found
    }

    /// Waits until standard error has `text`.
    package func waitForError(_ text: String) throws {
        try Waiting.until("'\(text)' in: \(errorText)") { errorText.contains(text) }
    }
}
