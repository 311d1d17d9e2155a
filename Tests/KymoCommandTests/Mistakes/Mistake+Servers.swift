/// Addresses of FHIR servers that are none, or of another server.
extension Mistake {
    /// Asks what is at `path` of a port.
    private static func check(_ scheme: String, _ path: String = "/fhir") -> [String] {
        [
            "check", "--connect", "--server", "\(scheme)://127.0.0.1:{port}\(path)", "--server-identity", "create",
            "--data", "./data",
        ]
    }

    private static func answer(_ status: String, _ fields: String = "", _ body: String = "") -> Need {
        .answer(
            "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
    }

    static let servers: [Mistake] = [
        Mistake(
            "FHIR server without its path", check("http", ""), needs: [answer("404 Not Found")], 78,
            "gives no CapabilityStatement (status 404)", at: "http://127.0.0.1:{port}/metadata",
            "is it the base URL of a FHIR server?"),
        Mistake(
            "page in place of a FHIR server", check("http"),
            needs: [answer("200 OK", "Content-Type: text/html\r\n", "<html><body>Welcome</body></html>")], 78,
            "gives no CapabilityStatement (status 200, a page of HTML)", at: "http://127.0.0.1:{port}/fhir/metadata",
            "is it the base URL of a FHIR server?"),
        Mistake(
            "FHIR server that has moved", check("http"),
            needs: [answer("301 Moved Permanently", "Location: https://fhir.example/r4/metadata\r\n")], 78,
            "it leads to https://fhir.example/r4/metadata, and redirects are not followed",
            at: "http://127.0.0.1:{port}/fhir/metadata", "name the base URL of the FHIR server itself"),
        Mistake(
            "FHIR server without credentials", check("http"), needs: [answer("401 Unauthorized")], 77,
            "the server wants credentials (GET /metadata: 401), and none are set",
            at: "server http://127.0.0.1:{port}/fhir", "say which as authorization"),
        Mistake(
            "https for http", check("https"), needs: [answer("400 Bad Request")], 69,
            "no secure connection to https://127.0.0.1:{port}", at: "server https://127.0.0.1:{port}/fhir",
            "write http:// if it speaks no TLS at this port"),
        Mistake(
            "FHIR server that does not run", check("http"), needs: [.freePort], 69,
            "http://127.0.0.1:{port} cannot be reached", at: "server http://127.0.0.1:{port}/fhir",
            "see whether it runs, and whether this is its port"),
    ]
}
