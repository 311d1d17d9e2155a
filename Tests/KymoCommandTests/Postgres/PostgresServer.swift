import CommandSupport
import Glibc
import KymographTestKit

/// Debian's PostgreSQL with a database `readings`, on a Unix socket and a port of 127.0.0.1, in a folder of its own.
final class PostgresServer {
    private static let programs = "/usr/lib/postgresql/15/bin"
    /// Whether the server and its client are installed.
    static let isInstalled = Files.exists("\(programs)/initdb") && Files.exists("\(programs)/psql")
    /// What a test says that needs it.
    static let need = "needs the package postgresql-15"

    /// A folder of data that each server begins with a copy of: to make one takes a second.
    private static let template: TemporaryFolder? = {
        let folder = TemporaryFolder()
        do {
            try prepare(folder)
            try asServer(
                "\(programs)/initdb",
                [
                    "-D", folder.file("own/data"), "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
                    "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync",
                ])
            return folder
        } catch {
            return nil
        }
    }()

    let port: UInt16
    private let folder = TemporaryFolder()
    private let settings: [String]
    private var process: ChildProcess?

    /// Starts one with more `settings`; with a certificate, it speaks TLS by it.
    init(_ settings: [String] = [], certificate: (certificate: String, key: String)? = nil) throws {
        port = try FreePort.find()
        guard let template = Self.template else { throw WaitError(description: "initdb has failed") }
        try Self.prepare(folder)
        let own = folder.file("own")
        try Self.asServer("/bin/cp", ["-r", template.file("own/data"), "\(own)/data"])
        if let certificate {
            try Self.install(certificate.certificate, to: "\(own)/data/server.crt")
            try Self.install(certificate.key, to: "\(own)/data/server.key")
        }
        self.settings =
            [
                "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(own)", "max_connections=20",
                "shared_buffers=16MB", "ssl=\(certificate == nil ? "off" : "on")",
            ] + settings
        try start()
        try query("CREATE ROLE kymo LOGIN PASSWORD 'geheim'", of: "postgres")
        try query("CREATE DATABASE readings OWNER kymo", of: "postgres")
    }

    deinit {
        process?.signal(SIGQUIT)
        _ = try? process?.wait()
        // Its files belong to another user, which no test is.
        _ = try? ChildProcess("/bin/rm", ["-rf", folder.file("own")]).finish()
    }

    // MARK: Its process

    /// Starts it again, with what it has kept.
    func start() throws {
        let arguments = ["-D", folder.file("own/data")] + settings.flatMap { ["-c", $0] }
        for attempt in 0... {
            let (program, words) = Self.words("\(Self.programs)/postgres", arguments)
            let process = try ChildProcess(program, words)
            self.process = process
            var hasEnded = false
            try Waiting.until("a database: \(process.errorText)") {
                hasEnded = (try? process.wait(seconds: 0)) != nil
                return hasEnded || (try? query("SELECT 1", of: "postgres")) != nil
            }
            if !hasEnded { return }
            // Processes of one that was killed may not have noticed yet.
            guard attempt < 50 else { throw WaitError(description: process.errorText) }
            usleep(100_000)
        }
    }

    /// Ends it as `pg_ctl stop -m fast` does; it keeps what it has.
    func stop() throws {
        process?.signal(SIGINT)
        _ = try process?.wait()
    }

    /// Ends it without a word, as a crash does.
    func kill() throws {
        process?.signal(SIGKILL)
        _ = try process?.wait()
    }

    /// Lets it take no connections, and do nothing, until ``goOn()``.
    func pause() { process?.signal(SIGSTOP) }

    /// Ends what ``pause()`` has begun.
    func goOn() { process?.signal(SIGCONT) }

    // MARK: Asking it

    /// The URL of the database for `user`, by the socket.
    func url(_ user: String = "kymo") -> String {
        "postgres://\(user)@/readings?host=\(folder.file("own"))&port=\(port)"
    }

    /// The same by TCP, where it asks for the password.
    var networkURL: String { "postgres://kymo@127.0.0.1:\(port)/readings" }

    /// Copies a file of CSV with a head into `table`.
    func copy(_ file: String, into table: String) throws {
        try query("\\copy \(table) FROM '\(file)' CSV HEADER")
    }

    /// What `sql` gives, a line for each row and tabs between columns; null is `∅`.
    @discardableResult
    func query(_ sql: String, of database: String = "readings") throws -> [String] {
        let done = try ChildProcess(
            "\(Self.programs)/psql",
            [
                "-h", folder.file("own"), "-p", "\(port)", "-U", "postgres", "-d", database, "-X", "-q", "-A", "-t",
                "-F", "\t", "-P", "null=∅", "-v", "ON_ERROR_STOP=1", "-c", sql,
            ]
        ).finish()
        guard done.end == .exit(0) else { throw WaitError(description: "psql: \(done.error)") }
        return done.text.split(separator: "\n").map(String.init)
    }

    // MARK: Its user

    /// Makes a folder `own` in `folder` that the server may write to: it refuses to be root.
    private static func prepare(_ folder: TemporaryFolder) throws {
        // Safe: Swift lends the path for the call.
        unsafe chmod(folder.path, 0o711)
        try run("/usr/bin/install", ["-d", "-m", "755"] + owner + [folder.file("own")])
    }

    /// Has the server have a copy of `file`, which nobody else may read.
    private static func install(_ file: String, to path: String) throws {
        try run("/usr/bin/install", ["-m", "600"] + owner + [file, path])
    }

    private static var owner: [String] { isRoot ? ["-o", "postgres", "-g", "postgres"] : [] }
    private static var isRoot: Bool { geteuid() == 0 }

    private static func asServer(_ program: String, _ arguments: [String]) throws {
        let (program, words) = words(program, arguments)
        try run(program, words)
    }

    /// What runs `program` as the server's user; the process is the program's own.
    private static func words(_ program: String, _ arguments: [String]) -> (program: String, words: [String]) {
        guard isRoot else { return (program, arguments) }
        return ("/usr/bin/setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments)
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let done = try ChildProcess(program, arguments).finish()
        guard done.end == .exit(0) else { throw WaitError(description: "\(program): \(done.error)") }
    }
}
