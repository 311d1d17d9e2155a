import Glibc

/// How a database is delivered to.
package struct PostgresTarget: Sendable {
    /// The database.
    package var url: PostgresURL
    /// The schema that has the tables.
    package var schema = "kymo"
    /// File of the user's password; nil where there is none, or libpq finds it.
    package var password: SecretFile?
    /// Authorities to trust in place of the system's.
    package var caFile: String?
    /// Certificate that the server is shown, and its key.
    package var certificateFile: String?
    package var certificateKeyFile: String?
    /// Whether another machine may be reached without TLS, or without verification.
    package var isInsecure = false
    /// Longest time of one answer, in milliseconds.
    package var timeout = 30_000
    /// Most entries of one transaction.
    package var entries = 1_000
    /// Whether receipts say what entries are about.
    package var keepsSubjects = false
    /// Bytes of rows that are held in memory, about.
    package var rowBytes = 4 << 20

    /// The defaults for a database.
    package init(_ url: PostgresURL) { self.url = url }

    /// As what takes rows has them.
    var delivery: DeliverySettings {
        // Who patients and devices are is no matter of a database.
        var settings = DeliverySettings(base: url.place, identity: .create)
        settings.rowBytes = rowBytes
        settings.maxEntries = entries
        settings.timeout = timeout
        settings.keepsSubjects = keepsSubjects
        return settings
    }

    /// Longest time to connect, in milliseconds.
    private static let connecting = 10_000
    /// What the server may take longer than it is to before it is thought to be gone, in milliseconds.
    private static let grace = 5_000

    /// Longest time that the server can be told, in milliseconds.
    private static let longest = Int(Int32.max)

    /// Connects, and has the connection do what this needs of one.
    func connect(
        _ isStopped: @escaping @Sendable () -> Bool, isCeasing: @escaping @Sendable () -> Bool = { false }
    ) throws(PostgresFault) -> PostgresLink {
        let patience = PostgresLink.Patience(
            milliseconds: timeout + Self.grace, isStopped: isStopped, isCeasing: isCeasing)
        let link = try PostgresLink(try parameters, connecting: min(timeout, Self.connecting), patience)
        let (each, idle) = (min(timeout, Self.longest), min(2 * (timeout + Self.grace), Self.longest))
        try link.run(
            """
            SET statement_timeout = \(each); SET lock_timeout = \(each); SET client_min_messages = error;
            SET idle_in_transaction_session_timeout = \(idle); SET DateStyle = ISO;
            SET TimeZone = 'UTC'; SET standard_conforming_strings = on
            """)
        // What is settled must be durable, whatever is usual there.
        if try link.run("SHOW synchronous_commit").first?.first == "off" { try link.run("SET synchronous_commit = on") }
        return link
    }

    private var parameters: [(key: String, value: String)] {
        get throws(PostgresFault) {
            var found = [
                ("host", url.host), ("dbname", url.database), ("application_name", "kymo"),
                ("client_encoding", "UTF8"), ("target_session_attrs", "read-write"), ("gssencmode", "disable"),
                ("keepalives_idle", "30"), ("tcp_user_timeout", "\(timeout)"),
            ]
            if let port = url.port { found.append(("port", port)) }
            if let user = url.user { found.append(("user", user)) }
            do throws(SecretFault) {
                if let password { found.append(("password", try password.line().0)) }
            } catch {
                throw PostgresFault(error.isRetriable ? .unreachable : .refused, error.message)
            }
            return found + security
        }
    }

    private var security: [(key: String, value: String)] {
        guard !url.isSocket else { return [] }
        let verifies = caFile != nil || !url.isLocal && !isInsecure
        var found = [("sslmode", verifies ? "verify-full" : "prefer")]
        if verifies, let file = caFile ?? Self.authorities { found.append(("sslrootcert", file)) }
        if let certificateFile {
            found += [("sslcert", certificateFile), ("sslkey", certificateKeyFile ?? certificateFile)]
        }
        return found
    }

    /// The system's authorities: libpq knows them by a word since version 16, and before by their file.
    private static var authorities: String? {
        if PostgresLink.libraryVersion >= 160_000 { return "system" }
        return ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"].first {
            FileSystem.target($0) != nil
        }
    }
}
