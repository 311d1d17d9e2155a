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

    @Test func anAddressIsNumeric() {
        #expect(load("http:\n  admin: localhost:5790\n").diagnostics.first?.text.contains("names its host") == true)
        #expect(load("http:\n  admin: 5790\n").diagnostics.first?.text.contains("is not an address") == true)
    }
}
