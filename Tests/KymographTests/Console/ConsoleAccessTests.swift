import Testing

@testable import Kymograph

/// Which requests the console answers.
@Suite struct ConsoleAccessTests {
    private func access(_ scheme: String = "http", hosts: [String] = []) -> ConsoleAccess {
        ConsoleAccess(sessions: ConsoleSessions(), scheme: scheme) { hosts }
    }

    private func status(
        _ fields: [(String, String)], method: String = "GET", isAPI: Bool = false, of access: ConsoleAccess? = nil
    ) -> Int? {
        var request = ReceivedRequest(method: method, path: "/console/", minorVersion: 1)
        request.fields = fields.map { .init(name: $0.0, value: $0.1) }
        do throws(ConsoleRefusal) {
            try (access ?? self.access()).check(request, isAPI: isAPI)
            return nil
        } catch {
            return error.status
        }
    }

    @Test(arguments: ["127.0.0.1", "127.0.0.1:5790", "localhost:1", "LocalHost", "[::1]", "[::1]:65535"])
    func ownHosts(host: String) { #expect(status([("host", host)]) == nil) }

    @Test(arguments: [
        "", "example.org", "127.0.0.1.example.org", "localhost.example.org:80", "127.0.0.1:", "127.0.0.1:8x", "::1",
        "[::1", "[::1]x", "127.0.0.2", "0.0.0.0", "localhost:80:80",
    ])
    func otherHosts(host: String) { #expect(status([("host", host)]) == 421, "\(host)") }

    @Test func changesComeFromItsOwnPages() {
        let host = ("host", "127.0.0.1:5790")
        let own = [host, ("origin", "http://127.0.0.1:5790"), ("sec-fetch-site", "same-origin")]
        #expect(status([host, ("origin", "http://127.0.0.1:5790")], method: "POST") == nil)
        #expect(status(own, method: "POST") == nil)
        for fields in [
            [], [("origin", "null")], [("origin", "http://127.0.0.1:5791")], [("origin", "https://127.0.0.1:5790")],
            [("origin", "http://127.0.0.1:5790"), ("origin", "http://127.0.0.1:5790")],
            [("origin", "http://127.0.0.1:5790"), ("sec-fetch-site", "same-site")],
        ] {
            for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
                #expect(status([host] + fields, method: method) == 403, "\(method) \(fields)")
            }
        }
    }

    /// With TLS it answers to the names of its certificate, whatever machine asks.
    @Test func hostsOfTheCertificate() {
        let secure = access("https", hosts: ["Kymo.Example", "*.ward.example", "*.org", "192.0.2.7", "2001:db8::7"])
        for host in [
            "kymo.example", "KYMO.example:5790", "icu.ward.example", "192.0.2.7:443", "[2001:db8::7]:1", "127.0.0.1:1",
        ] {
            #expect(status([("host", host)], of: secure) == nil, "\(host)")
        }
        for host in [
            "other.example", "ward.example", ".ward.example", "a.icu.ward.example", "kymo.example.org", "example.org",
            "192.0.2.8", "2001:db8::7", "*.org", "kymo.example.", "xkymo.example",
        ] {
            #expect(status([("host", host)], of: secure) == 421, "\(host)")
        }
    }

    @Test func byTLSTheOriginAndTheCookieAreSecure() {
        let secure = access("https", hosts: ["kymo.example"])
        let host = ("host", "kymo.example:5790")
        #expect(status([host, ("origin", "https://kymo.example:5790")], method: "POST", of: secure) == nil)
        #expect(status([host, ("origin", "http://kymo.example:5790")], method: "POST", of: secure) == 403)
        #expect(secure.setCookie("ABC").value.hasSuffix("; Secure"))
        #expect(!access().setCookie("ABC").value.contains("Secure"))
    }

    /// A page on another port of this machine is of the same site, and its requests come with the cookie.
    @Test func theAPIAnswersToNoOtherPage() {
        let host = ("host", "127.0.0.1:5790")
        for site in ["same-site", "cross-site", "other"] {
            #expect(status([host, ("sec-fetch-site", site)], isAPI: true) == 403, "\(site)")
            #expect(status([host, ("sec-fetch-site", site)]) == nil, "a link leads to a page: \(site)")
        }
        for site in ["same-origin", "none"] {
            #expect(status([host, ("sec-fetch-site", site)], isAPI: true) == nil, "\(site)")
        }
        #expect(status([host], isAPI: true) == nil)
    }

    @Test func theCookieIsFoundAmongOthersAndThoseOfOtherInstances() throws {
        let (mine, other) = (access(), access())
        #expect(mine.cookie != other.cookie)
        #expect(mine.setCookie("ABC").value.hasPrefix("\(mine.cookie)=ABC; "))
        var request = ReceivedRequest(method: "GET", path: "/console/", minorVersion: 1)
        request.fields = [
            .init(name: "cookie", value: "\(other.cookie)=X; a=b; \(mine.cookie)=ABC; c=\(mine.cookie)=Y")
        ]
        #expect(mine.secret(request) == "ABC" && other.secret(request) == "X")
        request.fields = [.init(name: "cookie", value: "x\(mine.cookie)=ABC; kymo_console=ABC")]
        #expect(mine.secret(request) == nil)
    }

    @Test func textsOfURLs() {
        #expect(PercentText.pairs("a=b%20c&d&e=%C3%A9+f&g=%zz%4") == ["a": "b c", "d": "", "e": "é f", "g": "%zz%4"])
        #expect(PercentText.pairs("") == [:])
        // A sign is no digit.
        #expect(PercentText.pairs("a=%+1&b=%-0") == ["a": "% 1", "b": "%-0"])
        // An accent behind a separator is the next text's.
        #expect(PercentText.pairs("a=1&\u{301}b=+\u{301}") == ["a": "1", "\u{301}b": " \u{301}"])
    }

    @Test func pathsOfRoutes() {
        let route = ConsoleRoute.get("letters/:number/reveal") { (_, _) in HTTPReply(200, "") }
        #expect(route.parameters("letters/17/reveal") == ["number": "17"])
        #expect(route.parameters("letters/17") == nil && route.parameters("letters/17/other") == nil)
        #expect(route.parameters("letters/..%2F17/reveal") == ["number": "../17"])
    }
}
