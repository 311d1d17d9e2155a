import Kymograph
import KymographTemplates
import Testing

/// `console`.
@Suite struct ConsoleSettingsTests {
    private func texts(_ file: String) -> [String] { load(file).diagnostics.map(\.text) }

    @Test func itIsOffUnlessAsked() {
        #expect(!load("window: 1m\n").settings.console.isEnabled)
        let named = load("http:\n  admin: 127.0.0.1:5790\nconsole:\n  enabled: true\n  edit: true\n")
        #expect(named.diagnostics.isEmpty && named.settings.console.isEnabled && named.settings.console.edits)
        #expect(texts("console:\n  enabled: false\n  edit: false\n") == [])
    }

    @Test func itNeedsAListenerOfThisMachine() {
        let missing = texts("console:\n  enabled: true\n")
        #expect(
            missing.count == 1 && missing[0].contains("kymo.yaml:2:12: error: console.enabled: the console is served"))
        #expect(missing.first?.contains("set http.admin, such as 127.0.0.1:5790") == true)
        // Not even where metrics may be read.
        let open = texts("http:\n  admin: 0.0.0.0:5790\n  insecure: true\nconsole:\n  enabled: true\n")
        #expect(open.count == 1 && open[0].contains("kymo.yaml:5:12: error: console.enabled: other machines can reach"))
        #expect(open.first?.contains("ssh -L") == true)
        #expect(texts("http:\n  admin: \"[::1]:5790\"\nconsole:\n  enabled: true\n") == [])
    }

    /// By any other address each of its pages would be refused.
    @Test func itNeedsAnAddressThatItAnswersTo() {
        let other = texts("http:\n  admin: 127.0.0.2:5790\nconsole:\n  enabled: true\n")
        #expect(
            other.count == 1 && other[0].contains("console.enabled: the console answers to 127.0.0.1 and [::1] only"))
        #expect(other.first?.contains("set http.admin to 127.0.0.1:5790") == true)
        #expect(texts("http:\n  admin: 127.0.0.1:5790\nconsole:\n  enabled: true\n") == [])
    }

    @Test func byTLSItIsThereForOthers() {
        #expect(
            texts("http:\n  admin: 0.0.0.0:5790\n  certificateFile: c.pem\nconsole:\n  enabled: true\n") == [])
    }

    @Test func editingNeedsTheConsole() {
        let idle = texts("console:\n  edit: true\n")
        #expect(idle.count == 1 && idle[0].contains("kymo.yaml:2:9: warning: console.edit: it has no effect"))
    }
}
