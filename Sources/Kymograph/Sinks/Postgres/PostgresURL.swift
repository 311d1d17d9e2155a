import KymographCore

/// Where a database is: `postgres://user@host:port/database`, or with a folder of a Unix socket
/// `postgres:///database?host=/run/postgresql`.
package struct PostgresURL: Hashable, Sendable {
    /// Why a text is no such URL; never with the text, which may hold a password.
    package struct Fault: Error, Hashable, Sendable {
        /// What is wrong.
        package var message: String
        /// What to do.
        package var advice: String
    }

    /// What it may begin with.
    static let schemes = ["postgres://", "postgresql://"]

    /// The URL as it was given.
    package let text: String
    /// Host, or the folder of a socket.
    let host: String
    /// Nil for the usual one.
    private(set) var port: String?
    /// Nil for the name of the user that the process has.
    private(set) var user: String?
    /// The database.
    let database: String

    /// Whether `text` is meant to be one.
    static func isOne(_ text: String) -> Bool { schemes.contains { text.hasPrefix($0) } }

    /// Reads `text`.
    ///
    /// - Throws: ``Fault`` with what is wrong with it, and what to write.
    package init(_ text: String) throws(Fault) {
        guard let scheme = PostgresURL.schemes.first(where: text.hasPrefix) else {
            throw Fault(message: "it is no URL of a database", advice: PostgresURL.example)
        }
        let whole = text.dropFirst(scheme.count)
        let query = whole.firstIndex(of: "?").map { whole[$0...].dropFirst() } ?? ""
        let rest = whole.prefix { $0 != "?" }
        let place = rest.prefix { $0 != "/" }
        let parts = place.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw Fault(message: "it has two '@'", advice: PostgresURL.example) }
        guard parts.count < 2 || !parts[0].contains(":") else { throw PostgresURL.password }
        user = parts.count < 2 ? nil : try PostgresURL.plain(parts[0])
        let address = try PostgresURL.address(parts.last ?? "")
        let further = try PostgresURL.parameters(query)
        guard address.host.isEmpty || further.host == nil else {
            throw Fault(message: "it names two hosts", advice: PostgresURL.example)
        }
        let host = further.host ?? address.host
        guard !host.isEmpty, !host.contains(",") else {
            throw Fault(message: "it names no host, or several", advice: PostgresURL.example)
        }
        let database = try PostgresURL.plain(rest.dropFirst(place.count + 1))
        guard !database.isEmpty else { throw Fault(message: "it names no database", advice: PostgresURL.example) }
        (self.text, self.host, self.database) = (text, host, database)
        port = further.port ?? address.port
        guard port.map({ UInt16($0) ?? 0 > 0 }) ?? true else {
            throw Fault(message: "its port is no number", advice: PostgresURL.example)
        }
    }

    private static let example =
        "write postgres://USER@HOST/DATABASE, or postgres:///DATABASE?host=/run/postgresql for a Unix socket"

    private static let password = Fault(
        message: "it has a password, which others can read there",
        advice: "remove it, write it into a file of mode 0600, and name that as passwordFile")

    private static func address(_ text: Substring) throws(Fault) -> (host: String, port: String?) {
        let isBracketed = text.hasPrefix("[")
        let host = isBracketed ? text.dropFirst().prefix { $0 != "]" } : text.prefix { $0 != ":" }
        let rest = text.dropFirst(host.count + (isBracketed ? 2 : 0))
        guard rest.isEmpty || rest.hasPrefix(":") else { throw Fault(message: "its host is none", advice: example) }
        return (try plain(host), rest.count > 1 ? String(rest.dropFirst()) : nil)
    }

    private static func parameters(_ query: Substring) throws(Fault) -> (host: String?, port: String?) {
        var found: (host: String?, port: String?) = (nil, nil)
        for part in query.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count == 2 ? try plain(pair[1]) : nil
            switch pair[0] {
            case "password": throw PostgresURL.password
            case "host" where found.host == nil && value != nil: found.host = value
            case "port" where found.port == nil && value != nil: found.port = value
            default:
                throw Fault(
                    message: "behind the question mark it has more than host and port",
                    advice: "remove it: what else there is to say has keys of its own, and TLS is verified in any case")
            }
        }
        return found
    }

    private static func plain(_ text: Substring) throws(Fault) -> String {
        let bytes = PercentEscapes.strictlyDecoded(ArraySlice(text.utf8))
        guard let bytes, let plain = String(validating: bytes, as: UTF8.self),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw Fault(message: "it has a percent sign, or bytes, that stand for no text", advice: example) }
        return plain
    }

    /// Whether it is reached by a Unix socket.
    var isSocket: Bool { host.hasPrefix("/") || host.hasPrefix("@") }

    /// Whether what is sent there stays on this machine.
    var isLocal: Bool {
        if isSocket || ["localhost", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Where the database is, whoever the user is: as far as the text tells that.
    var databasePlace: String {
        let isHere = ["localhost", "127.0.0.1", "::1"].contains(host.lowercased())
        let server = isSocket ? host : isHere ? "localhost" : host.lowercased()
        return "\(server):\(port ?? "5432")/\(database)"
    }

    /// The same without its scheme, for names.
    var place: String { String(text.dropFirst(PostgresURL.schemes.first(where: text.hasPrefix)?.count ?? 0)) }
}
