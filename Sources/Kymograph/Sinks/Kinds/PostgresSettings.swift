import KymographCore
import KymographTemplates

/// A PostgreSQL database that gets Observations and their values as rows: `postgres: postgres://kymo@db/readings`.
package struct PostgresSettings: SinkAddress {
    /// The database; nil where none is named.
    var url: PostgresURL?
    /// The schema that has the tables.
    var schema: String? = "kymo"
    /// File of the user's password; like all secrets, one that nobody else can read.
    var passwordFile: String?
    /// Authorities to trust in place of the system's.
    var caFile: String?
    /// File of the certificate that the server is shown.
    var certificateFile: String?
    /// File of that certificate's key; nil when it is in the same file.
    var certificateKeyFile: String?
    /// Whether another machine may be reached without TLS.
    var isInsecure = false
    /// Longest time of an answer, in nanoseconds.
    var timeout: Int64 = 30_000_000_000

    /// No database.
    init() {}

    /// The kind.
    package static let descriptor: SinkDescriptor = {
        var descriptor = SinkDescriptor(
            key: "postgres", place: place, settings: keys, start: PostgresSettings(),
            capabilities: [.mayBeAway, .answers])
        descriptor.schemes = PostgresURL.schemes
        return descriptor
    }()

    private static let place = Setting<PostgresSettings>.single(
        "postgres", "URL", "PostgreSQL database that gets Observations and their values as rows",
        read: { (text, settings) throws(SettingProblem) in
            do throws(PostgresURL.Fault) {
                settings.url = try PostgresURL(text)
            } catch {
                throw SettingProblem(message: error.message, advice: error.advice)
            }
        },
        shown: { $0.url?.text ?? "" })

    private static let keys: [Setting<PostgresSettings>] = [
        .single(
            "schema", "name", "Schema of a database that has kymo's tables",
            read: { (text, settings) throws(SettingProblem) in
                guard PostgresSettings.isSchema(text) else {
                    throw SettingProblem(
                        message: "'\(text)' is no name of a schema",
                        advice: "write up to 63 of a to z, 0 to 9 and '_', with a letter first, and not pg_")
                }
                settings.schema = text
            },
            shown: { $0.schema ?? "" }),
        .text("passwordFile", "file", \.passwordFile, "password of a database's user"),
        .text("caFile", "file", \.caFile, "Authorities to trust in place of the system's, PEM"),
        .text("certificateFile", "file", \.certificateFile, "Client certificate, PEM"),
        .text("certificateKeyFile", "file", \.certificateKeyFile, "Key of the client certificate, PEM"),
        .choice(
            "insecure", \.isInsecure, [("true", true), ("false", false)],
            "Whether a database on another machine may be reached without TLS, or without verification"),
        .duration("timeout", \.timeout, atLeast: 1_000_000, "Longest time of a request"),
    ]

    private static func isSchema(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "_") }
        return isPlain && (1...63).contains(name.utf8.count) && !name.hasPrefix("pg_")
            && !(0x30...0x39).contains(name.utf8.first ?? 0)
    }

    /// The URL.
    package var text: String { url?.text ?? "" }
    /// The kind and the URL without its scheme.
    package var name: String { "postgres \(url?.place ?? "")" }
    /// The schema: which of two versions is the later one is told by the rows of one sink. What another has stored
    /// looks like what was lost by a restore, and is replaced.
    package var claim: String? { url.map { "\(kind.key) \($0.databasePlace) \(schema ?? "")" } }
    package var claimAdvice: String { "give one of them a schema of its own, or make one of them" }

    /// What is wrong with its settings, among themselves and with the rest.
    package func findings(_ circumstances: SinkCircumstances) -> [SinkFinding] {
        var found: [SinkFinding] = []
        let hasTLS = caFile != nil || certificateFile != nil
        if url?.isSocket == true, hasTLS || isInsecure {
            found.append(
                SinkFinding(
                    .error, key: isInsecure ? "insecure" : caFile != nil ? "caFile" : "certificateFile",
                    "it has no effect on a Unix socket", advice: "remove it"))
        }
        if isInsecure, caFile != nil {
            found.append(
                SinkFinding(
                    .error, key: "insecure", "it contradicts caFile, by which the server is verified",
                    advice: "remove one of them"))
        }
        if certificateKeyFile != nil, certificateFile == nil {
            found.append(
                SinkFinding(
                    .error, key: "certificateKeyFile", "it has no effect alone",
                    advice: "name the certificate as certificateFile"))
        }
        if circumstances.keepsNothing {
            found.append(
                SinkFinding(
                    .error, pipelineKey: "ephemeral", "what a database has not taken must wait on the disk",
                    advice: "remove ephemeral, or name a directory with data"))
        }
        return found
    }

    /// How the database is delivered to; nil where none is named.
    private func target(keepsSubjects: Bool = false) -> PostgresTarget? {
        guard let url else { return nil }
        var target = PostgresTarget(url)
        target.schema = schema ?? target.schema
        target.password = passwordFile.map { SecretFile($0) }
        (target.caFile, target.isInsecure) = (caFile, isInsecure)
        (target.certificateFile, target.certificateKeyFile) = (certificateFile, certificateKeyFile)
        target.timeout = max(1, Int(timeout / 1_000_000))
        target.keepsSubjects = keepsSubjects
        return target
    }

    /// A library that is not there, and what is wrong with files.
    package func obstacles(_ opening: SinkOpening) -> [SinkObstacle] {
        if let problem = PostgresLink.loadingProblem {
            return [
                SinkObstacle(
                    "\(opening.name): libpq cannot be loaded: \(problem); install it (on Debian: libpq5)",
                    exitCode: ExitStatus.config)
            ]
        }
        var found: [SinkObstacle] = []
        if let passwordFile {
            do throws(SecretFault) { _ = try SecretFile(passwordFile).line() } catch {
                found.append(obstacle("passwordFile", error.message, opening))
            }
        }
        for (key, file) in [("caFile", caFile), ("certificateFile", certificateFile)] {
            if let file, FileSystem.target(file) == nil { found.append(obstacle(key, "\(file) is not there", opening)) }
        }
        if let file = certificateKeyFile ?? certificateFile {
            do throws(SecretFault) { _ = try SecretFile(file).bytes() } catch {
                found.append(obstacle("certificateKeyFile", error.message, opening))
            }
        }
        return found
    }

    private func obstacle(_ key: String, _ message: String, _ opening: SinkOpening) -> SinkObstacle {
        SinkObstacle(key: key, "\(opening.name): \(key): \(message)", exitCode: ExitStatus.config)
    }

    /// Connects, and looks at the tables and what the user may do with them. Waits for the answers.
    package func answer(_ opening: SinkOpening) -> [SinkObstacle] {
        guard let target = target(), obstacles(opening).isEmpty else { return [] }
        do throws(PostgresFault) {
            let link = try target.connect { opening.isForced() }
            return [SinkObstacle("\(target.url.place) answers: \(try PostgresProbe(target).ask(link))", exitCode: 0)]
        } catch {
            let code =
                switch error.kind {
                case .refused: ExitStatus.noPermission
                case .insecure, .unfit, .data: ExitStatus.config
                case .stopped, .unreachable, .unable, .slow, .collision: ExitStatus.unavailable
                }
            return [SinkObstacle("\(opening.name): \(error.message)", exitCode: code)]
        }
    }

    /// Takes entries from the outbox, once there is one.
    package func open(_ opening: SinkOpening) -> OpenedSink {
        .delivery { [self] (outbox) throws(PipelineError) in
            if let obstacle = obstacles(opening).first {
                throw PipelineError(message: obstacle.message, exitCode: obstacle.exitCode)
            }
            guard let target = target(keepsSubjects: opening.keepsReceipts) else {
                throw PipelineError(message: "\(opening.name): there is no URL", exitCode: ExitStatus.config)
            }
            do throws(SystemError) {
                let delivery = try ServerDelivery(base: target.url.place) { inbox in
                    PostgresEngine(target, queue: outbox, inbox: inbox)
                }
                return OpenedServer(delivery)
            } catch {
                throw PipelineError(error)
            }
        }
    }
}
