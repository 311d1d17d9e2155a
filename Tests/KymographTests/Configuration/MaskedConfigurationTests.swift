@testable import Kymograph
import Testing

/// What a configuration shows to strangers.
@Suite struct MaskedConfigurationTests {
    private func text(_ yaml: String) -> String { MaskedConfiguration.text(Array(yaml.utf8)) }

    @Test func formsStayAndRemarksGo() {
        #expect(
            text("window: 5m # remark\nsources:\n  - udp: 127.0.0.1:5757\n    mappings: [a, \"b\\\"c\"]\nidle:\n")
                == """
                window: "5m"
                sources:
                  -
                    udp: "127.0.0.1:5757"
                    mappings:
                      - "a"
                      - "b\\"c"
                idle: null

                """)
    }

    /// A key that kymo does not know may be a secret in a wrong place: not even its name is shown.
    @Test(arguments: [
        ("password: wrong-81", "***: \"***\"\n"),
        ("server: {pasword: {window: wrong-81}}", "server:\n  ***:\n    ***: \"***\"\n"),
        ("sources: [{unix: a, defaultPatient: p-1}]", "sources:\n  -\n    unix: \"a\"\n    defaultPatient: \"***\"\n"),
        ("server: {user: someone}", "server:\n  user: \"***\"\n"),
        ("a: [", "# the file is empty, or no YAML\n"),
    ])
    func valuesOfUnknownAndPersonalKeysAreMasked(_ yaml: String, _ shown: String) {
        #expect(text(yaml) == shown)
    }

    @Test(arguments: [
        ("see https://a:b@host/p and http://c@d", "see https://***@host/p and http://***@d"),
        ("https://a:b@c@host/ 'http://d@e'", "https://***@host/ 'http://***@e'"),
        ("https://host/p?mail=a@b", "https://host/p?mail=a@b"), ("no address @ all", "no address @ all"),
    ])
    func usersOfAddressesAreMasked(_ text: String, _ shown: String) {
        #expect(MaskedText.masking(text) == shown)
    }
}
