import CommandSupport
import Foundation
import Testing

/// A block of YAML on a page of the documentation.
struct ConfigurationExample: Sendable, CustomTestStringConvertible {
    /// What the program calls a file like it.
    enum Kind: String, Sendable {
        case settings
        case peers
        case patients
        case rules
    }

    var page: String
    var line: Int
    var text: String

    var testDescription: String { "\(page):\(line)" }

    /// Lists of peers, patients and rules are files of their own.
    var kind: Kind {
        let list = text.firstMatch(of: #/(?m)^(peers|patients|rules):\n +- /#)
        return list.flatMap { Kind(rawValue: String($0.output.1)) } ?? .settings
    }

    /// All of them but the configuration of another program.
    static let all: [ConfigurationExample] = ExamplePages.pages.flatMap { page in
        page.blocks.filter { $0.fence?.hasPrefix("yaml") ?? false }.compactMap { block in
            let text = block.source.joined(separator: "\n") + "\n"
            let line = block.lines.first?.number ?? 0
            return text.contains("scrape_configs:")
                ? nil : ConfigurationExample(page: page.name, line: line, text: text)
        }
    }
}

/// Every configuration that the documentation shows is taken as it stands there.
@Suite struct ConfigurationExampleTests {
    private let folder = TemporaryFolder()

    @Test(arguments: ConfigurationExample.all)
    func isTaken(example: ConfigurationExample) throws {
        // The files that it names are there.
        let text = example.text.replacing("/etc/", with: folder.file("etc/"))
        for match in text.matches(of: /\/[^ \],]*?\/etc\/[A-Za-z0-9.\/-]+/) { try make(String(match.output)) }
        Files.write(Array("window: 2m\n".utf8), to: folder.file("base.yaml"))
        try make(folder.file("conf.d/more.yaml"))
        let file = folder.file("example.yaml")
        Files.write(Array(text.utf8), to: file)
        let done = try Kymo.run(
            ["config", "print", "--config", try configuration(of: example.kind, file)],
            environment: ["FHIR_HOST": "fhir.example", "CREDENTIALS_DIRECTORY": folder.path],
            directory: SharedMaterial.package)
        #expect(done.end == .exit(0) && !done.error.contains("warning"), "\(example.testDescription)\n\(done.error)")
    }

    @Test func areFound() { #expect(ConfigurationExample.all.count >= 20) }

    /// A configuration that uses `file`.
    private func configuration(of kind: ConfigurationExample.Kind, _ file: String) throws -> String {
        let text: String
        switch kind {
        case .settings: return file
        case .peers:
            if Files.text(file).contains("pskIdentity:") {
                try make(folder.file("etc/psk.keys"))
                text =
                    "sources:\n  - udp: 127.0.0.1:0\n    peers: \(file)\n    pskFile: \(folder.file("etc/psk.keys"))\n"
                break
            }
            if Files.text(file).contains("sealedKey:") {
                try make(folder.file("etc/sealed.keys"))
                text =
                    "sources:\n  - udp: 127.0.0.1:0\n    peers: \(file)\n"
                    + "    sealedKeyFile: \(folder.file("etc/sealed.keys"))\n"
                break
            }
            // With certificates, by which peers can be known.
            let keys = ["certificateFile", "certificateKeyFile", "clientCAFile"]
            text =
                "sources:\n  - http: 127.0.0.1:0\n    peers: \(file)\n"
                + keys.map { "    \($0): \(folder.file("etc/\($0).pem"))\n" }.joined()
        case .patients: text = "patients: \(file)\n"
        case .rules: text = "rules: \(file)\n"
        }
        Files.write(Array(text.utf8), to: folder.file("kymo.yaml"))
        return folder.file("kymo.yaml")
    }

    /// Writes what a file of this name holds.
    private func make(_ path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        Files.write(Array(try content(url.lastPathComponent).utf8), to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    private func content(_ name: String) throws -> String {
        switch name {
        case "patients.csv", "rules.yaml": return Files.text("\(SharedMaterial.package)/docs/\(name)")
        case "more.yaml": return "lateness: 1m\n"
        case "peers.yaml", "search-peers.yaml":
            try make(folder.file("etc/token"))
            return "peers:\n  - tokenFile: \(folder.file("etc/token"))\n    name: ward\n    devices: ['*']\n"
        case "psk.keys": return "pump-3-1:" + String(repeating: "0123456789abcdef", count: 4) + "\n"
        case "sealed.keys": return "0000a001:0123456789abcdef0123456789abcdef:tracker-7\n"
        // Secrets, each another.
        case "wearables": return "whsec_\(Data(name.utf8).base64EncodedString())AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
        default:
            let digits = name.utf8.map { String($0 & 0x0F, radix: 16) }.joined()
            return digits + String(repeating: "0123456789abcdef", count: 3) + "\n"
        }
    }
}
