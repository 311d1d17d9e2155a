import CommandSupport
import Foundation

/// All examples of the help texts, of README.md and of the pages in `docs`, without its folders.
enum ExamplePages {
    private struct Dump: Decodable {
        var command: CommandHelp
    }

    static let help: CommandHelp? = {
        guard let done = try? Kymo.run(["--experimental-dump-help"]) else { return nil }
        return try? JSONDecoder().decode(Dump.self, from: Data(done.output)).command
    }()

    /// Without the tutorials in a folder of `docs`, whose commands need each other: Tutorials/ runs those.
    static let pages: [Page] = {
        let names = Files.names("\(SharedMaterial.package)/docs").filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
        return (["README.md"] + names).map { Page($0, Files.text("\(SharedMaterial.package)/\($0)")) }
    }()

    static let all: [Example] = (help?.examples() ?? []) + pages.flatMap(\.examples)

    /// Those that are run.
    static let run: [Example] = all.filter { example in
        !ExamplesNotRun.all.contains { example.text.hasPrefix($0.begins) }
    }

    /// Code lines of pages that call the program, whether they were found to be an example or not.
    static let lines: [(page: String, text: String)] = pages.flatMap { page in
        page.blocks.flatMap(\.lines).compactMap { line in
            line.text.contains(/(^|[ \/])kymo (--[a-z]|[a-z-]+ |[a-z-]+$)/) ? (page.name, line.text) : nil
        }
    }
}

/// The examples that cannot run in a test.
enum ExamplesNotRun {
    /// How an example begins, and why it is not run.
    static let all: [(begins: String, reason: String)] = [
        ("/usr/bin/kymo check --reload", "needs an instance that runs; EnvironmentCheckTests ask one"),
        ("make ", "builds the program, and runs this test"),
        ("sudo ", "changes the system"),
        ("python3 -m venv ~/kymo-bridge", "the next command needs the network; Tests/Bridges runs the bridges"),
        ("~/kymo-bridge/bin/", "needs the network, or Bluetooth hardware; Tests/Bridges runs the bridges"),
        ("python3 bridges/serial_bridge.py", "runs for as long as a gateway sends; Tests/Bridges runs it"),
        ("python3 bridges/kymo_seal.py", "needs a source that has the key; Tests/Bridges runs it"),
        ("python3 Tests/Simulation/simulate.py", "needs a compiler for C; Tests/Simulation runs it"),
        ("echo 'DEVICES=", "changes the system"),
        ("podman ", "needs an image and a container engine; packaging/test.sh builds the image and runs it"),
        ("KYMO_FUZZ_FOLDER=", "needs the programs of 'make fuzz'"),
        ("packaging/manual.py ", "needs the release binary; packaging/test.sh checks the manual pages"),
    ]
}
