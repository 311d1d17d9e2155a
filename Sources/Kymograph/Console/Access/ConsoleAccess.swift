/// Whether a request comes from the console's own pages, in a browser that has logged in.
struct ConsoleAccess: Sendable {
    let sessions: ConsoleSessions
    /// `https` or `http`.
    let scheme: String
    /// The hosts that the listener's certificate is for; none without TLS.
    let certificateHosts: @Sendable () -> [String]
    /// The cookie that holds the secret of a session. Cookies know no ports: with one name for all, two instances
    /// behind tunnels to one address would overwrite each other's.
    let cookie = "kymo_console_\(ConsoleSecret.name())"

    /// Names of this machine, which no other can have: a page of another site reaches the listener under that site's
    /// name only (DNS rebinding). Ports differ behind a tunnel.
    private static let hosts = ["127.0.0.1", "localhost", "[::1]"]

    /// What every reply of the console says to browsers: nothing from elsewhere, nothing inline, no frame around it.
    static let fields: [ReceivedRequest.Field] = [
        .init(
            name: "Content-Security-Policy",
            value: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
        .init(name: "Referrer-Policy", value: "no-referrer"),
        .init(name: "X-Frame-Options", value: "DENY"),
        .init(name: "Cross-Origin-Opener-Policy", value: "same-origin"),
        .init(name: "Cross-Origin-Resource-Policy", value: "same-origin"),
    ]

    /// Refuses what names another host, and what another origin asks for: changes, and anything of the API.
    func check(_ request: ReceivedRequest, isAPI: Bool) throws(ConsoleRefusal) {
        let host = request.values(of: "host").first ?? ""
        let named = certificateHosts()
        guard let name = Self.name(host), Self.hosts.contains(name) || named.contains(where: { Self.is(name, $0) })
        else {
            let names = (Self.hosts + named).joined(separator: ", ")
            throw ConsoleRefusal(421, "wrongHost", "the console answers to \(names) only: use such an address")
        }
        // Browsers say it of every request that may have come from elsewhere.
        let site = request.values(of: "sec-fetch-site").first ?? "same-origin"
        let isReading = ["GET", "HEAD"].contains(request.method)
        let origins = request.values(of: "origin")
        guard isReading || origins == ["\(scheme)://\(host)"] && site == "same-origin" else {
            throw ConsoleRefusal(403, "wrongOrigin", "changes come from the pages of the console only")
        }
        // A page on another port of this machine is of the same site: its requests come with the cookie.
        guard !isAPI || ["same-origin", "none"].contains(site) else {
            throw ConsoleRefusal(403, "wrongOrigin", "the API answers to the pages of the console only")
        }
    }

    /// The host of a Host field without its port, in lower case.
    private static func name(_ host: String) -> String? {
        let host = host.lowercased()
        guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return host }
        let port = host[host.index(after: colon)...]
        return !port.isEmpty && port.utf8.allSatisfy { (0x30...0x39).contains($0) } ? String(host[..<colon]) : nil
    }

    /// Whether a certificate for `host` is one for `name`, which is in lower case (RFC 6125, section 6.4): `*` stands
    /// for the first label.
    static func `is`(_ name: String, _ host: String) -> Bool {
        let host = host.lowercased()
        guard host.hasPrefix("*.") else { return host == name || "[\(host)]" == name }
        guard let dot = name.firstIndex(of: "."), dot != name.startIndex else { return false }
        // A wildcard below a single label would be for all that is sold under a top domain.
        return host.dropFirst() == name[dot...] && host.dropFirst(2).contains(".")
    }

    /// The secret that the browser has sent.
    func secret(_ request: ReceivedRequest) -> String? {
        for field in request.values(of: "cookie") {
            for pair in field.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix("\(cookie)=") { return String(pair.dropFirst(cookie.count + 1)) }
            }
        }
        return nil
    }

    /// The session of a request, which may do at least what `role` may.
    func session(_ request: ReceivedRequest, role: ConsoleRole) throws(ConsoleRefusal) -> ConsoleSessions.Session {
        guard let session = secret(request).flatMap({ sessions.session($0) }) else {
            throw ConsoleRefusal(401, "loginNeeded", "log in with a code of 'kymo console login'")
        }
        guard session.role >= role else {
            throw ConsoleRefusal(
                403, "roleNeeded",
                "this needs the role \(role.rawValue), and you have \(session.role.rawValue): log in with a code of "
                    + "'kymo console login --role \(role.rawValue)'")
        }
        return session
    }

    /// The cookie that gives a browser `secret`, or with nil takes it away.
    func setCookie(_ secret: String?) -> ReceivedRequest.Field {
        let seconds = secret == nil ? 0 : Int(ConsoleSessions.sessionTime / .seconds(1))
        let secure = scheme == "https" ? "; Secure" : ""
        return .init(
            name: "Set-Cookie",
            value: "\(cookie)=\(secret ?? ""); Path=/console/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)\(secure)")
    }
}
