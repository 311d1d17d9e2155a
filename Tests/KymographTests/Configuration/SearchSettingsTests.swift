import CommandSupport
import Glibc
import Kymograph
import KymographTemplates
import Testing

/// `search`.
@Suite struct SearchSettingsTests {
    private let folder = TemporaryFolder()

    /// What is said of `text`, in which PEERS is a list of one token.
    private func texts(_ text: String, proof: String = "tokenFile") -> [String] {
        folder.write("token", "a-token-of-a-client\n")
        _ = unsafe chmod(folder.file("token"), 0o600)
        let value = proof == "tokenFile" ? folder.file("token") : "1000"
        folder.write("peers.yaml", "peers:\n  - {name: emr, \(proof): \(value)}\n")
        return load(text.replacing("PEERS", with: folder.file("peers.yaml"))).diagnostics.map(\.text)
    }

    @Test func needsAnAddressOfThisMachine() {
        let good = "http:\n  admin: 127.0.0.1:5790\nsearch:\n  peers: PEERS\n"
        #expect(texts(good) == [])
        #expect(texts(good.replacing("127.0.0.1", with: "\"[::1]").replacing("5790", with: "5790\"")) == [])
        let missing = texts("search:\n  peers: PEERS\n")
        #expect(missing.count == 1 && missing[0].contains("kymo.yaml:2:10: error: search.peers: the search is served"))
        let open = texts("http:\n  admin: 0.0.0.0:5790\n  insecure: true\nsearch:\n  peers: PEERS\n")
        #expect(open.count == 1 && open[0].contains("error: search.peers: other machines can reach"), "\(open)")
    }

    @Test func needsTokens() {
        let text = "http:\n  admin: 127.0.0.1:5790\nsearch:\n  peers: PEERS\n"
        let found = texts(text, proof: "user")
        #expect(found.count == 1 && found[0].contains("known by something else than a token"), "\(found)")
        let absent = texts("http:\n  admin: 127.0.0.1:5790\nsearch:\n  peers: /nowhere/peers.yaml\n")
        #expect(absent.count == 1 && absent[0].contains("/nowhere/peers.yaml cannot be read"), "\(absent)")
    }

    /// The archive has what rules veto, and has it without what they patch.
    @Test func needsAbsenceOfRulesOfResources() {
        let text = "http:\n  admin: 127.0.0.1:5790\nsearch:\n  peers: PEERS\nrules: \(folder.file("rules.yaml"))\n"
        let harmless = "rules:\n  - {name: bench, then: drop, devices: [\"test-*\"]}\n"
        folder.write("rules.yaml", harmless)
        #expect(texts(text) == [])
        folder.write("rules.yaml", harmless + "resources:\n  - {name: trial, then: keep, devices: [\"trial-*\"]}\n")
        #expect(texts(text) == [], "the archive has what is kept as servers have it")
        folder.write("rules.yaml", harmless + "resources:\n  - {name: study, then: veto, devices: [\"study-*\"]}\n")
        let found = texts(text)
        #expect(found.count == 1 && found[0].contains("kymo.yaml:5:"), "\(found)")
        #expect(found.first?.contains("error: rules: the search would show what its rules of resources veto") ?? false)
        #expect(texts("rules: \(folder.file("rules.yaml"))\n") == [])
    }

    @Test func addresses() {
        let text = "http:\n  admin: 127.0.0.1:5790\nsearch:\n  peers: PEERS\n  url: "
        #expect(texts(text + "https://kymo.example/fhir/\n") == [])
        #expect(texts(text + "kymo.example\n").count == 1 && texts(text + "\"https://a b\"\n").count == 1)
        #expect(texts("search:\n  url: https://kymo.example/fhir\n").first?.contains("warning: search.url") ?? false)
    }
}
