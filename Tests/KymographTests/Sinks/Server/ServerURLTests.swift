import Kymograph
import Testing

@Suite struct ServerURLTests {
    @Test(arguments: [
        ("https://fhir.example/r4", "fhir.example", "https://fhir.example"),
        ("HTTP://FHIR.Example:8080", "fhir.example", "http://fhir.example:8080"),
        ("http://[::1]:80/x?a=%20b", "::1", "http://[::1]:80"), ("https://a-b_c.d", "a-b_c.d", "https://a-b_c.d"),
        ("http://127.0.0.1?x=a@b", "127.0.0.1", "http://127.0.0.1"),
    ]) func readsURLs(_ text: String, _ host: String, _ origin: String) throws {
        let url = try ServerURL(text)
        #expect(url.text == text && url.host == host && url.origin == origin)
        #expect(url.isEncrypted == origin.hasPrefix("https"))
    }

    @Test(arguments: [
        "", "fhir.example", "ftp://fhir.example", "https://", "https:///path", "https://a:b@c", "https://a@c",
        "http://a:",
        "http://a:99999", "http://a:0", "http://a:x", "http://[::1", "http://[]", "http://a b", "http://a#b",
        "http://a\\b",
        "http://ä.example", "http://a\n", "http://a%41", "http://a..b:80:80",
    ]) func refusesOthers(_ text: String) {
        #expect(throws: ServerURL.Fault.self) { try ServerURL(text) }
    }

    @Test func knowsWhatStaysHere() throws {
        for text in ["http://localhost:1", "http://127.0.0.1", "http://127.9.8.7/", "http://[::1]/"] {
            #expect(try ServerURL(text).isLoopback, "\(text)")
        }
        for text in [
            "http://127.1", "http://127.0.0.1.example", "http://127.0.0.256", "http://localhost.example",
            "http://[::2]",
        ] {
            #expect(try !ServerURL(text).isLoopback, "\(text)")
        }
    }

    @Test func joinsPaths() throws {
        for text in ["https://a/r4", "https://a/r4/", "https://a/r4//"] {
            #expect(try ServerURL(text).appending("/metadata") == "https://a/r4/metadata")
        }
    }
}
