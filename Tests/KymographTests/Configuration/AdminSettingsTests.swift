import Kymograph
import KymographTemplates
import Testing

/// `http.admin`.
@Suite struct AdminSettingsTests {
    @Test func itIsOffUnlessAsked() {
        #expect(load("window: 1m\n").settings.admin.address == nil)
        let named = load("http:\n  admin: 127.0.0.1:5790\n")
        #expect(
            named.diagnostics.isEmpty && named.settings.admin.address == NetworkAddress(host: "127.0.0.1", port: 5790))
        let off = load("http:\n  admin: 127.0.0.1:5790\n", environment: ["KYMO_HTTP_ADMIN": "none"])
        #expect(off.diagnostics.isEmpty && off.settings.admin.address == nil)
    }

    @Test func otherMachinesNeedAWord() {
        for address in ["0.0.0.0:5790", "\"[::]:5790\"", "10.0.0.5:5790"] {
            let refused = load("http:\n  admin: \(address)\n")
            #expect(refused.diagnostics.map(\.severity) == [.error])
            let text = refused.diagnostics.first?.text ?? ""
            #expect(text.contains("kymo.yaml:2:10: error: http.admin: other machines can reach"), "\(text)")
            #expect(text.contains("set http.insecure to true"), "\(text)")
            #expect(load("http:\n  admin: \(address)\n  insecure: true\n").diagnostics.isEmpty)
        }
        #expect(load("http:\n  admin: \"[::1]:5790\"\n").diagnostics.isEmpty)
    }

    @Test func tlsIsEncryptionEnough() {
        let secure = load("http:\n  admin: 0.0.0.0:5790\n  certificateFile: c.pem\n  certificateKeyFile: k.pem\n")
        #expect(secure.diagnostics.isEmpty && secure.settings.admin.tls.keyFile?.hasSuffix("k.pem") == true)
        let both = load("http:\n  admin: 0.0.0.0:5790\n  certificateFile: c.pem\n  insecure: true\n")
        #expect(both.diagnostics.map(\.severity) == [.warning])
        #expect(
            both.diagnostics.first?.text.contains("kymo.yaml:4:13: warning: http.insecure: it has no effect") == true)
        let nowhere = load("http:\n  certificateFile: c.pem\n")
        #expect(nowhere.diagnostics.map(\.severity) == [.warning])
        #expect(nowhere.diagnostics.first?.text.contains("http.admin is none; set http.admin") == true)
    }

    @Test func filesWithoutEffectAreErrors() {
        let key = load("http:\n  admin: 127.0.0.1:5790\n  certificateKeyFile: k.pem\n")
        let text = key.diagnostics.first?.text ?? ""
        #expect(key.diagnostics.map(\.severity) == [.error] && text.contains("kymo.yaml:3:23"), "\(text)")
        #expect(text.contains("without certificateFile there is no TLS"), "\(text)")
        let list = load("http:\n  admin: 127.0.0.1:5790\n  certificateFile: c.pem\n  clientCRLFile: l.pem\n")
        #expect(list.diagnostics.first?.text.contains("clientCRLFile has no effect without clientCAFile") == true)
    }

    @Test func anAddressIsNumeric() {
        #expect(load("http:\n  admin: localhost:5790\n").diagnostics.first?.text.contains("names its host") == true)
        #expect(load("http:\n  admin: 5790\n").diagnostics.first?.text.contains("is not an address") == true)
    }
}
