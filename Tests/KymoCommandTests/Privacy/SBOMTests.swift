import CommandSupport
import Foundation
import KymographTestKit
import Testing

/// `packaging/sbom.py`: what a binary consists of, in two forms that tools read.
@Suite struct SBOMTests {
    /// Whether Python has the schema of one form and the rules of the other.
    private static let canCheck =
        (try? ChildProcess(SharedMaterial.python, ["-c", "import cyclonedx, spdx_tools"]).wait()) == .exit(0)

    /// Makes the SBOM of the binary that is tested.
    private func make(_ name: String, in folder: TemporaryFolder) throws -> String {
        let done = try run(Kymo.besideTheTests, folder.file(name))
        #expect(done.end == .exit(0), "\(done.error)")
        return folder.file(name)
    }

    /// The folder of the build, which may be linked from there.
    private static let scratch: String = {
        let build = Kymo.besideTheTests.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
        return ["\(build)/..", build].first { Files.exists("\($0)/workspace-state.json") } ?? build
    }()

    private func run(_ program: String, _ output: String, _ more: [String] = []) throws -> Kymo.Finished {
        let script = "\(SharedMaterial.package)/packaging/sbom.py"
        return try ChildProcess(
            "/usr/bin/python3", ["-B", script, program, output, "--build", Self.scratch] + more,
            environment: ["SOURCE_DATE_EPOCH": "1772366400"]
        ).finish()
    }

    @Test(.enabled(if: canCheck, "Python has no cyclonedx and spdx_tools: make .venv/ready"))
    func isValidAndTheSameTwice() throws {
        let folder = TemporaryFolder()
        let (first, second) = (try make("first", in: folder), try make("second", in: folder))
        for name in ["kymo.cdx.json", "kymo.spdx.json"] {
            #expect(Files.read("\(first)/\(name)") == Files.read("\(second)/\(name)"))
        }
        let script = "\(SharedMaterial.package)/Tests/Validation/check_sbom.py"
        let checked = try ChildProcess(SharedMaterial.python, ["-B", script, first]).finish()
        #expect(checked.end == .exit(0), "\(checked.error)")
    }

    /// Without its map nothing is known of the archives in a static binary.
    @Test func nothingIsWrittenOfWhatIsNotKnown() throws {
        let folder = TemporaryFolder()
        let cases = [
            (Kymo.besideTheTests, ["--map", folder.file("none.map")], "none.map cannot be read"),
            ("/bin/true", [], "nothing of the Swift runtime is found"),
            ("/bin/true", ["--map", folder.write("empty.map", "\n")], "nothing of the Swift runtime is found"),
            (folder.file("none"), [], "there is no"),
        ]
        for (program, more, message) in cases {
            let done = try run(program, folder.file("sbom"), more)
            #expect(done.end == .exit(1) && done.error.contains(message), "\(done.end): \(done.error)")
            #expect(!done.error.contains("Traceback") && !Files.exists(folder.file("sbom")), "\(done.error)")
        }
    }

    /// A build that lacks what Package.swift needs would give an SBOM without it.
    @Test func packagesThatAreMissingAreNamed() throws {
        let folder = TemporaryFolder()
        let whole = try JSONSerialization.jsonObject(with: Data(Files.read("\(Self.scratch)/workspace-state.json")))
        let object = try #require((whole as? [String: Any])?["object"] as? [String: Any])
        let all = try #require(object["dependencies"] as? [[String: Any]])
        let checkouts = folder.file("checkouts")
        try FileManager.default.createSymbolicLink(
            atPath: checkouts, withDestinationPath: "\(Self.scratch)/checkouts")
        for missing in [["yams"], ["grdb.swift", "yams"]] {
            let rest = all.filter { one in
                let identity = (one["packageRef"] as? [String: Any])?["identity"] as? String
                return !missing.contains(identity ?? "")
            }
            #expect(rest.count == all.count - missing.count)
            let state = try JSONSerialization.data(withJSONObject: ["object": ["dependencies": rest]])
            Files.write(Array(state), to: folder.file("workspace-state.json"))
            let done = try run(Kymo.besideTheTests, folder.file("sbom"), ["--build", folder.path])
            #expect(done.end == .exit(1), "\(done.error)")
            #expect(
                done.error.contains("lacks \(missing.joined(separator: ", ")): build first"), "\(done.error)")
            #expect(!Files.exists(folder.file("sbom")))
        }
    }

    /// Where the copyright file as a whole says something else.
    @Test(arguments: [
        ("libidn2-0", "LGPL-3.0-or-later OR GPL-2.0-or-later"), ("libkeyutils1", "LGPL-2.0-or-later"),
        ("libc6", "LGPL-2.1-or-later"),
    ])
    func licencesAreThoseOfTheLibrary(package: String, licence: String) throws {
        let folder = TemporaryFolder()
        let bom = try JSONTree(parsing: Files.read("\(try make("sbom", in: folder))/kymo.cdx.json"))
        let part = try #require((bom["components"]?.elements ?? []).first { $0["name"]?.text == package })
        #expect(part["licenses"]?.elements?.first?["expression"]?.text == licence)
        let system = Files.text("/etc/os-release").firstMatch(of: /(?m)^ID="?([a-z]+)/).map { String($0.1) }
        #expect(part["purl"]?.text?.hasPrefix("pkg:deb/\(system ?? "none")/\(package)@") == true)
    }

    /// What the process loads is what the SBOM has, and what the package manager was told to take.
    @Test func namesWhatIsThere() throws {
        let folder = TemporaryFolder()
        let bom = try JSONTree(parsing: Files.read("\(try make("sbom", in: folder))/kymo.cdx.json"))
        let parts = (bom["components"]?.elements ?? []).reduce(into: [String: JSONTree]()) {
            $0[$1["name"]?.text ?? ""] = $1
        }
        let loaded =
            try JSONTree(parsing: try Kymo.run(["version", "--format", "json"]).output)["libraries"]?.elements ?? []
        let packages = [
            "glibc": "libc6", "libcurl": "libcurl4", "libpq": "libpq5", "librdkafka": "librdkafka1",
            "openssl": "libssl3",
            "sqlite": "libsqlite3-0", "zlib": "zlib1g", "zstd": "libzstd1",
        ]
        let optional = ["libcurl", "libpq", "librdkafka"]
        #expect(loaded.count == packages.count)
        for library in loaded {
            let (name, version) = (library["name"]?.text ?? "", library["version"]?.text ?? "none")
            let package = parts[packages[name] ?? ""]
            #expect(package?["version"]?.text?.contains(version) == true, "\(name) \(version)")
            #expect(package?["scope"]?.text == (optional.contains(name) ? "optional" : "required"))
        }
        // Those of measurements have an exact version.
        let manifest = Files.text("\(SharedMaterial.package)/Package.swift")
        let needed = manifest.matches(of: /\.package\(url: "[^"]*\/([^"\/]+)", from:/).map { String($0.output.1) }
        #expect(needed.count >= 4)
        for name in needed { #expect(parts[name]?["purl"]?.text?.hasPrefix("pkg:swift/") == true, "\(name)") }
        #expect(parts.values.allSatisfy { $0["licenses"] != nil })
    }
}
